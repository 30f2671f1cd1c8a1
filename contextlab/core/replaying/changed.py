"""The steps of a live session whose policy was changed while it went: each under the policy that was in force there.

What a projector gives for a step does not depend on the steps before, so each policy replays the session as if it had
always been in force, and its own steps are taken from that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextlab.core.replaying.decisions import DecisionRun
from contextlab.core.replaying.fires import Fire
from contextlab.core.replaying.lived import LiveReplayer
from contextlab.core.replaying.results import StepResult
from contextlab.core.spans import Span, within


class ChangedReplayer:
    """Replays a live session under several policies; asked as a Replayer is."""

    def __init__(self, parts: Sequence[tuple[int, LiveReplayer]]) -> None:
        """A replay of the session for each policy, with the first step under it; in the order of those steps."""
        self._parts = list(parts)
        self._spans: list[Span] = []

    def run(self) -> Iterator[StepResult]:
        """The steps in order; to be used once."""
        ends = [first for first, _ in self._parts[1:]]
        for (first, replayer), end in zip(self._parts, [*ends, None], strict=True):
            if end is not None and end <= first:
                continue
            for result in replayer.run():
                number = result.step.number
                if end is not None and number >= end:
                    break
                if number >= first:
                    yield result
            self._add(within(replayer.spans(), first, end), first)

    @property
    def fires(self) -> list[Fire]:
        """The compactions among the versions, each at the first step that had it."""
        return self._parts[-1][1].fires

    @property
    def decisions(self) -> list[DecisionRun]:
        """None: they were made when the session went, and are stored."""
        return []

    def spans(self) -> list[Span]:
        """The spans of the steps run so far, in the order of their first step and item."""
        return sorted(self._spans, key=lambda span: (span.first_step, span.first_item))

    def _add(self, fresh: list[Span], first: int) -> None:
        """The spans of the next policy; those that go on what ended there are one with it."""
        ended = {_what(span): at for at, span in enumerate(self._spans) if span.end_step == first}
        for span in fresh:
            at = ended.get(_what(span)) if span.first_step == first else None
            if at is None:
                self._spans.append(span)
            else:
                self._spans[at] = self._spans[at]._replace(end_step=span.end_step)


def _what(span: Span) -> tuple[object, ...]:
    return span.first_item, span.last_item, span.verdict, span.reason
