"""Micro-compaction in memory: old large tool results shrink to a line, without a model.

| rule                                                                                                    |
|---------------------------------------------------------------------------------------------------------|
| only when memory is larger than the target                                                              |
| results older than the newest `keep`, larger than `max_tokens`, that no pin holds and that get smaller  |
| the shorter text: a mark, the call's id, one line of 240 characters; what has the mark is left as it is |

Sizes here are the coding layer's: (characters + 3) / 4, an image as 4,800 characters. Unlike tier 1 of the type-aware
projector this changes memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from contextlab.core.compaction import Snapshot
from contextlab.core.items import Item, Kind
from contextlab.core.projecting.stand_ins import MICRO_PREFIX, previewed

IMAGE_CHARS = 4800


@dataclass(slots=True)
class MicroCompaction:
    """Memory's items with some results shortened."""

    items: tuple[Item, ...]
    compacted: tuple[str, ...]
    """Ids of the results that were shortened."""
    tokens_before: int
    tokens_after: int


def micro_compact(
    items: Sequence[Item], *, keep: int, max_tokens: int, target: int, pinned: Collection[str] = ()
) -> MicroCompaction | None:
    """Shorten old results; None when memory is within the target or there is nothing to shorten."""
    before = sum(map(coding_tokens, items))
    if before <= target:
        return None
    results = [index for index, item in enumerate(items) if item.kind == Kind.TOOL_RESULT]
    old = results[: max(0, len(results) - keep)]
    large = [index for index in old if _is_large(items[index], max_tokens) and items[index].id not in pinned]
    shorter = {index: shortened(items[index]) for index in large}
    chosen = {
        index: one for index, one in shorter.items() if coding_tokens(one) < coding_tokens(items[index])
    }
    if not chosen:
        return None
    after = tuple(chosen.get(index, item) for index, item in enumerate(items))
    ids = tuple(items[index].id for index in chosen)
    return MicroCompaction(after, ids, before, sum(map(coding_tokens, after)))


def shortened(item: Item) -> Item:
    """A result as a mark, its call's id and the beginning of its text."""
    return replace(item, text=previewed(item.call_id, item.text), chars=-1, tokens=None, media=())


def coding_tokens(item: Item) -> int:
    """Size of an item as the coding layer estimates it; 0 for what only the person saw."""
    if item.kind == Kind.UI:
        return 0
    images = sum(media.type == "image" for media in item.media)
    return (item.chars + IMAGE_CHARS * images + 3) // 4


def coding_size(snapshot: Snapshot) -> int:
    """Size of a memory with its summary."""
    return total(snapshot.items) + (len(snapshot.summary or "") + 3) // 4


def total(items: Iterable[Item]) -> int:
    """Size of items."""
    return sum(map(coding_tokens, items))


def _is_large(item: Item, max_tokens: int) -> bool:
    return coding_tokens(item) > max_tokens and not item.pinned and not item.text.startswith(MICRO_PREFIX)
