"""Strategy 1: a run of old tool messages becomes one summary.

| what    | rule                                                                                                       |
|---------|------------------------------------------------------------------------------------------------------------|
| gate    | at least last_keep messages, and an answer among them                                                      |
| where   | before the last answer and before the newest last_keep messages                                            |
| run     | neighbouring tool messages, with the reasoning in between; what is fixed or said by a person ends it       |
| pairs   | starts at a call (with the reasoning that led to it), ends where every call of it has its result inside it |
| length  | more than min_consecutive_tool_messages, strictly; messages of tools count, reasoning does not             |
| size    | at least min_compression_token_threshold, else it is passed over: no call, no event, nothing put aside     |
| how     | at most 5 runs a call, the oldest first; what a run does not gain is undone and the next one is tried      |

Reference mode ends a run at any result, so that one of parallel results may be left behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from contextlab.core.auto_context.estimate import tokens_of
from contextlab.core.auto_context.messages import Message, View
from contextlab.core.auto_context.plan import without_plan_tools
from contextlab.core.auto_context.work import Change, Work
from contextlab.core.items import Reason
from contextlab.core.projection import NONE

MOST = 5
"""Runs that one call summarises."""


class ToolRuns:
    """Old calls and results, by a model."""

    change: ClassVar[Change] = Change(
        "tool_runs", "TOOL_INVOCATION_COMPRESS", Reason.STRATEGY_1, answers=True
    )
    needs_model: ClassVar[bool] = True

    def fires(self, work: Work) -> bool:
        """Whether there is a run that is long and large enough."""
        return next(_runs(work), None) is not None

    def run(self, work: Work) -> bool:
        """Summarise the runs."""
        folded = shrunk = 0
        for run in list(_runs(work)):
            place = range(run.start - shrunk, run.stop - shrunk)
            written = work.ask(work.view.messages[place.start : place.stop], self.change)
            if work.fold(place, written, self.change):
                folded += 1
                shrunk += len(place) - 1
            if folded == MOST:
                break
        return folded > 0


def _runs(work: Work) -> Iterator[range]:
    """The runs to be summarised, the oldest first."""
    view, options = work.view, work.options
    answer = view.last(question=False)
    if len(view) < options.last_keep or answer == NONE:
        return
    end = min(answer, len(view) - options.last_keep)
    for stretch in _stretches(view, end):
        for run in _whole(view, stretch) if view.safe else _as_the_original(view, stretch):
            messages = view.messages[run.start : run.stop]
            long_enough = _tools(messages) > options.min_consecutive_tool_messages
            if (
                long_enough
                and tokens_of(messages) >= options.min_compression_token_threshold
                and (not view.safe or without_plan_tools(messages))
            ):
                yield run


def _stretches(view: View, end: int) -> Iterator[range]:
    """Neighbours that may be part of one run."""
    start = 0
    for place in range(end + 1):
        if place < end and _joins(view.messages[place]):
            continue
        if place > start:
            yield range(start, place)
        start = place + 1


def _joins(message: Message) -> bool:
    spoken = message.safe and message.is_question
    return (message.is_tool or message.is_idle) and not message.fixed and not spoken


def _whole(view: View, stretch: range) -> Iterator[range]:
    for run in view.closed(stretch.start, stretch.stop, tools_only=True):
        start = run.start
        while start > stretch.start and view.messages[start - 1].is_idle:
            start -= 1
        yield range(start, run.stop)


def _as_the_original(view: View, stretch: range) -> Iterator[range]:
    start, end = stretch.start, stretch.stop
    while start < end and not view.messages[start].has_calls:
        start += 1
    while end > start and not view.messages[end - 1].has_results:
        end -= 1
    if end > start:
        yield range(start, end)


def _tools(messages: Sequence[Message]) -> int:
    return sum(message.is_tool for message in messages)
