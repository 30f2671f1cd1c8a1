"""The running sums of a recorded view: each item's share in the report, changed as its fate changes.

In memory (`source`) are the items that the log has neither dropped nor folded into a summary. Of these everything
is projected, in one form or another: a cleared result counts with its placeholder, reasoning that the provider
strips counts as an item of size 0 (nothing of it is sent, yet the log still holds it).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from contextlab.core.items import KINDS, Verdict
from contextlab.core.projecting.draft import COMPOSED
from contextlab.core.projecting.stand_ins import LOG_CLEARED
from contextlab.core.projection import KEPT, Fate
from contextlab.core.replaying.sizes import REASONING, Sent, Sizes
from contextlab.core.replaying.sums import CALL, RESULT
from contextlab.core.report import Report
from contextlab.core.timeline import UNKNOWN, Timeline

OUT = (Verdict.DROPPED, Verdict.SUMMARISED)


@dataclass(slots=True)
class Ledger:
    """Sums over the items in memory. Every item enters once; its fate then moves by `change`."""

    timeline: Timeline
    sizes: Sizes
    fates: dict[int, Fate] = field(default_factory=dict)
    """Fates other than kept."""
    items: int = 0
    chars: int = 0
    tokens: int = 0
    uncounted: int = 0
    sent_chars: int = 0
    by_kind: list[int] = field(default_factory=lambda: [0] * len(KINDS))
    """Tokens sent, by kind code."""
    sent: Sent = field(default_factory=Sent)
    verdicts: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(Verdict, 0))
    entries: dict[int, int] = field(default_factory=dict)
    """Items in memory of each entry that has any."""
    stub_tokens: int = 0

    def __post_init__(self) -> None:
        """Measure the stub once."""
        self.stub_tokens = self.sizes.of_text(LOG_CLEARED)

    def fate(self, position: int) -> Fate:
        """The fate of an item that has entered."""
        return self.fates.get(position, KEPT)

    def inside(self, position: int) -> bool:
        """Whether an item that has entered is in memory."""
        return self.fate(position).verdict not in OUT

    def enter(self, position: int, fate: Fate = KEPT) -> None:
        """An item enters memory."""
        self._set(position, fate)
        self._book(position, fate, 1)

    def change(self, position: int, fate: Fate) -> None:
        """An item's fate changes."""
        self._book(position, self.fate(position), -1)
        self._set(position, fate)
        self._book(position, fate, 1)

    def report(self) -> Report:
        """The figures as they stand now."""
        estimated = self.uncounted > 0 or (self.verdicts[Verdict.CLEARED] > 0 and self.sizes.count is None)
        return Report(
            source_items=self.items,
            projected_items=self.items,
            cleared_items=self.verdicts[Verdict.CLEARED],
            reasoning_cleared_items=self.verdicts[Verdict.REASONING_CLEARED],
            offloaded_items=self.verdicts[Verdict.OFFLOADED],
            summarised_items=self.verdicts[Verdict.SUMMARISED],
            source_entries=len(self.entries),
            projected_entries=len(self.entries),
            source_chars=self.chars,
            projected_chars=self.sent_chars,
            source_tokens=self.tokens,
            projected_tokens=sum(self.by_kind),
            token_source="estimated" if estimated else "counted",
            composition=tuple(self.by_kind[: len(COMPOSED)]),
        )

    def _set(self, position: int, fate: Fate) -> None:
        if fate == KEPT:
            self.fates.pop(position, None)
        else:
            self.fates[position] = fate

    def _book(self, position: int, fate: Fate, sign: int) -> None:
        """Add (1) or take away (-1) an item's share."""
        self.verdicts[fate.verdict] += sign
        if fate.verdict in OUT:
            return
        timeline = self.timeline
        self.items += sign
        self.chars += sign * timeline.chars[position]
        self.tokens += sign * self.sizes.tokens[position]
        self.uncounted += sign * (timeline.tokens[position] == UNKNOWN)
        self._book_entry(timeline.entries[position], sign)
        self._book_sent(position, fate, sign)

    def _book_entry(self, entry: int, sign: int) -> None:
        left = self.entries.get(entry, 0) + sign
        if left:
            self.entries[entry] = left
        else:
            del self.entries[entry]

    def _book_sent(self, position: int, fate: Fate, sign: int) -> None:
        if fate.verdict == Verdict.REASONING_CLEARED:
            return
        kind = self.timeline.kinds[position]
        cleared = fate.verdict == Verdict.CLEARED
        tokens = self.stub_tokens if cleared else self.sizes.tokens[position]
        self.sent_chars += sign * (len(LOG_CLEARED) if cleared else self.timeline.chars[position])
        self.by_kind[kind] += sign * tokens
        if kind == REASONING:
            self.sent.hidden += sign * self.sizes.hidden[position]
        else:
            self.sent.visible += sign * tokens
            self.sent.blocks += sign
            self.sent.tool_blocks += sign * (kind in (CALL, RESULT))
