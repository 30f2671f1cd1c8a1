"""What differs between two contexts of a session: two steps of a view, or one step in two views; in positions.

changes(spans, before, after)        two steps of one view, from the spans that begin or end between them
differences(one, other)              any two contexts, each with the spans in force
texts(old, new)                      two texts, letter by letter
rewritten(left, entered)             which of the items that entered is a new text of one that left
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise

from contextlab.core.items import IN_CONTEXT, Reason, Verdict
from contextlab.core.spans import Painted, Span, verdicts_at

KEPT: Painted = (Verdict.KEPT, None)


@dataclass(slots=True, frozen=True)
class Change:
    """A run of items (positions inclusive) with one fate before and one after; None = not in memory yet."""

    first: int
    last: int
    before: Painted | None
    after: Painted


@dataclass(slots=True)
class Changes:
    """The differences between two steps, each list in order of positions."""

    entered: list[Change] = field(default_factory=list)
    """New to the context: new items, and such as came back."""
    left: list[Change] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    """Another fate, but neither entered nor left."""
    unseen: list[Change] = field(default_factory=list)
    """New items that are left out from the start."""


def in_context(fate: Painted | None) -> bool:
    """Whether an item of this fate stands in the context, itself or a stub of it."""
    return fate is not None and fate[0] in IN_CONTEXT and fate[1] != Reason.PROVIDER_STRIPS


def changes(spans: Iterable[Span], before: tuple[int, int], after: tuple[int, int]) -> Changes:
    """The differences between two steps, each given as (number, upto); `before` must be the earlier one.

    Of the view's spans only those that begin or end in the steps (before, after] matter; more do no harm.
    """
    moved = [span for span in spans if _moves(span, before[0], after[0])]
    edges = {before[1], after[1]}
    for span in moved:
        edges |= {min(span.first_item, after[1]), min(span.last_item + 1, after[1])}
    starts = sorted(edges)
    old = verdicts_at(moved, before[0], starts)
    new = verdicts_at(moved, after[0], starts)
    found = Changes()
    for number, (first, stop) in enumerate(pairwise(starts)):
        fate = None if first >= before[1] else old[number]
        _sort_in(found, Change(first, stop - 1, fate, new[number]))
    return found


def _moves(span: Span, before: int, after: int) -> bool:
    """Whether a span begins or ends between the steps."""
    ends = span.end_step is not None and before < span.end_step <= after
    return ends or before < span.first_step <= after


def _sort_in(found: Changes, change: Change) -> None:
    was, now = in_context(change.before), in_context(change.after)
    if change.before == change.after:
        return
    if change.before is None:
        (found.entered if now else found.unseen).append(change)
    elif was == now:
        found.changed.append(change)
    else:
        (found.entered if now else found.left).append(change)


@dataclass(slots=True, frozen=True)
class Context:
    """One side of a comparison: a step with the spans in force there, and how many items stood before it."""

    step: int
    upto: int
    spans: Sequence[Span]


def differences(one: Context, other: Context) -> Changes:
    """What is otherwise in `other` than in `one`; an item that only one of them has entered or left."""
    edges = {0, one.upto, other.upto}
    for side in (one, other):
        for span in side.spans:
            edges |= {min(span.first_item, side.upto), min(span.last_item + 1, side.upto)}
    starts = sorted(edge for edge in edges if edge < max(one.upto, other.upto))
    old = verdicts_at(one.spans, one.step, starts)
    new = verdicts_at(other.spans, other.step, starts)
    found = Changes()
    for number, (first, stop) in enumerate(pairwise([*starts, max(one.upto, other.upto)])):
        before = old[number] if first < one.upto else None
        if first < other.upto:
            _sort_in(found, Change(first, stop - 1, before, new[number]))
        elif in_context(before):
            found.left.append(Change(first, stop - 1, before, NOT_THERE))
    return found


NOT_THERE: Painted = (Verdict.DROPPED, None)
"""The fate of an item at a step that came before it."""


# Texts

LETTERS = 20_000
"""Texts up to this length are compared letter by letter where they differ, longer ones word by word."""
WORDS = 20_000
"""Words of a text that are compared at most; what is behind them counts as one piece."""
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(slots=True, frozen=True)
class Piece:
    """A stretch of two texts: `same`, `gone` (only in the old one) or `new` (only in the new one)."""

    kind: str
    text: str


def texts(old: str, new: str) -> list[Piece]:
    """The differences of two texts in order, found by words and told by letters; bounded for texts of any length."""
    if old == new:
        return [Piece("same", old)] if old else []
    first = _common(old, new)
    end = min(_common(old[first:][::-1], new[first:][::-1]), len(old) - first, len(new) - first)
    middle = _by_words(old[first : len(old) - end], new[first : len(new) - end])
    pieces = [Piece("same", old[:first]), *middle, Piece("same", old[len(old) - end :] if end else "")]
    return _joined(piece for piece in pieces if piece.text)


def rewritten(
    left: Sequence[tuple[int, str, str]], entered: Sequence[tuple[int, str, str]]
) -> list[tuple[int, int]]:
    """Pairs of (left, entered) items, given as (position, kind, text), of which one is a new text of the other.

    Of the same kind, and alike: more than half of their words in common; each item is in one pair at most.
    """
    pairs, taken = [], set()
    for position, kind, text in left:
        words = set(_PIECES.findall(text[:LETTERS]))
        best, share = None, 0.5
        for other, other_kind, new in entered:
            if other_kind != kind or other in taken or new == text:
                continue
            there = set(_PIECES.findall(new[:LETTERS]))
            alike = len(words & there) / max(1, len(words | there))
            if alike > share:
                best, share = other, alike
        if best is not None:
            taken.add(best)
            pairs.append((position, best))
    return pairs


def _by_words(old: str, new: str) -> list[Piece]:
    one, other = _cut(old), _cut(new)
    pieces: list[Piece] = []
    for tag, a, b, c, d in SequenceMatcher(None, one, other, autojunk=True).get_opcodes():
        gone, came = "".join(one[a:b]), "".join(other[c:d])
        if tag == "equal":
            pieces.append(Piece("same", gone))
        elif gone and came and len(gone) + len(came) <= 400:
            pieces += _by_letters(gone, came)
        else:
            pieces += [Piece("gone", gone), Piece("new", came)]
    return pieces


def _by_letters(gone: str, came: str) -> list[Piece]:
    matcher = SequenceMatcher(None, gone, came, autojunk=False)
    if matcher.ratio() < 0.5:
        return [Piece("gone", gone), Piece("new", came)]
    pieces = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", gone[a:b]))
        else:
            pieces += [Piece("gone", gone[a:b]), Piece("new", came[c:d])]
    return pieces


def _cut(text: str) -> list[str]:
    """A text in pieces that are compared: words, or lines of a long one; of too many the rest is one piece."""
    found = _PIECES.findall(text) if len(text) <= LETTERS else text.splitlines(keepends=True)
    return found if len(found) <= WORDS else [*found[:WORDS], "".join(found[WORDS:])]


def _common(one: str, other: str) -> int:
    """Length of the beginning that two texts share."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    found: list[Piece] = []
    for piece in pieces:
        if found and found[-1].kind == piece.kind:
            found[-1] = Piece(piece.kind, found[-1].text + piece.text)
        else:
            found.append(piece)
    return found
