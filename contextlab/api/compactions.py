"""Compact now: preview, request, state and result, restore, promote; and the memory to go on with."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db import transaction
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab import tasks
from contextlab.api.base import ApiView, number_in, text_in
from contextlab.api.errors import bad_value, not_found
from contextlab.api.live import memory_answer
from contextlab.api.refusals import refusals
from contextlab.api.schema import query
from contextlab.queries.compaction import CompactionPage, branches, compaction_page
from contextlab.queries.lineage import lineage
from contextlab.services import compaction, runs
from contextlab.store.models import Run, Session, View

KEY = "Idempotency-Key"


class CompactionList(ApiView):
    """GET and POST /api/sessions/{id}/compactions/"""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """All compactions of a session with their parents and children, and its branches with their memories."""
        session = self.open_session(uid)
        rows = [asdict(row) for row in lineage(session)]
        return Response({"results": rows, "branches": [asdict(branch) for branch in branches(session)]})

    @extend_schema(
        request=OpenApiTypes.OBJECT,
        responses={200: OpenApiTypes.OBJECT, 202: OpenApiTypes.OBJECT},
        parameters=[query("preview", "1: say what would happen, ask no model and write nothing")],
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Compact the memory; the same request (or the same Idempotency-Key) twice is one run.

        Keys of the body: policy, view, before_step or before_compaction, keep_recent, pins, instructions, confirm.
        `joined` says that the run was there already, `beside` which other ones of the session have not ended: another
        request waits for its turn beside them.
        """
        session = self.open_session(uid)
        with refusals():
            asked = compaction.read_request(request.data, session.workspace_id)
            if text_in(request, "preview") == "1":
                return Response(asdict(compaction.preview(session, asked)))
            with transaction.atomic():
                run, new = compaction.request_compaction(session, asked, request.headers.get(KEY))
                if new:
                    tasks.ring([run])
        others = [one.uid for one in compaction.running(session) if one.pk != run.pk]
        values = page_values(self.page(run.uid))
        return Response({**values, "joined": not new, "beside": others}, status=202)

    def page(self, run: UUID) -> CompactionPage:
        """The compaction of a run."""
        return open_page(self, run)


class CompactionOne(ApiView):
    """GET /api/compactions/{id}/"""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """State and result of a compaction; null is unknown."""
        return Response(page_values(open_page(self, uid)))


class CompactionCancel(ApiView):
    """POST /api/compactions/{id}/cancel/"""

    @extend_schema(request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """Ask it to stop; memory stays as it was."""
        open_page(self, uid)
        runs.cancel(Run.objects.get(workspace=self.workspace, uid=uid))
        return Response(page_values(open_page(self, uid)))


class BranchChange(ApiView):
    """POST /api/sessions/{id}/branches/{name}/restore/ and .../promote/"""

    action = "promote"

    @extend_schema(request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, uid: UUID, name: str) -> Response:
        """Bring an earlier `version` of a branch's (or the live) memory back as a new one, or promote a branch.

        `made` is false where nothing was made: that memory is in force already.
        """
        made = True
        session = self.open_session(uid)
        view = session.views.filter(name=name).first()
        if view is None or not view.keeps_memory:
            raise not_found("branch of this session")
        with refusals():
            if self.action == "promote":
                compaction.promote(view)
            else:
                version = request.data.get("version") if isinstance(request.data, dict) else None
                if isinstance(version, bool) or not isinstance(version, int) or not 0 < version < 2**31:
                    raise bad_value("body: version", "version must be the number of a version.")
                _, made = compaction.restore(view, version)
        branch = next(asdict(one) for one in branches(session) if one.name == name)
        return Response(branch if self.action == "promote" else branch | {"made": made})


class Memory(ApiView):
    """GET /api/sessions/{id}/memory/"""

    @extend_schema(
        responses=OpenApiTypes.OBJECT,
        parameters=[
            query("format", "openai_chat without it", enum=list(compaction.FORMATS)),
            query(
                "view", "a view or a branch; without it the promoted branch, the newest one, else as recorded"
            ),
            query(
                "version",
                "of a branch, or of a live session: this version of its memory; other views have none",
                int,
            ),
            query(
                "wait",
                "of a live session: let a compaction that is under way end first; seconds, 60 at most",
                int,
            ),
            query("peek", "of a live session, 1: look, without counting as the agent's question"),
            query(
                "pin",
                "id of an item of the session that the agent's own compaction shall keep; may be repeated",
            ),
            query("instructions", "what its own compaction shall keep besides"),
        ],
    )
    def get(self, request: Request, uid: UUID) -> Response:
        """The memory for an agent to go on from, valid for the provider; `repairs` says what that took.

        `resume` is the line that takes up the agent's own session, `compact` the one that has it compact by itself and
        keep what is pinned: by the query, else as the compaction was told that made the memory. `offloads` are the
        originals that the memory points to; `reload/` of the session is the tool that fetches them.

        Of a live session (`view=live`) it is the memory of the agent's next step, as its policy shows it, with the
        report; `compacting` is a compaction that has not ended.
        """
        session = self.open_session(uid)
        version = number_in(request, "version", 1)
        if version is None and (live := _asks_live(request, session)) is not None:
            _refuse_wishes(request)
            return memory_answer(request, live)
        with refusals("query"):
            held = compaction.memory_of(session, text_in(request, "view", 80), version)
            made = compaction.export_memory(held, text_in(request, "format", 40) or "openai_chat")
            line = compaction.compact_line(held, *_wishes(request, held))
        answer = {
            "view": held.view.name,
            "version": held.version.version if held.version else None,
            "at_step": held.at_step,
            "format": made.format,
            "document": made.document,
            "repairs": list(made.repairs),
            "resume": compaction.resume_line(session),
            "compact": line,
            "offloads": compaction.offloads_in(held),
        }
        return Response(answer)


def _asks_live(request: Request, session: Session) -> View | None:
    """The live view, where its memory is asked for by name."""
    name = text_in(request, "view", 80)
    return session.views.filter(kind=View.Kind.LIVE, name=name).select_related("session", "live").first()


def _wishes(request: Request, held: compaction.Held) -> tuple[list[str], str]:
    """Pins and instructions of the query, else those of the compaction that made the memory."""
    pins = list(dict.fromkeys(filter(None, request.query_params.getlist("pin"))))
    instructions = text_in(request, "instructions", 2000)
    if not pins and not instructions:
        return compaction.wishes_of(held)
    compaction.refuse_unknown_pins(held.session, pins)
    return pins, instructions


def _refuse_wishes(request: Request) -> None:
    """Memory of the next step of a live agent is compacted here: there is no line to type that would keep them."""
    for name in ("pin", "instructions"):
        if request.query_params.get(name):
            raise bad_value(f"query: {name}", "A live memory is compacted here: ask for that with its pins.")


def open_page(view: ApiView, uid: UUID) -> CompactionPage:
    """A compaction of the workspace; 404 for those of others."""
    found = compaction_page(view.workspace.pk, uid)
    if found is None:
        raise not_found("compaction")
    return found


def page_values(page: CompactionPage) -> dict[str, Any]:
    """A compaction as the API tells it; the raw answer of the model is on its page."""
    values = asdict(page)
    run = values.pop("run")
    values.pop("raw_reply")
    kept = ("state", "doing", "done", "total", "error", "retryable", "cancel_requested", "finished_at")
    return {"id": run["uid"], **{name: run[name] for name in kept}, **values, "error": run["error"] or None}
