"""Calls and their results stay together: repairs what a projection broke, and nothing else.

Where only one of a pair stands although the source has both:
- it belongs to the current turn and no assistant text follows the result (it is unread), or a pin holds the one
  that stands: the other comes back (an unread call with the whole message that it is part of, and the reasoning
  before it);
- else the one that stands is left out too.
A reasoning item goes with the item that it precedes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from contextlab.core.items import Kind, Reason
from contextlab.core.projecting.draft import Draft
from contextlab.core.projection import NONE, is_answer, is_prompt, last_index

GUARDED_BY_REASONING = (Kind.ASSISTANT, Kind.TOOL_CALL)
"""Kinds of item that the reasoning before them belongs to."""


class GuardView(Protocol):
    """What the guard needs to know of a memory and of the limits' work on it, by index."""

    size: int

    @property
    def last_prompt(self) -> int:
        """The last real user item, NONE without one."""
        ...

    @property
    def last_answer(self) -> int:
        """The last text of the assistant, NONE without one."""
        ...

    def stands(self, index: int) -> bool:
        """Whether the limits left the item in."""
        ...

    def pinned(self, index: int) -> bool:
        """Whether the item must stay."""
        ...

    def partner(self, index: int) -> int:
        """The other one of a pair as far as the source has it, NONE else."""
        ...

    def message(self, index: int) -> range:
        """The entry that the item is part of."""
        ...

    def kind(self, index: int) -> Kind:
        """The item's kind."""
        ...


class PairGuard:
    """One run of the guard: `split` pairs in, `added` and `dropped` indices out."""

    def __init__(self, view: GuardView) -> None:
        """Start with nothing changed."""
        self.view = view
        self.added: set[int] = set()
        self.dropped: set[int] = set()

    def run(self, split: Iterable[tuple[int, int]], unanswered: Iterable[int], gone: Iterable[int]) -> None:
        """Repair.

        `split` are the (call, result) pairs of which one stands, `unanswered` the calls to leave out, `gone` items
        that do not stand and before which reasoning may.
        """
        broken = set(split)
        queue = sorted(broken)
        while queue:
            for pair in self._complete(*queue.pop()):
                broken.add(pair)
                queue.append(pair)
        led_to = [self.behind_reasoning(index) for index in self.added]
        losers = [loser for call in unanswered if (loser := self._lose(call)) != NONE]
        losers += [self._lose(self._left(*pair)) for pair in broken if self._is_split(*pair)]
        for index in (*losers, *led_to, *gone):
            self._take_reasoning_before(index)

    def stands(self, index: int) -> bool:
        """Whether the item is in, after what the guard did so far."""
        return index in self.added or (self.view.stands(index) and index not in self.dropped)

    def behind_reasoning(self, index: int) -> int:
        """The first item from the index on that is not reasoning: what reasoning there led to. NONE at the end."""
        while index < self.view.size and self.view.kind(index) == Kind.REASONING:
            index += 1
        return index if index < self.view.size else NONE

    def _is_split(self, call: int, result: int) -> bool:
        return self.stands(call) != self.stands(result)

    def _left(self, call: int, result: int) -> int:
        return call if self.stands(call) else result

    def _complete(self, call: int, result: int) -> list[tuple[int, int]]:
        """Bring the missing one back if it must be; returns the pairs that this may have split."""
        if not self._is_split(call, result):
            return []
        unread = call > self.view.last_prompt and result > self.view.last_answer
        if self._left(call, result) == call:
            wanted = [result] if unread or self.view.pinned(call) else []
        elif unread:
            wanted = self._whole_message(call)
        else:
            wanted = [call] if self.view.pinned(result) else []
        new = [index for index in wanted if not self.stands(index)]
        self.added.update(new)
        return [pair for index in new if (pair := self._pair_of(index)) is not None]

    def _pair_of(self, index: int) -> tuple[int, int] | None:
        partner = self.view.partner(index)
        return None if partner == NONE else (min(index, partner), max(index, partner))

    def _whole_message(self, call: int) -> list[int]:
        message = self.view.message(call)
        start = message.start
        while start > 0 and self.view.kind(start - 1) == Kind.REASONING:
            start -= 1
        return list(range(start, message.stop))

    def _lose(self, index: int) -> int:
        """Leave an item out, unless a pin holds it; returns its index, NONE when it stays."""
        if self.view.pinned(index) and index not in self.added:
            return NONE
        if index in self.added:
            self.added.remove(index)
        else:
            self.dropped.add(index)
        return index

    def _take_reasoning_before(self, index: int) -> None:
        if index == NONE or self.stands(index) or self.view.kind(index) not in GUARDED_BY_REASONING:
            return
        index -= 1
        while index >= 0 and self.view.kind(index) == Kind.REASONING:
            if self.stands(index):
                self._lose(index)
            index -= 1


def guard_note(added: int, dropped: int) -> str:
    """The note that the guard did something."""
    return f"pair-guard: re-added {added}, dropped {dropped}"


class _DraftView:
    """A draft as the guard sees it."""

    def __init__(self, draft: Draft) -> None:
        items = draft.source.items
        self.draft = draft
        self.size = len(items)
        self.last_prompt = last_index(items, is_prompt)
        self.last_answer = last_index(items, is_answer)
        self._messages = {index: run for run in draft.runs for index in run}

    def stands(self, index: int) -> bool:
        return self.draft.kept[index]

    def pinned(self, index: int) -> bool:
        return self.draft.pins[index] is not None and self.draft.kept[index]

    def partner(self, index: int) -> int:
        return self.draft.source.pairs[index]

    def message(self, index: int) -> range:
        return self._messages[index]

    def kind(self, index: int) -> Kind:
        return self.draft.source.items[index].kind


def guard_pairs(draft: Draft) -> None:
    """Run the guard over a draft."""
    if not draft.dropped and not draft.budget.drop_unanswered_calls:
        return
    guard = PairGuard(_DraftView(draft))
    guard.run(_split_pairs(draft), _unanswered(draft, guard.view), list(draft.dropped))
    for index in guard.added:
        draft.restore(index)
    for index in guard.dropped:
        draft.drop(index, Reason.PAIR_GUARD)
    if guard.added or guard.dropped:
        draft.notes.append(guard_note(len(guard.added), len(guard.dropped)))


def _split_pairs(draft: Draft) -> list[tuple[int, int]]:
    pairs = draft.source.pairs
    return [
        (call, result)
        for call, result in enumerate(pairs)
        if result > call and draft.kept[call] != draft.kept[result]
    ]


def _unanswered(draft: Draft, view: GuardView) -> list[int]:
    """Calls that stand and have no result, not counting those at the open end of the current turn."""
    if not draft.budget.drop_unanswered_calls:
        return []
    open_end = max(view.last_prompt, view.last_answer)
    return [
        index
        for index, item in enumerate(draft.source.items)
        if item.kind == Kind.TOOL_CALL and item.needs_result and draft.kept[index]
        if draft.source.pairs[index] == NONE and index < open_end
    ]
