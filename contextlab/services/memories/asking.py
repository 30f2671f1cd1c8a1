"""Asking for observations: one run a session and method, and for a model first what it would take."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Sum
from django.db.models.functions import Coalesce

from contextlab.adapters.prices import price_of
from contextlab.core.items import estimate_tokens
from contextlab.core.memory_keeping.prompts import MOST_CHARS, OBSERVE, SUMMARISE
from contextlab.services import runs
from contextlab.services.compaction.models import model_status
from contextlab.services.memories.settings import prompts_for, settings_of
from contextlab.store.items import session_items
from contextlab.store.models import WHOLE_SESSION, ObservationBatch, Run, Session

METHODS = ("rules", "model")
LIKELY_OUTPUT = 500
"""Tokens that an answer mostly has."""
MOST_INPUT = MOST_CHARS // 3
ALLOW_FIRST = "No model may be asked for memories here: allow it in the settings of Memories first."


class BadRequest(Exception):
    """A request that cannot be carried out; `place` names what is wrong, the message is for people."""

    def __init__(self, place: str, message: str) -> None:
        """`place` is the key of the request."""
        super().__init__(message)
        self.place = place


@dataclass(slots=True, frozen=True)
class Estimate:
    """What asking a model about a session would take. All figures are estimates; None = unknown."""

    requests: int
    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    model: str
    allowed: bool
    reason: str
    """Why no model can be asked, for people; empty where one can."""


def estimate(session: Session, summary: bool = True) -> Estimate:
    """What is still to ask about a session's turns, and with `summary` about the whole of it.

    From sums of the stored sizes, in one query: a turn that grew since it was read counts as read until it is.
    """
    prompts = prompts_for(session.workspace, session.project)
    done = ObservationBatch.objects.filter(session=session, method="model")
    known = set(done.exclude(fate=ObservationBatch.Fate.PENDING).values_list("turn", flat=True))
    sizes = _sizes(session)
    head = estimate_tokens(prompts.observe or OBSERVE)
    asked = [head + min(size, MOST_INPUT) for turn, size in sizes.items() if turn not in known]
    if summary and WHOLE_SESSION not in known and sizes:
        asked.append(estimate_tokens(prompts.summarise or SUMMARISE) + min(sum(sizes.values()), MOST_INPUT))
    return _priced(asked, session)


def _sizes(session: Session) -> dict[int, int]:
    """Tokens of each turn, counted where they are, else estimated."""
    rows = session_items(session).filter(turn__gt=0).order_by()
    sized = rows.values_list("turn").annotate(size=Sum(Coalesce("tokens", "estimate")))
    return dict(sized.values_list("turn", "size"))


def _priced(asked: list[int], session: Session) -> Estimate:
    output = len(asked) * LIKELY_OUTPUT
    status = model_status()
    reason = status.reason or ("" if settings_of(session.workspace).allow_model else ALLOW_FIRST)
    priced = price_of(status.model, sum(asked), output)
    return Estimate(
        len(asked), sum(asked), output, priced.cost if priced else None, status.model, not reason, reason
    )


def request_observing(
    session: Session, method: str = "rules", *, summary: bool = True, confirm: bool = False
) -> tuple[Run, bool]:
    """The run, and whether it is new: asked twice it is one. Raises BadRequest.

    A model is asked only where the workspace allows it and `confirm` says that a person has seen tokens and cost.
    """
    if method not in METHODS:
        raise BadRequest("method", f"There is no such method; known: {', '.join(METHODS)}.")
    if not session.turns:
        raise BadRequest("session", "The session has no turns yet.")
    if method == "model":
        status = model_status()
        if not status.allowed:
            raise BadRequest("method", f"{status.reason} By rules it works without a model.")
        if not settings_of(session.workspace).allow_model:
            raise BadRequest("method", ALLOW_FIRST)
        if not confirm:
            raise BadRequest("confirm", "A model would be asked: look at tokens and cost, then confirm.")
    return runs.request(
        session.workspace, Run.Kind.OBSERVE, f"observe:{method}:{session.uid.hex}", target=session.uid.hex,
        params={"session": session.uid.hex, "method": method, "summary": summary}, total=session.turns,
        unit="turns",
    )  # fmt: skip
