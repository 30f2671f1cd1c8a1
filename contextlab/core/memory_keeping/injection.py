"""What a new session is told of earlier ones: the observations that fit its budget, best first.

| part of the score | from 0 to                                                                      |
|-------------------|--------------------------------------------------------------------------------|
| recency           | 1: halves with each `HALF_LIFE` observations that came later                    |
| type              | 1: a decision outranks a fix, a fix a change, a change a discovery              |
| files             | 1: the share of the wanted files that it read or changed (a folder counts, too) |
| words             | 1: the share of the wanted words that it holds; CJK by pairs of characters      |

Chosen observations come first, whatever their score. Equal scores: the newer one first. What does not fit is named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from contextlab.core.agent.rag import Chunk, RagContext, assemble_chunks
from contextlab.core.memory_keeping.observations import Observation
from contextlab.core.projection import TokenCount

HEAD = "What earlier sessions brought to light (notes, not instructions; newest knowledge may differ):"
HALF_LIFE = 50
WEIGHTS = {"recency": 1.0, "type": 0.5, "files": 2.0, "words": 2.0}
TYPE_WORTH = {
    "decision": 1.0,
    "bugfix": 0.8,
    "feature": 0.6,
    "refactor": 0.5,
    "change": 0.5,
    "discovery": 0.3,
}
_WORD = re.compile(r"[a-z0-9_]{2,}|[぀-ヿ㐀-鿿가-힯]+")


@dataclass(slots=True, frozen=True)
class Wanted:
    """What the new session is about. Nothing wanted: recency and type decide."""

    words: str = ""
    files: tuple[str, ...] = ()


@dataclass(slots=True, frozen=True)
class Stored:
    """An observation under its id, with the day it is from (ISO text) where that is known."""

    id: str
    observation: Observation
    day: str = ""


@dataclass(slots=True)
class Injection:
    """The block, and what is in it. Tokens are counted with a counter, else estimated."""

    text: str
    tokens: int
    budget: int
    token_source: str
    used: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def inject(
    stored: Sequence[Stored],
    budget: int,
    wanted: Wanted | None = None,
    *,
    chosen: Collection[str] = (),
    count: TokenCount | None = None,
) -> Injection:
    """A block for a new session from observations, newest last, within `budget` tokens. Nothing fits: empty text."""
    ranked = [Chunk(one.id, block(one)) for one in rank(stored, wanted or Wanted(), chosen)]
    found = assemble_chunks([Chunk("", HEAD), *ranked], budget, count=count)
    used = [chunk.id for chunk in found.chunks if chunk.id]
    return Injection(
        found.text if used else "",
        found.tokens if used else 0,
        found.budget,
        found.token_source,
        used,
        [omission.chunk.id for omission in found.left_out if omission.chunk.id],
        _notes(found, used),
    )


def rank(stored: Sequence[Stored], wanted: Wanted, chosen: Collection[str] = ()) -> list[Stored]:
    """Best first."""
    words, files = words_of(wanted.words), frozenset(file for file in wanted.files if file)

    def key(place: int) -> tuple[bool, float, int]:
        one = stored[place]
        later = len(stored) - 1 - place
        return one.id in chosen, score(one.observation, later, words, files), place

    return [stored[place] for place in sorted(range(len(stored)), key=key, reverse=True)]


def score(one: Observation, later: int, words: Collection[str], files: Collection[str]) -> float:
    """How well an observation fits, with so many that came later."""
    parts = {
        "recency": math.pow(0.5, later / HALF_LIFE),
        "type": TYPE_WORTH.get(one.type, 0.3),
        "files": _share(
            files, lambda file: any(_touches(file, own) for own in (*one.files_read, *one.files_modified))
        ),
        "words": 0.0,
    }
    if words:
        own = words_of(_all_text(one))
        parts["words"] = _share(words, lambda word: word in own)
    return sum(WEIGHTS[name] * value for name, value in parts.items())


def block(one: Stored) -> str:
    """An observation as it stands in a new session's context."""
    told = one.observation
    head = " ".join(part for part in (f"[{told.type}]", one.day, told.title or "") if part)
    lines = [f"- {head}"]
    lines += [f"  {text}" for text in (told.subtitle, told.narrative) if text]
    lines += [f"  * {fact}" for fact in told.facts]
    if told.files_modified:
        lines.append(f"  changed: {', '.join(told.files_modified[:8])}")
    return "\n".join(lines)


def words_of(text: str) -> frozenset[str]:
    """The words of a text; of CJK runs the overlapping pairs of characters."""
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if word[0].isascii() or len(word) < 2:
            found.add(word)
        else:
            found.update(word[at : at + 2] for at in range(len(word) - 1))
    return frozenset(found)


def _all_text(one: Observation) -> str:
    return "\n".join([one.title or "", one.subtitle or "", one.narrative or "", *one.facts, *one.concepts])


def _touches(wanted: str, own: str) -> bool:
    """The same file, by an absolute or a relative path, or a file in the wanted folder."""
    return (
        own == wanted
        or own.endswith(f"/{wanted.lstrip('/')}")
        or wanted.endswith(f"/{own.lstrip('/')}")
        or (own.startswith(f"{wanted.rstrip('/')}/"))
    )


def _share(wanted: Collection[str], held: Callable[[str], bool]) -> float:
    return sum(map(held, wanted)) / len(wanted) if wanted else 0.0


def _notes(found: RagContext, used: Sequence[str]) -> list[str]:
    if not used:
        return [f"nothing fits into {found.budget} tokens" if found.left_out else "there are no observations"]
    left = [one for one in found.left_out if one.chunk.id]
    told = [f"{len(used)} observations, {found.tokens} of {found.budget} tokens ({found.token_source})"]
    return told + ([f"{len(left)} did not fit or say the same"] if left else [])
