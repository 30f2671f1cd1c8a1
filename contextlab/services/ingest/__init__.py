"""From a log's bytes to rows.

    examine(file, source)            what is stored of it already
    ingest(work, file, source)       read it, write what is new, return the sessions that were written

examine.py decides, reading.py reads, writer.py writes one session of which held.py holds what was made of its events
(keeper.py packs it while the session is idle) and waiting.py the items that are not written yet,
contest.py settles which of two files a session is read from; tables.py, stored.py, settled.py, segments.py and rows.py
are the ways of writing little. A log that is sent piece by piece is read on from where it was read to before
(resuming.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from contextlab.importers import detect
from contextlab.importers.base import Source
from contextlab.services.ingest.contest import KnownElsewhere, settle
from contextlab.services.ingest.examine import Finding, examine
from contextlab.services.ingest.reading import Plan, Reading
from contextlab.services.ingest.resuming import Resumed, is_sent, remember, resumed_of
from contextlab.services.ingest.writer import BesideNeeded, SessionWriter
from contextlab.services.work import Work
from contextlab.store.models import LogFile

__all__ = ["Finding", "SessionWriter", "examine", "ingest", "is_sent", "remember", "resumed_of"]


def ingest(
    work: Work,
    file: LogFile,
    source: Source,
    finding: Finding,
    landed: Callable[[Sequence[SessionWriter]], None] | None = None,
    resumed: Resumed | None = None,
) -> list[SessionWriter]:
    """Read the source into rows; returns the writers of its sessions, each with what it knows of its session.

    Of a log that is more than one batch, `landed` is told once which new sessions have their first rows. `resumed` is
    how a log that is sent piece by piece was read so far, and learns how it was read now.
    Raises UnreadableFile (nothing was written), Lost or Cancelled (complete batches stay).
    """
    plan = Plan(grew=finding is not Finding.CHANGED)
    while True:
        try:
            return Reading(work, file, source, plan, landed, resumed).run()
        except BesideNeeded as needed:
            plan.beside.add(needed.native_id)
            resumed = None
        except KnownElsewhere:
            resumed = None
            for native_id, contested in settle(source, file, detect(source).FORMAT).items():
                other = contested.session.file
                if contested.won:
                    plan.beside.add(native_id)
                else:
                    plan.nowhere[native_id] = other.name if other else ""
