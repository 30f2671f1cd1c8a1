"""What memory work may do here, and the prompts of each project, with a look at one on a real turn."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST

from contextlab.core.memory_keeping.prompts import OBSERVE, SUMMARISE
from contextlab.queries import memories as reads
from contextlab.queries import policies
from contextlab.services import memories as service
from contextlab.services.compaction.models import model_status
from contextlab.services.memories.previews import preview_request
from contextlab.services.memories.settings import SWITCHES, TEXTS, BadSetting
from contextlab.services.memories.users import manager_of
from contextlab.web.opened import LARGEST
from contextlab.web.pages.memories import clean
from contextlab.web.pages.policies import session_in
from contextlab.web.workspace import workspace_of


@require_http_methods(["GET", "POST"])
def settings(request: HttpRequest) -> HttpResponse:
    """The page, and keeping the switches and instructions."""
    refused = ""
    if request.method == "POST":
        values: dict[str, bool | str] = {name: request.POST.get(name) == "1" for name in SWITCHES}
        values |= {name: request.POST.get(name, "") for name in TEXTS}
        try:
            service.change_settings(workspace_of(request), values)
            return redirect("memory-settings")
        except BadSetting as error:
            refused = str(error)
    return _page(request, refused)


@require_POST
def prompts(request: HttpRequest) -> HttpResponse:
    """Keep a project's prompts; an empty one is ours again."""
    project = clean(request.POST.get("project", ""))
    values = {name: request.POST.get(name, "") for name in ("observe", "summarise")}
    # What stands there unchanged is no prompt of one's own.
    kept = {
        name: "" if _same(text, ours) else text
        for (name, text), ours in zip(values.items(), (OBSERVE, SUMMARISE), strict=True)
    }
    try:
        service.change_prompts(workspace_of(request), project, kept)
    except BadSetting as error:
        return _page(request, str(error), values)
    response = redirect("memory-settings")
    response["Location"] += f"?project={project}" if project.isascii() and project.isalnum() else ""
    return response


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """The request about a real turn, as the model would get it; nobody is asked."""
    session = session_in(request, request.POST.get("session", ""))
    if session is None:
        raise Http404("There is no such session.")
    given = request.POST.get("turn", "")
    number = int(given) if given.isascii() and given.isdigit() and int(given[:10]) <= LARGEST else 1
    made = preview_request(session, number, clean(request.POST.get("observe", "")) or None)
    return render(request, "panels/prompt_preview.html", {"made": made, "turn": number, "session": session})


def _page(request: HttpRequest, refused: str, typed: dict[str, str] | None = None) -> HttpResponse:
    workspace = workspace_of(request)
    project = clean(request.GET.get("project", request.POST.get("project", "")))
    found = service.prompts_for(workspace, project)
    values = {
        "nav": "memories",
        "settings": service.settings_of(workspace),
        "status": model_status(),
        "project": project,
        "choices": reads.choices(workspace.pk),
        "observe": (typed or {}).get("observe") or found.observe or OBSERVE,
        "summarise": (typed or {}).get("summarise") or found.summarise or SUMMARISE,
        "own": bool(found.observe or found.summarise),
        "sessions": policies.session_choices(workspace.pk),
        "tools": manager_of(workspace).tools(None).schemas,
        "refused": refused,
    }
    return render(request, "pages/memory_settings.html", values, status=400 if refused else 200)


def _same(text: str, ours: str) -> bool:
    return text.replace("\r\n", "\n").strip() == ours.strip()


urlpatterns = [
    path("memories/settings", settings, name="memory-settings"),
    path("memories/prompts", prompts, name="memory-prompts"),
    path("memories/prompts/preview", preview, name="prompt-preview"),
]
