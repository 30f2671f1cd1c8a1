"""What a function says of single words, asked once of each: talk and logs say the same words again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

MOST = 65_536
"""Words that are remembered; then all are forgotten, which costs less than to know the oldest."""
LONGEST = 128
"""Longer words are asked for each time: they seldom come twice."""
Value = TypeVar("Value")


class Memo(dict[str, Value]):
    """`memo[word]` is what the function says of a word; `map(memo.__getitem__, words)` asks for many at once."""

    __slots__ = ("_tell",)

    def __init__(self, tell: Callable[[str], Value]) -> None:
        """Nothing is known yet."""
        super().__init__()
        self._tell = tell

    def __missing__(self, word: str) -> Value:
        """Ask, and remember."""
        said = self._tell(word)
        if len(word) <= LONGEST:
            if len(self) >= MOST:
                self.clear()
            self[word] = said
        return said
