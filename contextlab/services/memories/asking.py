"""Asking for observations: one run a session and method, and for a model first what it would take."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from contextlab.adapters.prices import price_of
from contextlab.core.items import estimate_tokens
from contextlab.core.memory_keeping.prompts import MOST_CHARS, OBSERVE, SUMMARISE
from contextlab.services import runs
from contextlab.services.compaction.models import model_status
from contextlab.services.memories.settings import prompts_for, settings_of
from contextlab.services.memories.turns import turns_to_read, whole_session
from contextlab.store.models import ObservationBatch, Run, Session

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
    """What is still to ask about a session's turns, and with `summary` about the whole of it."""
    prompts = prompts_for(session.workspace, session.project)
    done = dict(
        ObservationBatch.objects.filter(session=session, method="model")
        .exclude(fate=ObservationBatch.Fate.PENDING)
        .values_list("turn", "digest")
    )
    head = estimate_tokens(prompts.observe or OBSERVE)
    wanted = [turn for turn in turns_to_read(session) if done.get(turn.number) != turn.digest]
    asked = [head + min(turn.raw_tokens, MOST_INPUT) for turn in wanted]
    if summary and done.get(0) != (whole := whole_session(session)).digest:
        asked.append(estimate_tokens(prompts.summarise or SUMMARISE) + min(whole.raw_tokens, MOST_INPUT))
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
