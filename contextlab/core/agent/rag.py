"""Retrieved chunks that fit into what is left of the window, and what was left out, and why.

    room = remaining_tokens(window=200_000, used=report.projected_tokens, reserve=16_000)
    found = assemble_chunks(chunks, room, count=count)
    found.text, found.left_out

| rule      |                                                                                                       |
|-----------|-------------------------------------------------------------------------------------------------------|
| order     | chunks are taken as ranked, the best first; in the text they stand in that order too                  |
| cost      | the chunk's text with its label and, behind another, the separator; the sum of costs is never more than |
|           | the budget, the text as a whole may be some tokens smaller                                             |
| too large | left out, and the next ones are still tried; with `stop_at_first` none after it is                    |
| cut       | with `cut_last` the first that does not fit is cut to fill the room, and marked as cut                 |
| again     | a text that is there already is left out                                                              |

It looks at chunks only; history is the projector's. Both go by the same window.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from contextlab.core.measuring.memory_size import text_tokens
from contextlab.core.projection import TokenCount

SEPARATOR = "\n\n"
CUT = " [...]"


class LeftOut(StrEnum):
    """Why a chunk is not in the context."""

    EMPTY = "empty"
    DUPLICATE = "duplicate"
    LOW_SCORE = "low_score"
    MAX_CHUNKS = "max_chunks"
    TOO_LARGE = "too_large"
    BEHIND = "behind_one_too_large"


@dataclass(slots=True, frozen=True)
class Chunk:
    """A retrieved text. `label` (a source, a title) stands in front of it in the context."""

    id: str
    text: str
    score: float | None = None
    label: str = ""


@dataclass(slots=True, frozen=True)
class Omission:
    """A chunk that was left out. `tokens` is what it would have cost, `room` what there was; None = never weighed."""

    chunk: Chunk
    reason: LeftOut
    tokens: int | None = None
    room: int | None = None


@dataclass(slots=True)
class RagContext:
    """The text for the prompt, the chunks in it, and those that are not."""

    text: str = ""
    chunks: list[Chunk] = field(default_factory=list)
    left_out: list[Omission] = field(default_factory=list)
    tokens: int = 0
    """The sum of what the chunks cost."""
    budget: int = 0
    token_source: str = "estimated"  # noqa: S105  no password
    cut: str | None = None
    """Id of the chunk that was cut to fit."""

    @property
    def notes(self) -> list[str]:
        """For people: how many are in, and how many were left out for which reason."""
        reasons = [omission.reason for omission in self.left_out]
        why = ", ".join(f"{reasons.count(reason)} {reason}" for reason in LeftOut if reason in reasons)
        fitted = f"{len(self.chunks)} chunks, {self.tokens} of {self.budget} tokens"
        return [fitted, *([f"left out: {why}"] if why else []), *([f"cut: {self.cut}"] if self.cut else [])]


def remaining_tokens(window: int, used: int, reserve: int = 0) -> int:
    """What a window has left when so much is used and so much is reserved for the answer; never negative."""
    return max(0, window - used - reserve)


def assemble_chunks(
    chunks: Iterable[Chunk],
    budget: int,
    *,
    count: TokenCount | None = None,
    separator: str = SEPARATOR,
    max_chunks: int | None = None,
    min_score: float | None = None,
    stop_at_first: bool = False,
    cut_last: bool = False,
) -> RagContext:
    """Fit ranked chunks into `budget` tokens (counted, or estimated without a counter)."""
    found = RagContext(budget=max(0, budget), token_source="estimated" if count is None else "counted")
    seen: set[str] = set()
    full = False
    for chunk in chunks:
        reason = _unfit(chunk, seen, min_score) or _no_place(found, max_chunks, full)
        if reason is not None:
            found.left_out.append(Omission(chunk, reason))
            continue
        cost = text_tokens(_piece(found, chunk, separator), count)
        if cost <= found.budget - found.tokens:
            _take(found, chunk, separator, cost)
            seen.add(chunk.text.strip())
            continue
        full = full or stop_at_first or cut_last
        if not (cut_last and _cut_in(found, chunk, separator, count)):
            found.left_out.append(Omission(chunk, LeftOut.TOO_LARGE, cost, found.budget - found.tokens))
    return found


def _unfit(chunk: Chunk, seen: set[str], min_score: float | None) -> LeftOut | None:
    if not chunk.text.strip():
        return LeftOut.EMPTY
    if chunk.text.strip() in seen:
        return LeftOut.DUPLICATE
    if min_score is not None and chunk.score is not None and chunk.score < min_score:
        return LeftOut.LOW_SCORE
    return None


def _no_place(found: RagContext, max_chunks: int | None, full: bool) -> LeftOut | None:
    if max_chunks is not None and len(found.chunks) >= max_chunks:
        return LeftOut.MAX_CHUNKS
    return LeftOut.BEHIND if full else None


def _take(found: RagContext, chunk: Chunk, separator: str, cost: int) -> None:
    found.text += _piece(found, chunk, separator)
    found.chunks.append(chunk)
    found.tokens += cost


def _cut_in(found: RagContext, chunk: Chunk, separator: str, count: TokenCount | None) -> bool:
    """Take the longest beginning of a chunk that fits; False where not even a character does."""
    room = found.budget - found.tokens

    def shorter(length: int) -> Chunk:
        return replace(chunk, text=chunk.text[:length] + CUT)

    def cost(length: int) -> int:
        return text_tokens(_piece(found, shorter(length), separator), count)

    low, high = 0, len(chunk.text) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cost(middle) <= room else (low, middle - 1)
    if not low or cost(low) > room:
        return False
    _take(found, shorter(low), separator, cost(low))
    found.cut = chunk.id
    return True


def _piece(found: RagContext, chunk: Chunk, separator: str) -> str:
    """A chunk as it stands in the text, with what separates it from those before it."""
    shown = f"{chunk.label}\n{chunk.text}" if chunk.label else chunk.text
    return f"{separator}{shown}" if found.chunks else shown
