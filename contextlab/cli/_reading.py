"""Files and sessions for the commands that need no database: paths to sources, sources to sessions."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from contextlab.core.assembler import Assembler
from contextlab.core.events import FileReport, ItemEvent, SessionStart
from contextlab.core.items import Kind
from contextlab.core.measuring.tokens import TokenCounter
from contextlab.core.timeline import ItemRow
from contextlab.importers import read_file
from contextlab.importers.base import Source
from contextlab.importers.discover import discover

STDIN = "-"
COUNT_AT_ONCE = 1 << 20
"""Characters that are collected before they are counted."""

OnRow = Callable[[str, ItemRow], None]


@dataclass(slots=True)
class Read:
    """One file read to its end: its sessions by key, in the order of their first events."""

    report: FileReport = field(default_factory=FileReport)
    sessions: dict[str, Assembler] = field(default_factory=dict)


def sources(paths: Iterable[str]) -> Iterator[Source]:
    """The files of the paths: themselves, the logs of a folder, standard input for `-`."""
    for path in paths:
        if path == STDIN:
            yield Source(STDIN, data=sys.stdin.buffer.read())
            continue
        problems: list[str] = []
        found = discover([path], problems=problems)
        for problem in problems or ([] if found else [f"{path}: no logs in this folder"]):
            complain(problem)
        yield from found


def shown(source: Source) -> str:
    """What a source is called in answers: its path, `-` for standard input."""
    return STDIN if source.path is None else str(source.path)


def read(source: Source, on_row: OnRow | None = None) -> Read:
    """The whole file, folded into sessions; each item row is given to `on_row`. Raises UnreadableFile."""
    made = Read()
    for key, event in read_file(source, made.report):
        assembler = made.sessions.get(key)
        if assembler is None:
            start = event if isinstance(event, SessionStart) else SessionStart(key)
            assembler = made.sessions[key] = Assembler(start)
        row = assembler.feed(event)
        if row is not None and on_row is not None:
            on_row(key, row)
    return made


class Counting:
    """Counts the tokens of items as they are read, a megabyte of text at a time, into their timelines' columns."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._texts: list[str] = []
        self._places: list[tuple[str, int]] = []
        self._characters = 0
        self.counts: dict[str, dict[int, int]] = {}

    def add(self, key: str, row: ItemRow) -> None:
        """Take the text of an item: what `chars` counts, a call's name and its arguments."""
        words = text_of(row.event)
        self._texts.append(words)
        self._places.append((key, row.position))
        self._characters += len(words)
        if self._characters >= COUNT_AT_ONCE:
            self._count()

    def fill(self, sessions: dict[str, Assembler]) -> None:
        """Put all counts into the timelines of the sessions."""
        self._count()
        for key, counts in self.counts.items():
            for position, tokens in counts.items():
                sessions[key].timeline.tokens[position] = tokens

    def _count(self) -> None:
        for (key, position), tokens in zip(self._places, self._counter.count_many(self._texts), strict=True):
            self.counts.setdefault(key, {})[position] = tokens
        self._texts, self._places, self._characters = [], [], 0


def text_of(event: ItemEvent) -> str:
    """The text whose size an item's size is: a call's name stands before its arguments."""
    return f"{event.tool or ''}{event.text}" if event.kind == Kind.TOOL_CALL else event.text


def token_counter() -> TokenCounter | None:
    """The exact counter where it works on this machine; None (and a word on standard error) where it does not."""
    try:
        from contextlab.adapters.tokens import counter

        found = counter()
        found.count("works")
    except Exception as error:  # whatever a foreign package fails with, an estimate is the answer
        complain(f"tokens are estimated, not counted ({error})")
        return None
    return found


def print_json(value: Any) -> None:
    """One JSON document on a line of standard output."""
    # Flushed, so that a reader that has gone is noticed here and not at the interpreter's exit.
    print(json.dumps(value, ensure_ascii=False), flush=True)


def complain(text: str) -> None:
    """A line for the person, on standard error."""
    print(f"contextlab: {text}", file=sys.stderr)


def table(rows: Iterable[list[str]]) -> list[str]:
    """Rows as lines with aligned columns: the first to the left, all others to the right."""
    cells = list(rows)
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))] if cells else []
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
