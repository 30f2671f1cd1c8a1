"""Seeded text of several kinds: prose, code-like output, log lines. Not the words of anybody."""

from __future__ import annotations

import math
import random

SYLLABLES = "ka lo mi ren tas vor el un dri sho pa ge nic tor al be cy da ex fu go hi jo ku li mo nu".split()
KEYWORDS = (
    "def return if else for in while import from class assert raise yield with lambda not None True".split()
)
FOLDERS = "src tests docs api core store web tasks models views jobs queue cache auth billing search".split()


class Text:
    """Draws texts from one random source."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(4000)]
        self.weights = [1 / (rank + 3) for rank in range(len(self.words))]
        self.names = ["_".join(rng.choices(self.words, k=rng.randint(1, 3))) for _ in range(900)]
        self.paths = [
            f"{rng.choice(FOLDERS)}/{rng.choice(FOLDERS)}/{rng.choice(self.names)}.py" for _ in range(300)
        ]

    def size(self, median: float, sigma: float, most: int) -> int:
        """A length in characters, log-normal."""
        return max(1, min(most, round(math.exp(self.rng.gauss(math.log(median), sigma)))))

    def prose(self, chars: int) -> str:
        """Sentences."""
        drawn = self.rng.choices(self.words, self.weights, k=max(1, chars // 6))
        for place in range(0, len(drawn), 11):
            drawn[place] = drawn[place].capitalize()
        for place in range(10, len(drawn), 11):
            drawn[place] += self.rng.choice((".", ".", ",", "?"))
        return " ".join(drawn)[:chars]

    def output(self, chars: int) -> str:
        """What a tool prints: code, log lines, listings."""
        lines: list[str] = []
        size = 0
        while size < chars:
            kind = self.rng.random()
            if kind < 0.5:
                words = self.rng.choices(self.names, k=self.rng.randint(1, 4))
                line = f"{' ' * 4 * self.rng.randint(0, 4)}{self.rng.choice(KEYWORDS)} {'.'.join(words)}({words[-1]})"
            elif kind < 0.8:
                line = (
                    f"2026-0{self.rng.randint(1, 9)}-1{self.rng.randint(0, 9)} INFO {self.rng.choice(self.paths)}:"
                    f"{self.rng.randint(1, 900)} {self.prose(40)} took={self.rng.random():.6f}"
                )
            else:
                line = f"{self.rng.getrandbits(64):016x} {self.rng.choice(self.paths)}"
            lines.append(line)
            size += len(line) + 1
        return "\n".join(lines)[:chars]

    def letters(self, chars: int) -> str:
        """Base64-like, in place of signatures."""
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        return "".join(self.rng.choices(alphabet, k=chars))
