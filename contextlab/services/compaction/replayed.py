"""What had become of items at a point of the log that no step saw: it is replayed up to there.

fates_at_end(session)             behind the last step: a compaction that ends the log is seen by no step yet
fates_before(session, record)     just before a compaction of the log, with all that the step before it brought
"""

from __future__ import annotations

from contextlab.core.recorded import RecordedReplayer
from contextlab.core.timeline import Step, Timeline
from contextlab.queries.fates import Fate
from contextlab.services.timelines import load_timeline
from contextlab.store.models import CompactionRecord, MarkRecord, Session


def ends_changed(session: Session) -> bool:
    """Whether the log took something out of memory, or brought it back, behind its last step."""
    marks = MarkRecord.objects.filter(session=session, revision=session.revision)
    return marks.filter(at_step__gt=session.steps).exists()


def fates_at_end(session: Session) -> list[Fate]:
    """The fates of all items behind the last step."""
    timeline = load_timeline(session)
    return _fates(timeline, session.steps + 1, len(timeline))


def fates_before(session: Session, record: CompactionRecord) -> list[Fate]:
    """The fates of the items that a compaction of the log read, as it found them."""
    timeline = load_timeline(session)
    first = next(
        (place for place, mark in enumerate(timeline.marks) if mark.compaction == record.number),
        len(timeline.marks),
    )
    timeline.marks = [mark for mark in timeline.marks[:first] if mark.at_step <= record.at_step]
    del timeline.steps[record.at_step - 1 :]
    return _fates(timeline, record.at_step, record.upto)


def _fates(timeline: Timeline, step: int, upto: int) -> list[Fate]:
    timeline.steps.append(Step(step, "", len(timeline.turns_list), upto))
    replayer = RecordedReplayer(timeline)
    for _ in replayer.run():
        pass
    alive = [span for span in replayer.spans() if span.end_step is None or span.end_step > step]
    alive.sort(key=lambda span: span.first_item)
    return [
        Fate(one.first_item, one.last_item, one.verdict, str(one.reason or ""), one.first_step)
        for one in alive
    ]
