"""One turn, or one session, asked of a model: the request, the call, and what becomes of the answer.

Nothing here decides whether a model may be asked; whoever calls has a person's yes. What the model raises goes on to
the caller: a turn that could not be asked is asked again, it is never taken for one without observations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextlab.core.items import Item
from contextlab.core.language_model import LanguageModel, ModelUsage
from contextlab.core.memory_keeping.batches import Batch, judged
from contextlab.core.memory_keeping.by_rules import evidence_files
from contextlab.core.memory_keeping.prompts import Prompts

METHOD = "model"
MOST_OUTPUT = 4_000
"""Tokens of an answer."""


@dataclass(slots=True)
class Asked:
    """An answer, judged, with what it took."""

    batch: Batch
    text: str
    usage: ModelUsage

    @property
    def cost(self) -> int | None:
        """Tokens that writing took, in and out; None where the provider does not report them."""
        given = (self.usage.input_tokens, self.usage.output_tokens)
        return None if None in given else sum(value or 0 for value in given)


def observe_turn(
    items: Sequence[Item],
    model: LanguageModel,
    prompts: Prompts | None = None,
    *,
    turn: int | None = None,
    timeout: float | None = None,
) -> Asked:
    """Ask for the observations of a turn; raises ModelError."""
    prompts = prompts or Prompts()
    reply = model.complete(prompts.turn_messages(items), max_output_tokens=MOST_OUTPUT, timeout=timeout)
    return Asked(judged(reply.text, evidence_files(items), prompts.types, turn), reply.text, reply.usage)


def summarise_session(
    items: Sequence[Item],
    model: LanguageModel,
    prompts: Prompts | None = None,
    *,
    timeout: float | None = None,
) -> Asked:
    """Ask for a session's summary; raises ModelError."""
    prompts = prompts or Prompts()
    reply = model.complete(prompts.session_messages(items), max_output_tokens=MOST_OUTPUT, timeout=timeout)
    return Asked(judged(reply.text, evidence_files(items), prompts.types), reply.text, reply.usage)
