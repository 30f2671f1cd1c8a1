"""Memories: observations with filters, what they cost and save, a block for a new session, a session's, settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db import transaction
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab import tasks
from contextlab.api.base import MOST, PAGE, ApiView, number_in, text_in
from contextlab.api.errors import bad_value
from contextlab.api.paging import link
from contextlab.api.runs import run_values
from contextlab.api.schema import query
from contextlab.core.memory_keeping.injection import Wanted
from contextlab.core.memory_keeping.prompts import OBSERVE, SUMMARISE
from contextlab.queries import memories as reads
from contextlab.queries.memory_costs import Costs, workspace_costs
from contextlab.services import memories as service
from contextlab.services.memories.injecting import DEFAULT_TOKENS, MOST_TOKENS
from contextlab.services.memories.settings import SWITCHES, TEXTS, BadSetting

LONGEST_WORDS = 4_000
MOST_FILES = 50


class ObservationList(ApiView):
    """GET /api/memories/observations/"""

    @extend_schema(
        responses=OpenApiTypes.OBJECT,
        parameters=[
            query("q", "words that must stand in it"),
            query("type", "bugfix, feature, refactor, change, discovery, decision, or another as emitted"),
            query("file", "a path, the end of one, or a folder"),
            query("concept", "a concept"),
            query("project", "a project as sessions name it"),
            query("limit", f"rows of a page, {PAGE} without it", int),
            query("cursor", "from `next` or `previous`"),
        ],
    )
    def get(self, request: Request) -> Response:
        """Observations, newest first."""
        filters = reads.MemoryFilters(
            text_in(request, "q"), text_in(request, "type", 60), text_in(request, "file"),
            text_in(request, "concept"), text_in(request, "project"), "", text_in(request, "cursor", 2000),
        )  # fmt: skip
        page = reads.memory_page(self.workspace.pk, filters, number_in(request, "limit", 1, MOST) or PAGE)
        answer = {
            "results": [line_values(line) for line in page.lines],
            "next": link(request, page.after) if page.after else None,
            "previous": link(request, page.before) if page.before else None,
        }
        return Response(answer)


class MemoryEconomics(ApiView):
    """GET /api/memories/economics/"""

    @extend_schema(
        responses=OpenApiTypes.OBJECT, parameters=[query("project", "a project as sessions name it")]
    )
    def get(self, request: Request) -> Response:
        """What observations took to write, take to read, and save: tokens; null is unknown."""
        return Response(cost_values(workspace_costs(self.workspace.pk, text_in(request, "project"))))


class InjectionView(ApiView):
    """GET /api/memories/injection/"""

    @extend_schema(
        responses=OpenApiTypes.OBJECT,
        parameters=[
            query("project", "only this project's observations"),
            query("budget", f"tokens, {DEFAULT_TOKENS:,} without it", int),
            query("words", "what the new session is about"),
            query("file", "a file that it is about; may be given several times"),
        ],
    )
    def get(self, request: Request) -> Response:
        """A block of text for a new session: the observations that fit best, within the budget."""
        files = tuple(file[:400] for file in request.query_params.getlist("file")[:MOST_FILES])
        wanted = Wanted(text_in(request, "words", LONGEST_WORDS), files)
        budget = number_in(request, "budget", 1, MOST_TOKENS) or DEFAULT_TOKENS
        project = text_in(request, "project") or None
        return Response(asdict(service.inject(self.workspace, project, budget=budget, wanted=wanted)))


class SessionObservations(ApiView):
    """GET and POST /api/sessions/{id}/observations/"""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """A session's observations and summaries, what they cost, and what asking a model would take."""
        session = self.open_session(uid)
        found = reads.session_memories(session, MOST)
        answer = {
            "observations": [line_values(line) for line in found.lines],
            "more": found.more,
            "summaries": [
                {"method": one.method, "made_at": one.made_at, **dict(one.fields)} for one in found.summaries
            ],
            "summary_due": found.summary_due,
            "skipped": found.skipped or None,
            "turns_read": found.turns_read,
            "turns": found.turns,
            "economics": cost_values(found.costs),
            "model_estimate": asdict(service.estimate(session)),
        }
        return Response(answer)

    @extend_schema(request=OpenApiTypes.OBJECT, responses={202: OpenApiTypes.OBJECT})
    def post(self, request: Request, uid: UUID) -> Response:
        """Note what the session brought to light: keys method (rules or model), summary, confirm. 202: the run."""
        session = self.open_session(uid)
        given = request.data if isinstance(request.data, dict) else {}
        flags = {name: given.get(name, default) for name, default in (("summary", True), ("confirm", False))}
        if wrong := [name for name, value in flags.items() if not isinstance(value, bool)]:
            raise bad_value(f"body: {wrong[0]}", f"{wrong[0]} must be true or false.")
        with refusals(), transaction.atomic():
            run, new = service.request_observing(session, str(given.get("method", "rules")), **flags)
            if new:
                tasks.ring([run])
        return Response(run_values(self.workspace, run.uid), status=202)


