"""The worksheet of the turn window: units (a turn, or the summary of the old ones) that are shortened and dropped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contextlab.core.budget import Budget
from contextlab.core.items import Item, Kind, Reason, Verdict
from contextlab.core.projecting.draft import COMPOSED, Draft
from contextlab.core.projecting.pair_guard import guard_pairs
from contextlab.core.projection import NONE, Fate, Projection, Source
from contextlab.core.report import Report
from contextlab.core.summarising.compressing import copies, require_valid
from contextlab.core.turns import Turn, count_messages, messages_of, split_turns

SUMMARISED = Fate(Verdict.SUMMARISED, Reason.COMPACTED)


@dataclass(slots=True)
class Unit:
    """A turn with what is left of it."""

    turn: Turn
    left: list[int]


class WindowSheet:
    """One projection in the making; the steps are those of projectors/turn_window.py, in their order."""

    def __init__(self, source: Source, budget: Budget, max_turns: int, keep_recent: int) -> None:
        """Steps 1 to 3."""
        self.draft = Draft.start(source, budget)
        self.safe = budget.safe
        self._items = source.items
        self._made: list[Item] = []
        self._covered: list[int] = []
        head, turns = split_turns(source.items)
        for index, item in enumerate(source.items):
            if item.kind == Kind.UI:
                self.draft.drop(index, Reason.UI_ONLY)
        self._leave_out((index for message in head for index in message), Reason.ORPHAN_PREFIX)
        self._limit_turns(turns, max_turns)
        attached = [Unit(turn, turn.indices()) for turn in turns[-max_turns:]]
        cut = max(0, len(attached) - max(1, keep_recent))
        self.old, self._recent = attached[:cut], attached[cut:]

    def note(self, text: str) -> None:
        """Add a note to the report."""
        self.draft.notes.append(text)

    def fold(self) -> None:
        """Step 4."""
        folded = 0
        for unit in self.old:
            left = unit.turn.folded(self.safe) if unit.turn.has_tools() else unit.left
            if len(left) < len(unit.left):
                self._leave_out(set(unit.left) - set(left), Reason.TOOL_TURN_COMPACTED)
                unit.left = left
                folded += 1
        if folded:
            self.note(f"folded {folded} completed tool turn(s)")

    def compressible(self) -> list[Item]:
        """What a compressor is given: copies."""
        return copies(self._items[index] for unit in self.old for index in unit.left)

    def put_summary(self, made: Sequence[Item], by: str) -> None:
        """Step 5; raises EmptySummary or InvalidProjection."""
        require_valid(made)
        self._made = copies(made)
        self._covered = [index for unit in self.old for index in unit.left]
        self._leave_out(self._covered, Reason.COMPACTED)
        self.note(f"summary of {len(self._covered)} item(s) in {len(messages_of(made))} message(s) by {by}")

    def cap(self, most: int) -> None:
        """Step 6."""
        units = self._recent if self._made else [*self.old, *self._recent]
        sizes = [count_messages(self._items, unit.left) for unit in units]
        summary = len(messages_of(self._made))
        total = sum(sizes) + summary
        if total > most and self._made and units:
            self._give_up_summary()
            total -= summary
        dropped = 0
        while total > most and dropped < len(units) - 1:
            self._leave_out_turn(units[dropped], Reason.MAX_MESSAGES)
            total -= sizes[dropped]
            dropped += 1
        if Reason.MAX_MESSAGES in self.draft.dropped.values():
            self.draft.limits.add(Reason.MAX_MESSAGES)
            self.note(f"maxMessages applied: {most}")
        self._most = most

    def finish(self) -> Projection:
        """Step 7, and the figures."""
        if self.draft.budget.guarded:
            guard_pairs(self.draft)
        one = self.draft.finish()
        if self._made:
            # What a pin holds, or the guard brought back, stands by itself: a compressor's copy would be a second.
            standing = {self._items[index].id for index in one.sources}
            self._made = [item for item in self._made if item.id not in standing]
            self._insert_summary(one)
        one.report.over_budget = len(messages_of(one.items)) > self._most
        one.report.item_limit_applied = bool(self.draft.limits)
        return one

    def _limit_turns(self, turns: Sequence[Turn], most: int) -> None:
        older = turns[:-most]
        for turn in older:
            self._leave_out_turn(Unit(turn, turn.indices()), Reason.MAX_TURNS)
        if older:
            self.draft.limits.add(Reason.MAX_TURNS)
            self.note(f"maxTurns applied: {most}")

    def _leave_out_turn(self, unit: Unit, reason: Reason) -> None:
        question = self._question_of_pins(unit)
        self._leave_out((index for index in unit.left if index not in question), reason)

    def _question_of_pins(self, unit: Unit) -> list[int]:
        """A pin in a turn keeps the turn's question, so that the window still begins with a person's message."""
        if all(self.draft.pins[index] is None for index in unit.left):
            return []
        return [index for index in unit.turn.messages[0] if self._items[index].kind == Kind.USER]

    def _leave_out(self, indices: Iterable[int], reason: Reason) -> None:
        for index in indices:
            if self.draft.pins[index] is None:
                self.draft.drop(index, reason)

    def _give_up_summary(self) -> None:
        """What was paid for takes too much room: its turns are out, and the report says so."""
        for unit in self.old:
            for index in unit.left:
                if self.draft.dropped.pop(index, None) is not None:
                    self.draft.kept[index] = True
            self._leave_out_turn(unit, Reason.MAX_MESSAGES)
        self.note(f"summary left out: {len(self._made)} item(s) made in vain")
        self._made = []

    def _insert_summary(self, one: Projection) -> None:
        """Put the summary where the first item that it covers stood; it has no source item."""
        covered = [index for index in self._covered if self.draft.dropped.get(index) == Reason.COMPACTED]
        for index in covered:
            one.fates[index] = SUMMARISED
        place = sum(index < self._covered[0] for index in one.sources)
        one.items[place:place] = self._made
        one.sources[place:place] = [NONE] * len(self._made)
        self._count_out(one.report, covered)
        self._count_in(one.report)

    def _count_out(self, report: Report, covered: Sequence[int]) -> None:
        """Items that stand only in the summary are neither source nor dropped."""
        gone = set(covered)
        entries = sum(gone.issuperset(run) for run in self.draft.runs)
        report.summarised_items = len(covered)
        report.source_items -= len(covered)
        report.dropped_items -= len(covered)
        report.source_entries -= entries
        report.dropped_entries -= entries
        report.source_chars -= sum(self._items[index].chars for index in covered)
        tokens = sum(self.draft.source.tokens[index] for index in covered)
        report.source_tokens = (report.source_tokens or 0) - tokens

    def _count_in(self, report: Report) -> None:
        """The summary is part of what is projected."""
        sizes = [self.draft.source.placeholder_tokens(item.text) for item in self._made]
        sums = dict(zip(COMPOSED, report.composition, strict=True))
        for item, size in zip(self._made, sizes, strict=True):
            sums[item.kind] += size
        report.composition = tuple(sums.values())
        report.projected_items += len(self._made)
        report.projected_entries += len({item.entry for item in self._made})
        report.projected_chars += sum(item.chars for item in self._made)
        report.projected_tokens = (report.projected_tokens or 0) + sum(sizes)
        if self.draft.source.count is None:
            report.token_source = "estimated"  # noqa: S105  no password
