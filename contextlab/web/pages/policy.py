"""One policy of the workspace: its text to edit, its versions, a copy of it, deleting it."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from contextlab.core.documents.policy_text import PolicyTextError
from contextlab.queries import policies as reads
from contextlab.services import policies as service
from contextlab.store.models import PolicyDocument
from contextlab.web.pages.policies import editor, typed
from contextlab.web.workspace import workspace_of

MEANWHILE = (
    "Another version was saved while you edited; nothing was written. Your text is below: "
    "saving once more puts it in the place of that version, which stays among the versions."
)


@require_http_methods(["GET", "POST"])
def policy(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The page; a POST saves a new version."""
    found = _found(request, uid)
    if request.method == "GET":
        return _page(request, found, found.text)
    text, version = typed(request), request.POST.get("version", "")
    try:
        service.save(found, text, int(version) if version.isdecimal() and len(version) < 9 else -1)
    except PolicyTextError as error:
        return _page(request, found, text, error, status=400)
    except service.Stale:
        return _page(request, found, text, Exception(MEANWHILE), status=409)
    return redirect("policy", uid=uid)


@require_POST
def duplicate(request: HttpRequest, uid: UUID) -> HttpResponse:
    """A copy, opened."""
    found = _found(request, uid)
    try:
        made = service.duplicate(found)
    except (PolicyTextError, service.TooMany) as error:
        return _page(request, found, found.text, error, status=400)
    return redirect("policy", uid=made.uid)


@require_http_methods(["GET", "POST"])
def delete(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The question (as a page, or in a dialog), and doing it."""
    found = _found(request, uid)
    if request.method == "POST":
        service.delete(found)
        return redirect("policies")
    partial = request.headers.get("HX-Request") == "true"
    template = "panels/delete_policy.html" if partial else "pages/delete_policy.html"
    return render(request, template, {"policy": found, "nav": "policies"})


@require_GET
def version(request: HttpRequest, uid: UUID, number: int) -> HttpResponse:
    """A version as it was saved, with what changed from the one before it and what has changed since."""
    found, workspace = _found(request, uid), workspace_of(request)
    seen = reads.version_of(workspace.pk, uid, number)
    if seen is None:
        raise Http404("There is no such version.")
    before = reads.version_of(workspace.pk, uid, number - 1)
    values = {
        "nav": "policies", "policy": found, "seen": seen, "before": before,
        "changed": reads.difference(before.text, seen.text) if before else None,
        "since": reads.difference(seen.text, found.text) if seen.version != found.version else None,
    }  # fmt: skip
    return render(request, "pages/policy_version.html", values)


def _found(request: HttpRequest, uid: UUID) -> PolicyDocument:
    found = service.find(workspace_of(request), uid)
    if found is None:
        raise Http404("There is no such policy.")
    return found


def _page(
    request: HttpRequest,
    found: PolicyDocument,
    text: str,
    error: Exception | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    found.refresh_from_db()
    page = reads.policy_page(found.workspace_id, found.uid)
    return editor(request, text, error, status=status, policy=found, page=page)


urlpatterns = [
    path("policies/<uuid:uid>", policy, name="policy"),
    path("policies/<uuid:uid>/duplicate", duplicate, name="policy-duplicate"),
    path("policies/<uuid:uid>/delete", delete, name="policy-delete"),
    path("policies/<uuid:uid>/versions/<place:number>", version, name="policy-version"),
]