class MemorySettingsView(ApiView):
    """GET and PUT /api/memories/settings/"""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:  # noqa: ARG002
        """What memory work may do here."""
        found = service.settings_of(self.workspace)
        return Response({name: getattr(found, name) for name in (*SWITCHES, *TEXTS)})

    @extend_schema(request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request) -> Response:
        """Set those that are named."""
        with refusals():
            service.change_settings(self.workspace, object_in(request))
        return self.get(request)


class MemoryPrompts(ApiView):
    """GET and PUT /api/memories/prompts/"""

    @extend_schema(
        responses=OpenApiTypes.OBJECT, parameters=[query("project", "empty: for projects without their own")]
    )
    def get(self, request: Request) -> Response:
        """The prompts in use for a project; own is false where they are ours."""
        found = service.prompts_for(self.workspace, text_in(request, "project"))
        answer = {
            name: {"text": own or ours, "own": own is not None}
            for name, own, ours in (
                ("observe", found.observe, OBSERVE),
                ("summarise", found.summarise, SUMMARISE),
            )
        }
        return Response(answer)

    @extend_schema(request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request) -> Response:
        """Set a project's prompts; an empty text is ours again."""
        with refusals():
            service.change_prompts(self.workspace, text_in(request, "project"), object_in(request))
        return self.get(request)


@contextmanager
def refusals() -> Iterator[None]:
    """What a service refuses, as an answer with its place."""
    try:
        yield
    except (service.BadRequest, BadSetting) as error:
        raise bad_value(f"body: {error.place}", str(error)) from error


def object_in(request: Request) -> dict[str, Any]:
    """The body, which must be an object."""
    if not isinstance(request.data, dict):
        raise bad_value("body", "The body must be a JSON object.")
    return dict(request.data)


def line_values(line: reads.ObservationLine) -> dict[str, Any]:
    """An observation as the API tells it."""
    values = asdict(line)
    return {"id": values.pop("uid"), **values}


def cost_values(costs: Costs) -> dict[str, Any]:
    """The figures; read tokens are estimated, discovery tokens as reported."""
    figures = costs.figures
    return {
        "observations": costs.observations,
        "batches": costs.batches,
        "discovery_tokens": figures.discovery,
        "read_tokens": figures.read,
        "savings_tokens": figures.savings,
        "savings_percent": figures.savings_percent,
        "raw_tokens": figures.raw,
        "raw_source": costs.raw_source,
        "ratio": figures.ratio,
        "unreported_batches": costs.unreported,
        "cost": costs.cost,
        "discarded": dict(costs.discarded),
        "days": [
            {"day": day, "discovery_tokens": paid, "read_tokens": read, "raw_tokens": raw}
            for day, paid, read, raw in costs.days
        ],
    }
