"""The sessions of one file by number. A file may hold thousands of inline subagents, of which few are at work at once:
the others are packed, and go on as they were if another record of theirs comes.
"""

from __future__ import annotations

from contextlab.importers.claude_code.thread import Emit, Thread
from contextlab.importers.packing import Packer

OPEN = 50
"""Inline subagents that may be at work at once; older ones are taken as idle."""


_PACKED = tuple(name for name in Thread.__slots__ if name != "_emit")


class Threads:
    """The threads in the order in which they began; the first is never packed."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._threads: list[Thread | bytes] = []
        self._packer = Packer()

    def __getitem__(self, number: int) -> Thread:
        """The thread of this number."""
        thread = self._threads[number]
        if isinstance(thread, bytes):
            thread = self._threads[number] = self._unpacked(thread)
        return thread

    def add(self, thread: Thread) -> None:
        """A session begins; the thread gets its number."""
        thread.number = len(self._threads)
        self._threads.append(thread)

    def newest(self, key: str) -> Thread | None:
        """The thread of this key, if it is among the last ones that began."""
        for thread in reversed(self._threads[-OPEN:]):
            if isinstance(thread, Thread) and thread.key == key:
                return thread
        return None

    def rest(self) -> None:
        """Take the thread that began OPEN threads ago as idle: its last texts are given out, and it is packed."""
        number = len(self._threads) - 1 - OPEN
        if number > 0:
            thread = self[number]
            thread.flush()
            if not thread.waits:
                self._threads[number] = self._packer.pack([getattr(thread, name) for name in _PACKED])

    def finish(self) -> None:
        """The file ends: what waits is given out. Of packed threads nothing does."""
        for thread in self._threads:
            if isinstance(thread, Thread):
                thread.finish()

    def _unpacked(self, data: bytes) -> Thread:
        thread = Thread("", self._emit)
        for name, value in zip(_PACKED, self._packer.unpack(data), strict=True):
            setattr(thread, name, value)
        return thread
