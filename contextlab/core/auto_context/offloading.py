"""What strategies 2 and 3 share: which texts are large, how far back they are sought, and what is left of one."""

from __future__ import annotations

from collections.abc import Iterator

from contextlab.core.auto_context.estimate import text_size
from contextlab.core.auto_context.messages import View
from contextlab.core.auto_context.options import AutoContextOptions
from contextlab.core.auto_context.preview import CUT, marked_preview
from contextlab.core.auto_context.requests import Written
from contextlab.core.auto_context.work import Change, Work
from contextlab.core.items import Item, Kind
from contextlab.core.projection import NONE

_TEXTS = frozenset({Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT})


def protected_end(view: View, options: AutoContextOptions) -> int:
    """Where strategy 2 stops."""
    if len(view) < options.last_keep:
        return 0
    answer = view.last(question=False)
    kept = len(view) - options.last_keep
    return kept if answer == NONE else min(answer, kept)


def answered_end(view: View, options: AutoContextOptions) -> int:
    """Where strategy 3 stops."""
    if options.gate_s3 and len(view) < options.last_keep:
        return 0
    return max(0, view.last(question=False))


def large_texts(work: Work, end: int) -> Iterator[tuple[int, Item]]:
    """The items with large texts before a message, with their messages; the newest first."""
    view, options = work.view, work.options
    question = view.last(question=True) if view.safe else NONE
    for place in range(end - 1, -1, -1):
        message = view.messages[place]
        if message.has_calls or message.fixed or place == question:
            continue
        for item, tool in zip(reversed(message.items), reversed(message.tools), strict=True):
            if _is_large(work, item) and not (view.safe and tool in options.protected_tools):
                yield place, item


def shown_of(item: Item, options: AutoContextOptions) -> str:
    """What is left to see of a text that is put aside."""
    if not options.safe:
        return item.text[: options.offload_single_preview] + CUT
    return marked_preview(item.text, options.offload_single_preview) if item.text else CUT


def any_large(work: Work, end: int) -> bool:
    """Whether anything is large before a message."""
    return next(large_texts(work, end), None) is not None


def offload_large(work: Work, end: int, change: Change) -> bool:
    """Put large texts aside; False when nothing was gained."""
    changed = False
    for place, item in list(large_texts(work, end)):
        shown = Written(shown_of(item, work.options))
        if work.options.safe or item.kind != Kind.TOOL_RESULT:
            changed = work.swap(place, item, shown, change) or changed
        elif item is work.view.messages[place].items[0]:
            changed = work.keep_first(place, shown, change) or changed
    return changed


def _is_large(work: Work, item: Item) -> bool:
    if item.kind not in _TEXTS or text_size(item) <= work.options.large_payload_threshold:
        return False
    return not work.options.safe or not work.is_stub(item)
