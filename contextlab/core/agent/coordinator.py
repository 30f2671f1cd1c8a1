"""When to summarise and how, apart from each other, with a state that survives the process.

| step | what `compress(conversation, history)` does                                                             |
|------|---------------------------------------------------------------------------------------------------------|
| 1    | loads the state; none is version 0, covering nothing                                                    |
| 2    | pending = the items behind the covered one; StaleHistory where that is not in the history               |
| 3    | nothing pending, or the trigger (asked about the pending items alone) says no: summary + pending, no save |
| 4    | the compressor gets summary + pending; its answer must be a valid beginning of a prompt                 |
| 5    | the next state is saved if the stored version is still the one loaded; else ConcurrentCompression       |
| 6    | the summary alone                                                                                       |

So no item is summarised twice on top of a stored summary, no update is lost, and the history is never changed. The
history is complete and in order; the current turn and protected ones are not part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from contextlab.core.compaction import Compressor, Decision, Deps, Snapshot, Trigger
from contextlab.core.errors import ConcurrentCompression
from contextlab.core.items import Item
from contextlab.core.measuring.memory_size import count_turns, items_tokens
from contextlab.core.state import CompressionState, StateStore, add_up, check_id, pending_after
from contextlab.core.summarising.compressing import copies, require_valid

Estimate = Callable[[Sequence[Item]], int]
"""Tokens of some items."""


@dataclass(slots=True, frozen=True)
class Compressed:
    """What goes to the model in the history's place, and whether a summary was made for it."""

    messages: list[Item]
    compressed: bool
    state: CompressionState
    """As stored now."""
    pending: tuple[str, ...]
    """Ids of the items that were new: covered by the summary now, or still standing behind it."""
    pending_tokens: int
    decision: Decision | None = None
    """What the trigger said; None when nothing was pending."""


class Coordinator:
    """Brings a store, a trigger, a compressor and a measure of tokens together; None of them may be missing."""

    def __init__(
        self, store: StateStore, trigger: Trigger, compressor: Compressor, estimate: Estimate = items_tokens
    ) -> None:
        """Raises ValueError where one is None."""
        if any(one is None for one in (store, trigger, compressor, estimate)):
            raise ValueError("a coordinator needs a store, a trigger, a compressor and an estimate")
        self._store = store
        self._trigger = trigger
        self._compressor = compressor
        self._estimate = estimate

    def compress(self, conversation_id: str, history: Sequence[Item], deps: Deps | None = None) -> Compressed:
        """The history as the model is to see it.

        Raises ValueError, StaleHistory, EmptySummary, InvalidProjection, ConcurrentCompression, and what trigger and
        compressor raise; the stored state is then as it was.
        """
        check_id(conversation_id)
        if history is None:
            raise ValueError("there is no history to compress")
        deps = deps or Deps()
        state = self._store.load(conversation_id) or CompressionState()
        pending = pending_after(history, state.covered_until)
        tokens = self._measure(pending)
        decision = self._trigger.decide(Snapshot(tuple(pending)), deps) if pending else None
        ids = tuple(item.id for item in pending)
        if decision is None or not decision.due:
            return Compressed(copies([*state.summary, *pending]), False, state, ids, tokens, decision)
        made = self._compressor.compress(copies([*state.summary, *pending]), deps)
        require_valid(made)
        following = _next(state, made, pending, tokens)
        if not self._store.save(conversation_id, following, state.version):
            raise ConcurrentCompression(
                "Another writer summarised this conversation first; its summary stays."
            )
        return Compressed(copies(made), True, following, ids, tokens, decision)

    def _measure(self, pending: Sequence[Item]) -> int:
        tokens = self._estimate(pending)
        if tokens < 0:
            raise ValueError(f"a number of tokens is not negative: {tokens}")
        return tokens


def _next(state: CompressionState, made: list[Item], pending: list[Item], tokens: int) -> CompressionState:
    """The state in which the summary covers what was pending, too."""
    return replace(
        state,
        version=state.version + 1,
        compression_version=state.compression_version + 1,
        covered_until=pending[-1].id,
        summary=tuple(copies(made)),
        covered_tokens=add_up(state.covered_tokens, tokens),
        covered_turns=add_up(state.covered_turns, count_turns(pending)),
    )
