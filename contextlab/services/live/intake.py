"""Taking in what an agent sends: appended to its log, read to rows, and then decided on.

When the answer is given the events are in rows: the agent's next question sees them. Two that send at once are read
one after the other, or together by one of them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from contextlab.queries.live import newest_version
from contextlab.services import imports, opening
from contextlab.services.actions import perform
from contextlab.services.live import log
from contextlab.services.live.auto import Evaluated, evaluate, note_told
from contextlab.services.live.log import Appended
from contextlab.services.live.own import take_own
from contextlab.services.runs import Priority
from contextlab.services.work import Counting
from contextlab.store.models import LogFile, Run, RunState, View

PATIENCE = 20.0
"""Seconds that an answer waits for whoever is reading the log."""
PAUSE = 0.03
MOST_LATE = 500
"""Logs that are looked after at once."""


@dataclass(slots=True)
class Taken:
    """What came of a request, and the runs that it queued."""

    lines: Appended
    read: bool
    """Whether all of the log is in rows; else a worker goes on reading, and nothing was decided."""
    decision: Evaluated | None = None
    queued: list[Run] = field(default_factory=list)
    version: int = 1
    """Of the memory in force."""
    by_agent: bool = False
    """The agent made that version itself."""


def take_events(view: View, body: bytes) -> Taken:
    """Take in the lines of a body; raises log.TooMuch, and nothing is taken then."""
    session = view.session
    file = session.file
    if file is None:  # its log was taken over by another file
        raise log.TooMuch("This session has no log of its own any more.")
    taken = Taken(log.append(session, file, body), False)
    taken.read = read_up_to(file, taken.lines.size, taken.queued)
    session.refresh_from_db()
    if taken.read:
        own = take_own(view)
        taken.decision = evaluate(view)
        _take_told(view, taken)
        if taken.decision is not None:
            taken.queued += taken.decision.queued
        if taken.lines.taken or own:
            view.refresh_from_db()
            taken.queued += opening.follow(session, [view])
    newest = newest_version(view)
    if newest is not None:
        taken.version, taken.by_agent = newest.memory.version, newest.log_compaction is not None
    return taken


def _take_told(view: View, taken: Taken) -> None:
    """Keep the decisions that the agent made itself, where the session's policy leaves them to it."""
    told = taken.lines.told
    if taken.decision is None:
        note_told(view, [one for _, one in told])
        taken.lines.taken += len(told)
        return
    for line, _ in told:
        taken.lines.skip(line, "decision: the policy of this session decides by itself")


def read_up_to(file: LogFile, size: int, queued: list[Run]) -> bool:
    """Read the log up to a size, or wait for whoever does; False where that takes too long or fails."""
    deadline = time.monotonic() + PATIENCE
    while not _is_read(file, size):
        run, _ = imports.request(file)
        queued += perform(run, counting=Counting.ALL)
        if _is_read(file, size):
            break
        run.refresh_from_db()
        if run.state == RunState.FAILED or time.monotonic() > deadline:
            queued.append(run)
            return False
        time.sleep(PAUSE)
    return True


def unread() -> list[Run]:
    """Runs for logs that a server left unread when it died between appending and reading."""
    files = LogFile.objects.filter(origin=LogFile.Origin.API, path__startswith=str(log.folder()))
    sizes = files.filter(forgotten_at=None).values_list("pk", "path", "disk_size")
    late = [key for key, path, read in sizes if log.size_of(path) > read]
    found = LogFile.objects.filter(pk__in=late[:MOST_LATE]).select_related("workspace")
    return [imports.request(file, Priority.GREW)[0] for file in found]


def _is_read(file: LogFile, size: int) -> bool:
    file.refresh_from_db(fields=["disk_size", "size", "sha256", "revision", "error"])
    return file.disk_size >= size
