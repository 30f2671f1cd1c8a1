"""The policies page: all there are, a new one from another, and a look at one on a session before it is kept."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from contextlab.core.documents.policy_schema import schema_text
from contextlab.core.documents.policy_text import PolicyTextError, parse_policy_text
from contextlab.core.errors import UnknownNameError
from contextlab.queries import policies as reads
from contextlab.queries.session import find_session
from contextlab.services import policies as service
from contextlab.services.policy_preview import NoPreview, preview
from contextlab.store.models import Session
from contextlab.web.errors import answer
from contextlab.web.opened import LARGEST
from contextlab.web.workspace import workspace_of


@require_GET
def policies(request: HttpRequest) -> HttpResponse:
    """The list; with `?session=` each can be chosen for that session."""
    workspace = workspace_of(request)
    package = reads.package_policies()
    values = {
        "nav": "policies",
        "own": reads.own_policies(workspace.pk),
        "builtin": [line for line in package if line.origin == "builtin"],
        "presets": [line for line in package if line.origin == "preset"],
        "session": session_in(request, request.GET.get("session", "")),
        "sessions": reads.session_choices(workspace.pk),
        "parts": reads.installed_parts(),
    }
    return render(request, "pages/policies.html", values)


@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """A new policy, begun from one that there is: the editor, and keeping it."""
    workspace = workspace_of(request)
    if request.method == "GET":
        return editor(request, _first_text(request))
    text = typed(request)
    try:
        made = service.create(workspace, text)
    except (PolicyTextError, service.TooMany) as error:
        return editor(request, text, error, status=400)
    return redirect("policy", uid=made.uid)


def _first_text(request: HttpRequest) -> str:
    """What a new policy begins from: a part, or another policy; 404 where there is no such one."""
    workspace, given = workspace_of(request), request.GET
    try:
        for key in ("projector", "compaction"):
            if given.get(key):
                return service.text_with(workspace, key, given[key])
        return service.text_from(workspace, given.get("from") or "token-budget")
    except UnknownNameError as error:
        raise Http404("There is no such policy to begin from.") from error


def editor(
    request: HttpRequest, text: str, error: Exception | None = None, *, status: int = 200, **more: object
) -> HttpResponse:
    """The page with the text to edit; what was typed is never lost."""
    chosen = uuid_in(request.GET.get("session", ""))
    values = {
        "nav": "policies", "text": text, "error": error, "line": getattr(error, "line", None),
        "sessions": reads.session_choices(workspace_of(request).pk, chosen), **more,
    }  # fmt: skip
    return render(request, "pages/policy.html", values, status=status)


@require_POST
def look(request: HttpRequest) -> HttpResponse:
    """The text on a session at a step: what would be kept, cleared and dropped. Nothing is written."""
    session = session_in(request, request.POST.get("session", ""))
    if session is None:
        return answer(request, 400, "Choose a session to look at it with.")
    try:
        seen = preview(session, parse_policy_text(typed(request)), step_in(request))
    except PolicyTextError as error:
        return answer(request, 400, said(error))
    except NoPreview as error:
        return answer(request, 400, str(error))
    return render(
        request, "panels/policy_preview.html", {"seen": seen, "session": session, "nav": "policies"}
    )


@require_POST
def check(request: HttpRequest) -> HttpResponse:
    """Whether the text is a policy, in a line."""
    try:
        policy = parse_policy_text(typed(request))
    except PolicyTextError as error:
        return render(request, "panels/policy_check.html", {"error": error, "line": error.line})
    return render(
        request, "panels/policy_check.html", {"policy": policy, "does": reads.in_words(policy.document)}
    )


@require_GET
def choose(request: HttpRequest) -> HttpResponse:
    """To the session, seen under a policy."""
    session, name = session_in(request, request.GET.get("session", "")), request.GET.get("policy", "")
    if session is None or not reads.is_known(session.workspace_id, name):
        raise Http404("There is no such session, or no such policy.")
    return redirect(f"{reverse('session', args=[session.uid])}?{urlencode({'view': name})}")


@require_GET
def schema(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 - it is the same for everybody
    """The JSON Schema of policy documents, with what is installed here."""
    return HttpResponse(schema_text(), content_type="application/schema+json")


def typed(request: HttpRequest) -> str:
    """The text of the form; browsers end lines with CRLF."""
    return request.POST.get("text", "").replace("\r\n", "\n")


def said(error: PolicyTextError) -> str:
    """A refusal with its line."""
    return f"Line {error.line}: {error}" if error.line else str(error)


def session_in(request: HttpRequest, value: str) -> Session | None:
    """The session of the workspace that a value names; None for none and for nonsense."""
    uid = uuid_in(value)
    return find_session(workspace_of(request).pk, uid) if uid else None


def uuid_in(value: str) -> UUID | None:
    """A uuid, None for anything else."""
    try:
        return UUID(value)
    except ValueError:
        return None


def step_in(request: HttpRequest) -> int | None:
    """The step of the form; None where it is empty or nonsense."""
    value = request.POST.get("step", "").strip()
    return min(int(value), LARGEST) if value.isascii() and value.isdigit() and len(value) < 20 else None


urlpatterns = [
    path("policies", policies, name="policies"),
    path("policies/new", new, name="policy-new"),
    path("policies/preview", look, name="policy-preview"),
    path("policies/check", check, name="policy-check"),
    path("policies/schema.json", schema, name="policy-schema"),
    path("policies/choose", choose, name="policy-choose"),
]
