"""User memories: a user's list, one with its history, edit, take away, undo, make one of many."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from contextlab import tasks
from contextlab.adapters.prices import price_of
from contextlab.core.memory_keeping.user_memories import DEFAULT_USER
from contextlab.queries import user_memories as reads
from contextlab.queries.runs import run_view
from contextlab.services import memories as service
from contextlab.services.compaction.models import model_status
from contextlab.services.memories import users as service_users
from contextlab.store.models import FINISHED, Run, UserMemoryRecord
from contextlab.web.pages.memories import clean
from contextlab.web.workspace import workspace_of


@require_http_methods(["GET", "POST"])
def user_memories(request: HttpRequest) -> HttpResponse:
    """A user's memories, and adding one."""
    user = clean(request.POST.get("user") or request.GET.get("user", "")) or DEFAULT_USER
    if request.method == "GET":
        return _page(request, user)
    try:
        service_users.add(
            workspace_of(request),
            user,
            request.POST.get("memory", ""),
            _topics(request.POST.get("topics", "")),
        )
    except service.BadRequest as error:
        return _page(request, user, str(error))
    return redirect(address(user))


@require_POST
def merge(request: HttpRequest) -> HttpResponse:
    """Make one of the chosen ones, without a model."""
    user = clean(request.POST.get("user", "")) or DEFAULT_USER
    try:
        made = service_users.merge(workspace_of(request), user, request.POST.getlist("memory")[:500])
    except service.BadRequest as error:
        return _page(request, user, str(error))
    return redirect("user-memory", uid=made.id)


@require_POST
def optimise(request: HttpRequest) -> HttpResponse:
    """Make a user's memories into one."""
    user = clean(request.POST.get("user", "")) or DEFAULT_USER
    try:
        with transaction.atomic():
            run, new = service_users.request_optimising(
                workspace_of(request), user, request.POST.get("confirm") == "1"
            )
            if new:
                tasks.ring([run])
    except service.BadRequest as error:
        return _page(request, user, str(error))
    return redirect(address(user))


@require_GET
def user_memory(request: HttpRequest, uid: UUID) -> HttpResponse:
    """One memory with its history."""
    return _one(request, uid)


@require_POST
def change(request: HttpRequest, uid: UUID, what: str) -> HttpResponse:
    """Edit it, take it away, or undo the last thing that happened to it."""
    row = UserMemoryRecord.objects.filter(workspace=workspace_of(request), uid=uid).first()
    if row is None:
        raise Http404("There is no such memory.")
    try:
        if what == "edit":
            service_users.edit(row, request.POST.get("memory", ""), _topics(request.POST.get("topics", "")))
        elif what == "delete":
            service_users.delete(row)
        else:
            service_users.undo(row)
    except service.BadRequest as error:
        return _one(request, uid, str(error))
    return redirect("user-memory", uid=uid)


def address(user: str) -> str:
    """The address of a user's list."""
    return f"{reverse('user-memories')}?{urlencode({'user': user})}"


def _page(request: HttpRequest, user: str, refused: str = "") -> HttpResponse:
    workspace = workspace_of(request)
    runs = Run.objects.filter(workspace=workspace, kind=Run.Kind.REMEMBER, params__user_id=user)
    newest = runs.order_by("-id").first()
    lines = reads.user_memories(workspace.pk, user)
    values = {
        "nav": "memories", "user": user, "users": reads.users(workspace.pk), "lines": lines,
        "run": run_view(workspace.pk, newest.uid) if newest is not None else None,
        "active": newest is not None and newest.state not in FINISHED,
        "allowed": service.settings_of(workspace).allow_model, "status": model_status(),
        **_estimate(lines), "refused": refused,
        "typed": request.POST.get("memory", "") if refused and "topics" in request.POST else "",
    }  # fmt: skip
    return render(request, "pages/user_memories.html", values, status=400 if refused else 200)


def _estimate(lines: list[reads.UserMemoryLine]) -> dict[str, object]:
    """Tokens and cost of making one of these; None where the price is not known."""
    tokens = sum(len(line.memory) for line in lines) // 4 + 120
    priced = price_of(model_status().model, tokens, tokens // 2)
    return {"estimate": tokens, "cost": priced.cost if priced else None}


def _one(request: HttpRequest, uid: UUID, refused: str = "") -> HttpResponse:
    found = reads.user_memory(workspace_of(request).pk, uid)
    if found is None:
        raise Http404("There is no such memory.")
    values = {"nav": "memories", "line": found, "refused": refused, "back": address(found.user)}
    return render(request, "pages/user_memory.html", values, status=400 if refused else 200)


def _topics(text: str) -> list[str]:
    return [clean(one) for one in text.split(",")]


urlpatterns = [
    path("memories/users", user_memories, name="user-memories"),
    path("memories/users/merge", merge, name="merge-memories"),
    path("memories/users/optimise", optimise, name="optimise-memories"),
    path("memories/users/<uuid:uid>", user_memory, name="user-memory"),
    *(
        path(f"memories/users/<uuid:uid>/{what}", change, {"what": what}, name=f"user-memory-{what}")
        for what in ("edit", "delete", "undo")
    ),
]
