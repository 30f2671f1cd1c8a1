"""Files and sessions for the commands that need no database: paths to sources, sources to sessions."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contextlab.core.events import Event, FileReport, SessionStart
from contextlab.core.timeline import Assembler
from contextlab.importers import read_file
from contextlab.importers.base import Source

STDIN = "-"


@dataclass(slots=True)
class Read:
    """One file read to its end: its sessions by key, in the order of their first events."""

    report: FileReport = field(default_factory=FileReport)
    sessions: dict[str, Assembler] = field(default_factory=dict)


def sources(path: str) -> Iterator[Source]:
    """The files of a path: itself, those of a folder in the order of their names, or standard input for `-`."""
    if path == STDIN:
        yield Source(STDIN, data=sys.stdin.buffer.read())
    elif Path(path).is_dir():
        yield from _in_folder(Path(path))
    else:
        yield Source(path, Path(path), relative=Path(path).name)


def _in_folder(folder: Path) -> Iterator[Source]:
    for found in sorted(one for one in folder.rglob("*") if one.is_file() and not one.is_symlink()):
        yield Source(str(found), found, relative=found.relative_to(folder).as_posix())


def events(source: Source, report: FileReport) -> Iterator[tuple[str, Event]]:
    """The events of a source; raises UnreadableFile (UnknownFormat) before the first of them."""
    return read_file(source, report)


def read(source: Source) -> Read:
    """The whole file, folded into sessions; raises UnreadableFile."""
    made = Read()
    for key, event in events(source, made.report):
        assembler = made.sessions.get(key)
        if assembler is None:
            start = event if isinstance(event, SessionStart) else SessionStart(key)
            assembler = made.sessions[key] = Assembler(start)
        assembler.feed(event)
    return made


def print_json(value: Any) -> None:
    """One JSON document on a line of standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def complain(text: str) -> None:
    """A line for the person, on standard error."""
    print(f"contextlab: {text}", file=sys.stderr)


def quiet_pipe() -> int:
    """The reader of our output has gone: end quietly, and let Python's own flush at exit find nothing to do."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


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
