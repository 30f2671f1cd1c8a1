"""`contextlab import`: read logs into the database, in this process, without a worker.

The runs are the same as a worker's: a file that somebody else is importing right now is waited for, not read twice,
and an import that is broken off goes on where it was the next time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlab.importers.base import Source
    from contextlab.services.work import Counting
    from contextlab.store.models import LogFile, Run, Workspace

NAME = "import"
HELP = "read logs into the database: files, folders, or whole trees such as ~/.claude"
NEEDS_DJANGO = True

_BAR = 30
_POLL = 0.5
_PROBLEMS = 10
_SUPPORTED = " Supported: "
"""From here on the message of an unknown format says what is known."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `contextlab import`."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a log file or a folder")
    parser.add_argument(
        "--no-count", action="store_true", help="leave exact token counts to a worker; estimates until then"
    )
    parser.add_argument("--watch", action="store_true", help="read the folders again whenever they change")


def run(args: argparse.Namespace) -> int:
    """Exit code 0 when what was named could be read, or some of it; 2 when a path is missing, after the others were
    read; 3 when nothing could be read."""
    from contextlab.adapters.processes import tune_for_reading
    from contextlab.importers.discover import discover
    from contextlab.services import imports
    from contextlab.services.work import Counting

    tune_for_reading()
    workspace = _workspace()
    asked = [Path(path).expanduser() for path in args.paths]
    problems: list[str] = []
    sources = discover(asked, problems=problems)
    tally = Tally(problems)
    counting = Counting.NONE if args.no_count else Counting.ALL
    bar = Bar(sources)
    files = imports.files_for(workspace, sources)
    for source, file in zip(sources, files, strict=True):
        if source.path not in asked and imports.is_unchanged(file, source):
            tally.files["unchanged"] += 1
        else:
            tally.add(source, _import(file, bar, counting))
        bar.next(source)
    bar.clear()
    for folder in asked if args.watch else ():
        if folder.is_dir():
            imports.watch_folder(workspace, folder)
    tally.complain()
    print(tally.summary())
    if not tally.read:
        return 3
    return 2 if any(not path.exists() for path in asked) else 0


@dataclass(slots=True)
class Tally:
    """What became of the files."""

    problems: list[str]
    files: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    subagents: int = 0
    items: int = 0

    @property
    def read(self) -> int:
        """Files that could be read, now or before."""
        return self.files["imported"] + self.files["unchanged"]

    def add(self, source: Source, run: Run) -> None:
        """A run that has ended."""
        from contextlab.store.models import RunState

        if run.state == RunState.DONE:
            self.files["imported"] += 1
            self.sessions += run.result.get("sessions_total", 0)
            self.subagents += run.result.get("subagents_total", 0)
            self.items += run.result.get("new_items", 0)
        elif run.state == RunState.NOOP:
            self.files["unchanged"] += 1
        else:
            self.files["failed"] += 1
            self.problems.append(run.error or f"{source.name}: stopped")

    def complain(self) -> None:
        """The problems on standard error: a handful of them, and what all end with only once."""
        endings: dict[str, None] = {}
        for problem in self.problems[:_PROBLEMS]:
            what, supported, known = problem.partition(_SUPPORTED)
            print(f"contextlab: {what}", file=sys.stderr)
            endings[supported.lstrip() + known] = None
        if (more := len(self.problems) - _PROBLEMS) > 0:
            print(f"contextlab: and {more} more files that cannot be read", file=sys.stderr)
        for ending in filter(None, endings):
            print(f"contextlab: {ending}", file=sys.stderr)

    def summary(self) -> str:
        """One line for people."""
        counts = [
            f"{self.files[name]} {name}" for name in ("imported", "unchanged", "failed") if self.files[name]
        ]
        text = f"{_number(sum(self.files.values()), 'file')}: {', '.join(counts) or 'no logs found'}"
        if self.files["imported"]:
            text += f"; {_number(self.sessions, 'session')}, {_number(self.subagents, 'subagent')}"
            text += f", {_number(self.items, 'new item')}"
        return text


def _number(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


class Bar:
    """A progress bar on standard error; nothing where that is no terminal."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._total = sum(source.size or 0 for source in sources)
        self._files, self._done_files, self._done = len(sources), 0, 0
        self._shown = sys.stderr.isatty()

    def at(self, done: int, doing: str) -> None:
        """So many bytes of the current file are read."""
        if self._shown:
            share = min(1.0, (self._done + done) / self._total) if self._total else 0.0
            full = round(_BAR * share)
            text = f"[{'#' * full}{'.' * (_BAR - full)}] {share:4.0%}  {self._done_files}/{self._files} files  {doing}"
            print(f"\r{text[:110]:110}", end="", file=sys.stderr, flush=True)

    def next(self, source: Source) -> None:
        """The current file is done with."""
        self._done += source.size or 0
        self._done_files += 1
        self.at(0, source.name)

    def clear(self) -> None:
        """Leave an empty line."""
        if self._shown:
            print(f"\r{'':110}\r", end="", file=sys.stderr, flush=True)


def _workspace() -> Workspace:
    """The workspace; of an installation that was never started the tables are made first."""
    from django.core.management import call_command
    from django.db import DatabaseError

    from contextlab.services.workspaces import local_workspace

    try:
        return local_workspace()
    except DatabaseError:
        call_command("migrate", interactive=False, verbosity=0)
        return local_workspace()


def _import(file: LogFile, bar: Bar, counting: Counting) -> Run:
    """Import one file and whatever that queues here; returns the run at its end."""
    from contextlab.services import imports
    from contextlab.services.actions import perform
    from contextlab.services.work import Counting
    from contextlab.store.models import Run, RunState

    run, _ = imports.request(file)
    queued = perform(run, lambda done, _, doing: bar.at(done, f"{file.name}: {doing}"), counting)
    for more in queued:
        if more.kind != Run.Kind.COUNT or counting is not Counting.NONE:
            perform(more, None, counting)
    while True:
        run.refresh_from_db()
        if run.state not in (RunState.QUEUED, RunState.RUNNING):
            return run
        bar.at(0, f"{file.name}: another process is importing it")
        time.sleep(_POLL)
        perform(run, None, counting)
