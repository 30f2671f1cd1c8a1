"""A look at what a model would be asked about a real turn; nobody is asked and nothing is written."""

from __future__ import annotations

from dataclasses import dataclass

from contextlab.core.items import estimate_tokens
from contextlab.core.memory_keeping.by_rules import observations
from contextlab.core.memory_keeping.observations import Observation
from contextlab.core.memory_keeping.prompts import Prompts
from contextlab.services.memories.settings import prompts_for
from contextlab.services.memories.turns import items_of, turns_to_read
from contextlab.store.models import Session

SHOWN = 60_000
"""Characters of a message that are shown."""


@dataclass(slots=True, frozen=True)
class RequestPreview:
    """The messages as they would be sent, their size, and what the rules make of the same turn."""

    messages: list[tuple[str, str, int]]
    """(role, text shown, characters left out)."""
    tokens: int
    """Estimated."""
    by_rules: list[Observation]


def preview_request(session: Session, number: int, observe: str | None = None) -> RequestPreview | None:
    """The request about a turn, with this prompt or the project's; None where there is no such turn."""
    turn = next((turn for turn in turns_to_read(session, number - 1, page=1) if turn.number == number), None)
    if turn is None:
        return None
    items = items_of(session, turn)
    prompts = Prompts(observe) if observe else prompts_for(session.workspace, session.project)
    made = prompts.turn_messages(items)
    return RequestPreview(
        [(one.role, one.content[:SHOWN], max(0, len(one.content) - SHOWN)) for one in made],
        sum(estimate_tokens(one.content) for one in made),
        observations(items, number),
    )
