"""Writing what a turn came to: the batch, its observations and their tags in one transaction, each content once.

| rule                                                                                                            |
|-----------------------------------------------------------------------------------------------------------------|
| a turn read again by the same method: what is said again keeps its row, what is not said any more goes, new ones |
| are added; a reader in between sees the old set or the new one, a crash leaves the old one                       |
| two writers of one turn: the database holds each content once (session, hash), the second finds the first's rows |
| a session deleted meanwhile: nothing is written                                                                 |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from contextlab.core.memory_keeping.batches import Batch, once
from contextlab.core.memory_keeping.economics import read_tokens
from contextlab.core.memory_keeping.observations import SUMMARY_FIELDS, Observation
from contextlab.services.memories.turns import TurnToRead
from contextlab.services.work import Work
from contextlab.store.bulk import clean_text
from contextlab.store.models import (
    ObservationBatch,
    ObservationRecord,
    ObservationTag,
    Session,
    SessionSummaryRecord,
)

LONGEST_VALUE = 400
MOST_TAGS = 100


def settled(session: Session, turn: TurnToRead, method: str) -> bool:
    """Whether the turn, as it is now, has been read by this method already."""
    return _settled(session, method).filter(turn=turn.number, digest=turn.digest).exists()


def all_settled(session: Session, method: str) -> dict[int, str]:
    """The digests that turns had when this method read them, by their numbers."""
    return dict(_settled(session, method).values_list("turn", "digest"))


def _settled(session: Session, method: str) -> QuerySet[ObservationBatch]:
    waiting = (ObservationBatch.Fate.PENDING, ObservationBatch.Fate.ANSWERED)
    return ObservationBatch.objects.filter(session=session, method=method).exclude(fate__in=waiting)


def keep(
    work: Work, session: Session, turn: TurnToRead, method: str, batch: Batch, values: dict[str, Any]
) -> int:
    """Write what a turn came to; how many observations are new. Raises Lost or Cancelled with nothing written."""
    with transaction.atomic():
        row, _ = ObservationBatch.objects.update_or_create(
            session=session,
            turn=turn.number,
            method=method,
            defaults={
                "digest": turn.digest,
                "fate": str(batch.fate),
                "answer_class": str(batch.answer_class) if batch.preview else "",
                "preview": clean_text(batch.preview, 200),
                "skip_reason": clean_text(batch.skip_reason or "", 400),
                "raw_tokens": turn.raw_tokens,
                "raw_source": turn.raw_source,
                **values,
            },
        )
        made = _keep_observations(session, turn, row, batch.observations)
        _keep_summary(session, row, batch)
        work.still_ours(f"turn {turn.number:,}" if turn.number else "the session as a whole")
    return made


def _keep_observations(
    session: Session, turn: TurnToRead, batch: ObservationBatch, observations: Sequence[Observation]
) -> int:
    wanted = {one.content_hash(session.native_id): one for one in once(observations, session.native_id)}
    batch.observations.exclude(content_hash__in=wanted).delete()
    known = set(
        ObservationRecord.objects.filter(session=session, content_hash__in=wanted).values_list(
            "content_hash", flat=True
        )
    )
    rows = [_row(session, turn, batch, name, one) for name, one in wanted.items() if name not in known]
    ObservationRecord.objects.bulk_create(rows, ignore_conflicts=True)
    ours = dict(
        ObservationRecord.objects.filter(session=session, uid__in=[row.uid for row in rows]).values_list(
            "content_hash", "pk"
        )
    )
    tags = [
        ObservationTag(observation_id=key, kind=kind, value=value)
        for name, key in ours.items()
        for kind, value in _tags(wanted[name])
    ]
    ObservationTag.objects.bulk_create(tags, ignore_conflicts=True)
    return len(ours)


def _keep_summary(session: Session, batch: ObservationBatch, judged: Batch) -> None:
    if judged.summary is None:
        SessionSummaryRecord.objects.filter(batch=batch).delete()
        return
    fields = {name: _clean(getattr(judged.summary, name)) for name in SUMMARY_FIELDS}
    SessionSummaryRecord.objects.update_or_create(batch=batch, defaults={"session": session, **fields})


def _row(
    session: Session, turn: TurnToRead, batch: ObservationBatch, name: str, one: Observation
) -> ObservationRecord:
    texts = [one.title, one.subtitle, one.narrative, *one.facts, *one.concepts]
    return ObservationRecord(
        workspace_id=session.workspace_id,
        session=session,
        batch=batch,
        turn=turn.number,
        content_hash=name,
        type=clean_text(one.type, 60),
        title=_clean(one.title),
        subtitle=_clean(one.subtitle),
        narrative=_clean(one.narrative),
        facts=[clean_text(fact) for fact in one.facts],
        concepts=[clean_text(concept) for concept in one.concepts],
        files_read=[clean_text(file) for file in one.files_read],
        files_modified=[clean_text(file) for file in one.files_modified],
        items=[clean_text(item) for item in one.items],
        words=clean_text("\n".join(text for text in texts if text).casefold()),
        read_tokens=read_tokens(one),
        happened_at=turn.happened_at,
    )


def _tags(one: Observation) -> list[tuple[str, str]]:
    files = [(ObservationTag.Kind.FILE, file) for file in (*one.files_modified, *one.files_read)]
    concepts = [(ObservationTag.Kind.CONCEPT, concept) for concept in one.concepts]
    found = [(str(kind), clean_text(value, LONGEST_VALUE)) for kind, value in (*concepts, *files)]
    return list(dict.fromkeys(found))[:MOST_TAGS]


def _clean(text: str | None) -> str | None:
    return None if text is None else clean_text(text)
