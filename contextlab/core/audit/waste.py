"""What was carried along for nothing: items by tokens times steps, repeats, results nobody came back to.

`token-steps` are an item's tokens times the steps at which it stood in the context in full: what it took of all the
windows together. A repeat carries the same content as an earlier item that stood there still. A result counts as not
used again when none of its own words (paths, names, numbers) comes up in what the model wrote afterwards; that is a
hint, no proof.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from contextlab.core.items import IN_CONTEXT, VERDICTS, Verdict

LARGEST = 50
OWN_WORDS = 40
"""Words of a result that are looked for."""
_WORD = re.compile(r"[A-Za-z_][\w.\-/]{5,80}|\d{4,}")
FULL = frozenset(IN_CONTEXT - {Verdict.CLEARED, Verdict.REASONING_CLEARED})


@dataclass(frozen=True, slots=True)
class Carried:
    """An item with what it took."""

    position: int
    tokens: int
    steps: int
    """Steps at which it stood in the context in full."""

    @property
    def token_steps(self) -> int:
        """Tokens times steps."""
        return self.tokens * self.steps


@dataclass(frozen=True, slots=True)
class Repeat:
    """Items with the same content; all but the first are waste while the first still stands."""

    first: int
    again: tuple[int, ...]
    tokens: int
    """Of one of them."""
    token_steps: int
    """Of the repeats."""


def steps_carried(
    first_steps: Sequence[int], spans: Iterable[tuple[int, int, int, str, int, int | None]], steps: int
) -> array[int]:
    """At how many of the steps 1..steps each item stood in the context in full; kept where no span says otherwise.

    Spans as stored (first_item, last_item, verdict code, reason, first_step, end_step); they never overlap.
    """
    carried = array("q", (max(0, steps + 1 - first) for first in first_steps))
    for first, last, verdict, _, since, end in spans:
        if VERDICTS[verdict] in FULL:
            continue
        stop = steps + 1 if end is None else min(end, steps + 1)
        for position in range(first, min(last, len(carried) - 1) + 1):
            carried[position] -= max(0, stop - max(since, first_steps[position]))
    return carried


def largest(
    tokens: Sequence[int], carried: Sequence[int], only: Iterable[int], most: int = LARGEST
) -> list[Carried]:
    """The items that took most, of the positions `only`."""
    found = (Carried(at, tokens[at], carried[at]) for at in only if carried[at] > 0)
    return nlargest(most, found, key=lambda one: (one.token_steps, -one.position))


def repeats(
    hashes: Mapping[int, bytes], tokens: Sequence[int], carried: Sequence[int], last_step: Sequence[int],
    first_step: Sequence[int], least: int = 50, most: int = LARGEST,
) -> list[Repeat]:  # fmt: skip
    """Items whose content stood in the context already when they entered; `hashes` by position."""
    groups: dict[bytes, list[int]] = {}
    for position in sorted(hashes):
        if tokens[position] >= least:
            groups.setdefault(hashes[position], []).append(position)
    found = []
    for group in groups.values():
        first, again = group[0], list[int]()
        standing = first
        for position in group[1:]:
            if last_step[standing] >= first_step[position]:
                again.append(position)
                standing = max(standing, position, key=lambda at: last_step[at])
            else:
                # Nothing of it was left by then: reading it again was no waste.
                standing = position
        if again:
            sum_of = sum(tokens[at] * carried[at] for at in again)
            found.append(Repeat(first, tuple(again), tokens[first], sum_of))
    return nlargest(most, found, key=lambda one: (one.token_steps, -one.first))


def own_words(text: str, common: frozenset[str] = frozenset()) -> frozenset[str]:
    """Words by which a result would be recognised: the longest ones of its beginning and its end."""
    part = text if len(text) <= 40_000 else text[:20_000] + " " + text[-20_000:]
    found = {word.casefold() for word in _WORD.findall(part)} - common
    return frozenset(nlargest(OWN_WORDS, found, key=lambda word: (len(word), word)))


def last_mentions(outputs: Iterable[tuple[int, str]]) -> dict[str, int]:
    """For each word that the model wrote, the last item in which it did; items as (position, text) in order."""
    found: dict[str, int] = {}
    for position, text in outputs:
        for word in _WORD.findall(text):
            found[word.casefold()] = position
    return found


def used_again(position: int, words: Iterable[str], mentions: Mapping[str, int]) -> bool:
    """Whether any of the words comes up behind the item."""
    return any(mentions.get(word, -1) > position for word in words)
