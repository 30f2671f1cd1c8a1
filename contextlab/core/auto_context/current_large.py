"""Strategy 5: a large text of the current round becomes a summary in its place.

| what    | rule                                                                                                  |
|---------|-------------------------------------------------------------------------------------------------------|
| where   | behind the last question; without a question nowhere                                                  |
| large   | a text or a result of more than large_payload_threshold characters, strictly                          |
| stays   | what is fixed, reasoning, what was compressed before, protected tools                                 |
| becomes | the model's summary and the tag; calls and the other results of the message are not touched           |
| how     | all of them, the newest first, one call each                                                          |

A message whose arguments alone are large is left alone: they must stay, so nothing could be gained. Reference mode goes
by messages: one without text is large by all its blocks, and gets the summary beside its calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from contextlab.core.auto_context.estimate import message_chars, text_size
from contextlab.core.auto_context.messages import Message
from contextlab.core.auto_context.work import Change, Work
from contextlab.core.items import Item, Kind, Reason
from contextlab.core.projection import NONE

_TEXTS = frozenset({Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT})
_SAID = frozenset({Kind.USER, Kind.ASSISTANT, Kind.SYSTEM, Kind.SUMMARY})


class CurrentLarge:
    """Large texts of the current round, by a model."""

    change: ClassVar[Change] = Change(
        "current_large", "CURRENT_ROUND_LARGE_MESSAGE_SUMMARY", Reason.STRATEGY_5
    )
    needs_model: ClassVar[bool] = True

    def fires(self, work: Work) -> bool:
        """Whether there is a large text."""
        return next(_parts(work), None) is not None

    def run(self, work: Work) -> bool:
        """Summarise large texts in place."""
        return self._by_part(work) if work.options.safe else self._as_the_original(work)

    def _by_part(self, work: Work) -> bool:
        changed = False
        for place, item, tool in list(_parts(work)):
            alone = Message((item,), (tool,))
            written = work.ask([alone], self.change)
            changed = work.swap(place, item, written, self.change) or changed
        return changed

    def _as_the_original(self, work: Work) -> bool:
        changed = False
        for place in _places(work):
            message = work.view.messages[place]
            if message.compressed or not _is_large(message, work.options.large_payload_threshold):
                continue
            written = work.ask([message], self.change)
            if message.has_calls:
                work.add_text(place, written, self.change)
            else:
                work.keep_first(place, written, self.change)
            changed = True
        return changed


def _places(work: Work) -> range:
    """The messages behind the last question, the newest first."""
    view = work.view
    question = view.last(question=True)
    return range(0) if question == NONE else range(len(view) - 1, question, -1)


def _parts(work: Work) -> Iterator[tuple[int, Item, str]]:
    """The large texts, with their messages and tools, the newest first."""
    options = work.options
    for place in _places(work):
        message = work.view.messages[place]
        if message.fixed:
            continue
        for item, tool in zip(reversed(message.items), reversed(message.tools), strict=True):
            large = item.kind in _TEXTS and text_size(item) > options.large_payload_threshold
            if large and not work.is_stub(item) and tool not in options.protected_tools:
                yield place, item, tool


def _is_large(message: Message, threshold: int) -> bool:
    said = sum(text_size(item) for item in message.items if item.kind in _SAID)
    return (said or message_chars(message)) > threshold
