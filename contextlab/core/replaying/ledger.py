"""The running sums of a recorded view: each item's share in the report, changed as its fate changes.

In memory (`source`) are the items that the log has neither dropped nor folded into a summary. Of these everything
is projected, in one form or another: a cleared result counts with its placeholder, reasoning that the provider
strips counts as an item of size 0 (nothing of it is sent, yet the log still holds it).

A fate is kept as a number, a byte an item: a session of a million items needs a megabyte and not a dict.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contextlab.core.items import KINDS, Verdict
from contextlab.core.projecting.draft import COMPOSED
from contextlab.core.projecting.stand_ins import LOG_CLEARED
from contextlab.core.projection import KEPT, Fate
from contextlab.core.replaying.sizes import REASONING, Sent, Sizes
from contextlab.core.replaying.sums import CALL, RESULT
from contextlab.core.report import Report
from contextlab.core.timeline import UNKNOWN, Timeline

OUT = (Verdict.DROPPED, Verdict.SUMMARISED)
_STUB_CHARS = len(LOG_CLEARED)


class _Kind(NamedTuple):
    """A fate that occurs, with what follows of it."""

    fate: Fate
    out: bool
    """Not in memory."""
    cleared: bool
    """Sent as a stub."""
    unsent: bool
    """In memory, and nothing of it is sent."""


class Ledger:
    """Sums over the items in memory. Every item enters once; its fate then moves by `change`."""

    def __init__(self, timeline: Timeline, sizes: Sizes) -> None:
        """Nothing has entered yet."""
        self.timeline = timeline
        self.sizes = sizes
        self.sent = Sent()
        self._kinds: list[_Kind] = []
        self._codes: dict[Fate, int] = {}
        self._known(KEPT)
        self._fates = bytearray(len(timeline))
        """Place in `_kinds` by position; 0 = kept, as before it enters."""
        self._holding: list[int] = [0]
        """Items that have entered, by fate."""
        self._entries = array("i", bytes(4 * (1 + max(timeline.entries, default=-1))))
        """Items in memory of each entry."""
        self._entry_count = 0
        self._items = self._chars = self._tokens = self._uncounted = self._sent_chars = 0
        self._by_kind = [0] * len(KINDS)
        """Tokens sent, by kind code."""
        self._stub_tokens = sizes.of_text(LOG_CLEARED)

    def fate(self, position: int) -> Fate:
        """The fate of an item that has entered."""
        return self._kinds[self._fates[position]].fate

    def inside(self, position: int) -> bool:
        """Whether an item that has entered is in memory."""
        return not self._kinds[self._fates[position]].out

    def having(self, verdict: Verdict, before: int) -> Iterator[int]:
        """Positions below `before` of the items with this verdict, which is not `kept`."""
        codes = {code for code, kind in enumerate(self._kinds) if kind.fate.verdict == verdict}
        return (position for position, code in enumerate(self._fates[:before]) if code in codes)

    def enter(self, position: int, fate: Fate = KEPT) -> None:
        """An item enters memory."""
        code = 0
        if fate is not KEPT:
            code = self._fates[position] = self._known(fate)
        self._book(position, code, 1)

    def change(self, positions: Iterable[int], fate: Fate) -> None:
        """The fate of these items changes."""
        code, fates = self._known(fate), self._fates
        for position in positions:
            self._book(position, fates[position], -1)
            fates[position] = code
            self._book(position, code, 1)

    def report(self) -> Report:
        """The figures as they stand now."""
        held = dict.fromkeys(Verdict, 0)
        for kind, count in zip(self._kinds, self._holding, strict=True):
            held[kind.fate.verdict] += count
        estimated = self._uncounted > 0 or (held[Verdict.CLEARED] > 0 and self.sizes.count is None)
        return Report(
            source_items=self._items,
            projected_items=self._items,
            cleared_items=held[Verdict.CLEARED],
            reasoning_cleared_items=held[Verdict.REASONING_CLEARED],
            offloaded_items=held[Verdict.OFFLOADED],
            summarised_items=held[Verdict.SUMMARISED],
            source_entries=self._entry_count,
            projected_entries=self._entry_count,
            source_chars=self._chars,
            projected_chars=self._sent_chars,
            source_tokens=self._tokens,
            projected_tokens=sum(self._by_kind),
            token_source="estimated" if estimated else "counted",
            composition=tuple(self._by_kind[: len(COMPOSED)]),
        )

    def _known(self, fate: Fate) -> int:
        code = self._codes.get(fate)
        if code is None:
            code = self._codes[fate] = len(self._kinds)
            verdict = fate.verdict
            unsent = verdict == Verdict.REASONING_CLEARED
            self._kinds.append(_Kind(fate, verdict in OUT, verdict == Verdict.CLEARED, unsent))
            if code:
                self._holding.append(0)
        return code

    def _book(self, position: int, code: int, sign: int) -> None:
        """Add (1) or take away (-1) an item's share."""
        self._holding[code] += sign
        _, out, cleared, unsent = self._kinds[code]
        if out:
            return
        timeline = self.timeline
        chars, tokens = timeline.chars[position], self.sizes.tokens[position]
        self._items += sign
        self._chars += sign * chars
        self._tokens += sign * tokens
        if timeline.tokens[position] == UNKNOWN:
            self._uncounted += sign
        entry = timeline.entries[position]
        held = self._entries[entry]
        self._entries[entry] = held + sign
        if held == 0 or held + sign == 0:
            self._entry_count += sign
        if unsent:
            return
        if cleared:
            chars, tokens = _STUB_CHARS, self._stub_tokens
        kind, sent = timeline.kinds[position], self.sent
        self._sent_chars += sign * chars
        self._by_kind[kind] += sign * tokens
        if kind == REASONING:
            sent.hidden += sign * self.sizes.hidden[position]
        else:
            sent.visible += sign * tokens
            sent.blocks += sign
            if kind in (CALL, RESULT):
                sent.tool_blocks += sign
