"""What an agent's next step gets: memory in force, projected, repaired and validated, as a live agent in this process
would be given it. Asking compacts nothing."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from contextlab.core.agent.live import Context
from contextlab.core.compaction import Deps
from contextlab.core.errors import ContextLabError
from contextlab.core.memory import AgentMemory
from contextlab.core.policy import parse_policy
from contextlab.core.session import AgentSession
from contextlab.services.compaction.given import count_of
from contextlab.services.compaction.held import Held
from contextlab.services.compaction.requests import BadRequest
from contextlab.services.compaction.versions import FORMATS, export_memory
from contextlab.services.live.auto import under_way
from contextlab.services.live.memory import read_live
from contextlab.services.live.versions import take_memory
from contextlab.store.models import Run, View

WIRES = ("openai_chat", "openai_responses", "anthropic")
LONGEST_WAIT = 60
PAUSE = 0.1


@dataclass(frozen=True, slots=True)
class Given:
    """Memory for a step."""

    held: Held
    format: str
    document: Any
    repairs: list[str]
    context: Context | None
    """With report and verdicts; None for formats that are no provider's."""
    under_way: Run | None
    """A compaction that has not ended: what it makes is the memory of a later step."""


def next_memory(view: View, format: str, *, peek: bool = False, wait: float = 0) -> Given:
    """The memory of the next step; raises BadRequest.

    `peek` looks without counting as the agent's question. `wait` lets a compaction that is under way end first, so
    many seconds at most.
    """
    if format not in FORMATS:
        raise BadRequest("format", f"There is no format {format!r}; known: {', '.join(FORMATS)}.")
    _wait(view, wait)
    held = read_live(view) if peek else take_memory(view)
    if format not in WIRES:
        made = export_memory(held, format)
        return Given(held, format, made.document, list(made.repairs), None, under_way(view))
    context = context_of(view, held, format)
    return Given(held, format, context.document, context.repairs, context, under_way(view))


def context_of(view: View, held: Held, format: str) -> Context:
    """What the policy's projector shows of a memory; raises BadRequest where no provider would take it."""
    try:
        policy = parse_policy(view.policy or {})
        memory = AgentMemory(mode=policy.mode)
        memory.restore(held.snapshot)
        agent = AgentSession(
            policy.projector, memory=memory, deps=Deps(count=count_of(held)), mode=policy.mode
        )
        return agent.next_context(format)
    except ContextLabError as error:
        raise BadRequest("view", f"The memory cannot be shown under its policy: {error}.") from error


def _wait(view: View, seconds: float) -> None:
    """Until no compaction of the view is under way."""
    end = time.monotonic() + min(seconds, LONGEST_WAIT)
    while under_way(view) is not None and time.monotonic() < end:
        time.sleep(PAUSE)
