"""Strategy 6, the last resort: everything behind the last question becomes one summary.

| what    | rule                                                                                                      |
|---------|-----------------------------------------------------------------------------------------------------------|
| where   | behind the last question; without a question nowhere                                                      |
| open    | a batch of calls that still waits for a result stays whole                                                |
| safe    | no pair is separated; around what is fixed the largest part is taken                                      |
| content | tool messages that are not compressed yet are in it; a finished answer alone is never rewritten            |
| again   | an earlier summary at its beginning is kept word for word, and only what stands behind it is summarised   |
| size    | the model is asked for current_round_compression_ratio of the characters, plan tools left out             |
| unread  | results that nobody answered yet go too, as in the original; `keep_unread_results` keeps them, and a note |
|         | says when one went                                                                                        |

Reference mode leaves out a last message that calls, and takes everything else, its own summaries included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from contextlab.core.auto_context.estimate import message_chars, tokens_of
from contextlab.core.auto_context.messages import Message, unread_from
from contextlab.core.auto_context.plan import without_plan_tools
from contextlab.core.auto_context.tags import body
from contextlab.core.auto_context.work import Change, Work
from contextlab.core.items import Kind, Reason
from contextlab.core.projection import NONE

UNREAD = "an unread result was folded into a summary: {}"


class CurrentRound:
    """The whole current round, by a model."""

    change: ClassVar[Change] = Change("current_round", "CURRENT_ROUND_MESSAGE_COMPRESS", Reason.STRATEGY_6)
    needs_model: ClassVar[bool] = True

    def fires(self, work: Work) -> bool:
        """Whether there is anything that may be summarised."""
        return _range(work) is not None

    def run(self, work: Work) -> bool:
        """Summarise the round."""
        place = _range(work)
        if place is None:
            return False
        messages = work.view.messages[place.start : place.stop]
        earlier = _earlier(messages) if work.options.safe else None
        new = messages if earlier is None else messages[1:]
        written = work.ask(new, self.change, sizes_of(new, work.options.current_round_compression_ratio))
        if earlier is not None:
            written = replace(written, text=f"{earlier}\n{written.text}")
        unread = _unread(work, place)
        if not work.fold(place, written, self.change):
            return False
        if unread:
            work.notes.append(UNREAD.format(", ".join(unread)))
        return True


def sizes_of(messages: Sequence[Message], ratio: float) -> tuple[int, int]:
    """Characters of the messages without plan tools, and how many of them are asked for."""
    chars = sum(map(message_chars, without_plan_tools(messages)))
    return chars, int(chars * ratio + 0.5)


def _range(work: Work) -> range | None:
    """The messages to be summarised, None where there is nothing to be done."""
    view = work.view
    question = view.last(question=True)
    end = len(view)
    if question == NONE:
        return None
    if not view.safe:
        end -= view.messages[-1].has_calls
        return range(question + 1, end) if end > question + 1 else None
    if work.options.keep_unread_results:
        end = _unread_place(work)
    ranges = [part for start, stop in _free(work, question + 1, end) for part in view.closed(start, stop)]
    ranges = [part for part in ranges if _is_worth(view.messages[part.start : part.stop])]
    return max(ranges, key=lambda part: tokens_of(view.messages[part.start : part.stop]), default=None)


def _free(work: Work, start: int, end: int) -> list[tuple[int, int]]:
    """The stretches between what is fixed."""
    fixed = [place for place in range(start, end) if work.view.messages[place].fixed]
    return list(zip([start, *(place + 1 for place in fixed)], [*fixed, end], strict=True))


def _is_worth(messages: Sequence[Message]) -> bool:
    """Whether tools were used in it of which no summary speaks yet."""
    return any(message.is_tool and not message.compressed for message in without_plan_tools(messages))


def _earlier(messages: Sequence[Message]) -> str | None:
    """The earlier summary at the beginning of the round."""
    first = messages[0]
    return body(first.items[0].text) if first.compressed and first.kinds == {Kind.SUMMARY} else None


def _unread_place(work: Work) -> int:
    """The first message with results that nobody has answered."""
    items = work.view.items()
    unread = unread_from(items)
    return next(
        (place for place, message in enumerate(work.view.messages) if _holds(message, items[unread:])),
        len(work.view),
    )


def _unread(work: Work, place: range) -> list[str]:
    """Ids of the unread results in a range."""
    items = work.view.items()
    unread = {item.id for item in items[unread_from(items) :] if item.kind == Kind.TOOL_RESULT}
    messages = work.view.messages[place.start : place.stop]
    return [item.id for message in messages for item in message.items if item.id in unread]


def _holds(message: Message, items: Sequence[object]) -> bool:
    return bool(items) and any(item is items[0] for item in message.items)
