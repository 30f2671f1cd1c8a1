"""Whether a compaction is due, from sizes that are kept up as items come: as long as memory is what the log brought."""

from __future__ import annotations

from contextlab.core.compaction import Decision
from contextlab.core.items import KIND_CODE, Kind
from contextlab.core.measuring.figures import Figures, Judge, judge_of
from contextlab.core.policy import Policy
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.sums import RESULT
from contextlab.core.replaying.tape import Tape
from contextlab.core.timeline import FLAG_INJECTED

USER = KIND_CODE[Kind.USER]


class Gauge:
    """Follows a tape. Gives the decisions of a policy whose memory was never replaced."""

    def __init__(self, sizes: Sizes, judge: Judge) -> None:
        """Of an empty memory."""
        self._sizes = sizes
        self._judge = judge
        self._figures = Figures()
        self._entered = 0

    @classmethod
    def of(cls, sizes: Sizes, policy: Policy) -> Gauge | None:
        """For a policy that decides by figures; None for one that wants to see the memory."""
        judge = judge_of(policy.trigger or policy.compaction)
        return None if judge is None else cls(sizes, judge)

    def decide(self, tape: Tape) -> Decision:
        """The decision before the tape's step; to be asked at every step."""
        if tape.moved:
            self._figures, self._entered = Figures(), 0
        self._enter(tape.alive, self._entered, tape.size)
        self._entered = tape.size
        decision = self._judge(self._figures)
        assert decision is not None
        return decision

    def _enter(self, alive: list[int], start: int, stop: int) -> None:
        timeline, tokens, figures = self._sizes.timeline, self._sizes.tokens, self._figures
        kinds, flags, chars, entries = timeline.kinds, timeline.flags, timeline.chars, timeline.entries
        before = entries[alive[start - 1]] if start else None
        for position in alive[start:stop]:
            figures.tokens += tokens[position]
            if entries[position] != before:
                before = entries[position]
                figures.entries += 1
            if kinds[position] == RESULT:
                figures.result_chars += chars[position]
                figures.largest_result = max(figures.largest_result, chars[position])
            elif kinds[position] == USER and not flags[position] & FLAG_INJECTED:
                figures.turns += 1
