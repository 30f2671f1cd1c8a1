"""A breaker: after so many failures in a row it is open, and what it guards pauses until something succeeds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Breaker:
    """Counts failures in a row. `limit` 0 never opens it."""

    limit: int = 3
    failures: int = 0
    note: str = ""
    """What the last failure was, for people."""

    @property
    def is_open(self) -> bool:
        """Whether it is time to pause."""
        return 0 < self.limit <= self.failures

    def failed(self, note: str = "") -> None:
        """One more failure in a row."""
        self.failures += 1
        self.note = note

    def give_up(self, note: str = "") -> None:
        """Open at once: the next ones would fail in the same way."""
        self.failures = max(self.failures + 1, self.limit)
        self.note = note

    def succeeded(self) -> None:
        """Closed again."""
        self.failures = 0
        self.note = ""
