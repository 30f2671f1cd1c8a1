"""How large a memory is, by the measures that triggers and policies go by.

What only the person saw is part of no context: it counts for nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress, islice
from itertools import count as count_from
from operator import ne
from typing import cast

from contextlab.core.compaction import Snapshot
from contextlab.core.items import Item, Kind, estimate_tokens
from contextlab.core.projection import TokenCount, is_prompt, item_tokens, pair_up


def entry_starts(items: Iterable[Item]) -> list[int]:
    """Index of the first item of each entry: neighbours with one entry id are one provider message."""
    names = [item.entry for item in items]
    return [0, *compress(count_from(1), map(ne, names, islice(names, 1, None)))] if names else []


def count_entries(items: Iterable[Item]) -> int:
    """Provider messages: neighbours with one entry id are one."""
    return len(entry_starts(without_ui(items)))


def without_ui(items: Iterable[Item]) -> list[Item]:
    """The items that may be part of a context."""
    ui = Kind.UI
    return [item for item in items if item.kind != ui]


def count_turns(items: Iterable[Item]) -> int:
    """Turns that begin among these items."""
    return sum(map(is_prompt, items))


def text_tokens(text: str, count: TokenCount | None = None) -> int:
    """Tokens of a text: counted, or estimated without a counter."""
    return estimate_tokens(text) if count is None else count(text)


def items_tokens(items: Iterable[Item], count: TokenCount | None = None) -> int:
    """Tokens of items."""
    return _tokens(without_ui(items), count)


def _tokens(items: Sequence[Item], count: TokenCount | None = None) -> int:
    if count is not None:
        return sum([item_tokens(item, count) if item.tokens is None else item.tokens for item in items])
    # `estimate_tokens` written out for ASCII: a call for each of thousands of items takes twice as long.
    return sum(
        [
            known
            if (known := item.tokens) is not None
            else (len(text) + (len(item.tool) if item.tool else 0) + 3) // 4
            if (text := item.text).isascii()
            else estimate_tokens(text, item.tool)
            for item in items
        ]
    )


def snapshot_tokens(snapshot: Snapshot, count: TokenCount | None = None) -> int:
    """Tokens of a memory, its summary included."""
    summary = text_tokens(snapshot.summary, count) if snapshot.summary else 0
    known = snapshot.once("tokens", lambda: _counted(context_items(snapshot)))
    if known is None and count is None:
        known = snapshot.once("estimate", lambda: _tokens(context_items(snapshot)))
    return (_tokens(context_items(snapshot), count) if known is None else known) + summary


def snapshot_chars(snapshot: Snapshot) -> int:
    """Characters of a memory, its summary included."""
    return sum([item.chars for item in snapshot.items]) + len(snapshot.summary or "")


def snapshot_entries(snapshot: Snapshot) -> int:
    """Provider messages of a memory."""
    return len(snapshot_starts(snapshot))


def snapshot_starts(snapshot: Snapshot) -> list[int]:
    """Index of the first item of each entry, among the items that may be part of a context."""
    return snapshot.once("starts", lambda: entry_starts(context_items(snapshot)))


def context_items(snapshot: Snapshot) -> Sequence[Item]:
    """The items of a memory that may be part of a context."""
    return snapshot.once("context", lambda: _context_items(snapshot.items))


def snapshot_pairs(snapshot: Snapshot) -> list[int]:
    """The other one of each call's and result's pair (see `pair_up`)."""
    return snapshot.once("pairs", lambda: pair_up(snapshot.items))


def _context_items(items: Sequence[Item]) -> Sequence[Item]:
    return without_ui(items) if Kind.UI in [item.kind for item in items] else items


def _counted(items: Sequence[Item]) -> int | None:
    """Tokens of items that are all counted; None where some are not."""
    if items and items[-1].tokens is None:  # the newest is counted last: mostly that tells it
        return None
    counts = [item.tokens for item in items]
    return None if None in counts else sum(cast("list[int]", counts))


def result_sizes(items: Sequence[Item]) -> list[int]:
    """Characters of each tool result."""
    return [item.chars for item in items if item.kind == Kind.TOOL_RESULT]
