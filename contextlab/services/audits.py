"""The audit of a session, made in a run and kept: pages and the API read it in milliseconds.

open_audit(session)     the audit as far as it is there, and the run that makes it where it is not, or not of all
missing()               runs that the periodic work asks for: sessions with compactions that came to rest, and
                        compactions that were made here (compaction.losing)
perform(work)           the run
dismiss(session, key)   put a finding aside, or take it back
"""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

import zstandard
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from contextlab.core.audit.answers import audit_answer
from contextlab.core.audit.auditing import audit
from contextlab.core.audit.reconcile import Unexplained
from contextlab.core.audit.results import Audit, CompactionAudit, FactKind, FactVerdict, Finding, Severity
from contextlab.core.events import Compaction
from contextlab.core.items import Injected
from contextlab.core.timeline import CompactionRow
from contextlab.queries.reconcile import unexplained_steps
from contextlab.services import runs
from contextlab.services.compaction import losing
from contextlab.services.runs import Priority, Refused
from contextlab.services.texts import SessionTexts
from contextlab.services.timelines import load_timeline
from contextlab.services.work import Outcome, Work
from contextlab.store.bulk import clean_text
from contextlab.store.items import session_items
from contextlab.store.models import CompactionRecord, FindingRecord, Run, Session, SessionAudit

MOST_CHARS = 200_000_000
TOO_LARGE = "The session holds {:,} characters; audits end at {:,}."
REST = timedelta(seconds=20)
"""A session that grew so recently is not audited by itself yet."""
AT_ONCE = 20
ATTEMPTS = 3
MOST_UNEXPLAINED = 8
MUCH = 10_000
UNEXPLAINED = {
    Unexplained.ENTERED: "Something entered that the log does not show",
    Unexplained.CLEARED: "Something was cleared without a word in the log",
    Unexplained.LESS: "The provider reported less than the log shows",
}
_SPOKEN = (str(Injected.QUEUED), str(Injected.MIDTURN))


def open_audit(session: Session) -> tuple[SessionAudit | None, Run | None]:
    """The audit, and the run that makes it anew where the session is not as it was read."""
    found = SessionAudit.objects.filter(session=session).first()
    if found is not None and (found.revision, found.items) == (session.revision, session.items):
        return found, None
    return found, request(session)


def request(session: Session, priority: Priority = Priority.NOW) -> Run:
    """The run that audits a session."""
    run, _ = runs.request(
        session.workspace, Run.Kind.AUDIT, f"audit:{session.uid.hex}", target=session.uid.hex,
        params={"session": session.uid.hex}, priority=priority, total=session.compactions or None,
        unit="compactions",
    )  # fmt: skip
    return run


def unaudited() -> QuerySet[Session]:
    """Sessions with compactions whose audit is missing or is not of all."""
    current = SessionAudit.objects.filter(
        session=OuterRef("pk"), revision=OuterRef("revision"), items=OuterRef("items")
    )
    compacted = Session.objects.filter(Q(compactions__gt=0) | Q(micro_compactions__gt=0))
    return compacted.filter(text_chars__lte=MOST_CHARS).exclude(Exists(current))


def missing() -> list[Run]:
    """Runs for sessions that came to rest, newest first; what failed lately is left alone."""
    now = timezone.now()
    failed = Run.objects.filter(kind=Run.Kind.AUDIT, state="failed", finished_at__gt=now - timedelta(hours=1))
    uids = set(failed.values_list("target", flat=True))
    rows = unaudited().filter(Q(file=None) | Q(file__imported_at__lt=now - REST)).select_related("workspace")
    waiting = rows.order_by("-sort_at")[: AT_ONCE + len(uids)]
    found = [request(one, Priority.LATER) for one in waiting if one.uid.hex not in uids][:AT_ONCE]
    return found + losing.missing()


def perform(work: Work) -> Outcome:
    """Audit the run's session, or the compaction that it names."""
    if "compaction" in work.run.params:
        return losing.perform(work)
    for _ in range(ATTEMPTS):
        session = Session.objects.filter(uid=work.run.target).first()
        if session is None:
            raise Refused("The session was deleted.")
        if session.text_chars > MOST_CHARS:
            raise Refused(TOO_LARGE.format(session.text_chars, MOST_CHARS))
        work.check_in(0, None, "reading facts")
        done = audit_of(session)
        if _keep(work, session, done):
            return Outcome(result={"findings": len(done.findings), "compactions": len(done.compactions)})
    raise Refused("The session keeps changing while it is read; it is audited when it comes to rest.")


def audit_of(session: Session) -> Audit:
    """The audit of a session as it is stored; writes nothing."""
    timeline = load_timeline(session)
    spoken = session_items(session).filter(injected__in=_SPOKEN).values_list("position", flat=True)
    return audit(timeline, SessionTexts(session), compaction_rows(session), spoken=set(spoken))


def compaction_rows(session: Session) -> list[CompactionRow]:
    """The log's compactions as the core has them."""
    records = CompactionRecord.objects.filter(session=session, revision=session.revision)
    return [
        CompactionRow(
            row.number,
            Compaction(row.native_id, origin=row.origin, trigger=row.trigger or None, opaque=row.opaque),
            row.at_step,
            row.upto,
            row.summary,
            row.micro,
        )
        for row in records.order_by("at_step", "micro", "number")
    ]


def dismiss(session: Session, key: str, dismissed: bool = True) -> bool:
    """Put a finding aside or take it back; False where there is none."""
    rows = FindingRecord.objects.filter(session=session, key=key)
    return bool(rows.update(dismissed_at=timezone.now() if dismissed else None))


def _keep(work: Work, session: Session, done: Audit) -> bool:
    """Write the audit whole; False where the session changed while it was read."""
    answer = audit_answer(session.native_id, done, lambda at: at)
    text = json.dumps(answer, ensure_ascii=True)
    values = {
        "revision": session.revision,
        "items": session.items,
        "compactions": sum(not one.micro for one in done.compactions),
        "changed": sum(one.ledger.count(FactVerdict.CHANGED) for one in done.compactions),
        "lost_rules": _lost_rules(done),
        "counts": {str(one.number): _counts(one) for one in done.compactions if not one.micro},
        "payload": zstandard.ZstdCompressor(6).compress(text.encode("ascii")),
    }
    with transaction.atomic():
        work.still_ours("writing")
        same = Session.objects.filter(pk=session.pk, revision=session.revision, items=session.items)
        if not same.exists():
            return False
        SessionAudit.objects.update_or_create(session=session, defaults=values)
        _keep_findings(session, done)
    return True


def _keep_findings(session: Session, done: Audit) -> None:
    """Findings by their keys: those that go on keep what a person said of them."""
    found = [*done.findings, *_unexplained(session)]
    rows = {(key := _key(one)): _row(session, key, one) for one in found}
    FindingRecord.objects.filter(session=session).exclude(key__in=rows).delete()
    FindingRecord.objects.bulk_create(
        rows.values(),
        update_conflicts=True,
        unique_fields=["session", "key"],
        update_fields=["kind", "severity", "title", "compaction", "micro", "step", "positions", "weight"],
    )


def _unexplained(session: Session) -> list[Finding]:
    """What the reported figures say that the log does not, the largest first."""
    steps = sorted(unexplained_steps(session), key=lambda one: -one[2])[:MOST_UNEXPLAINED]
    return [
        Finding(
            str(what), Severity.MEDIUM if tokens >= MUCH else Severity.LOW,
            f"{UNEXPLAINED[what]} at step {step:,}: about {tokens:,} tokens", 0, False, step, (),
            min(40.0, 10 + tokens / 2_000),
        )
        for step, what, tokens in steps
    ]  # fmt: skip


def _row(session: Session, key: str, one: Finding) -> FindingRecord:
    return FindingRecord(
        session=session, key=key, kind=one.kind, severity=str(one.severity), title=clean_text(one.title),
        compaction=one.compaction or None, micro=one.micro, step=one.step, positions=list(one.positions),
        weight=one.weight,
    )  # fmt: skip


def _key(one: Finding) -> str:
    about = one.positions[0] if one.positions else one.title
    said = f"{one.kind}:{one.micro}:{one.compaction}:{about}:{one.title[:40]}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _counts(one: CompactionAudit) -> dict[str, int]:
    return {str(verdict): one.ledger.count(verdict) for verdict in FactVerdict}


def _lost_rules(done: Audit) -> int:
    return sum(
        number
        for one in done.compactions
        for kind, verdict, number in one.ledger.counts
        if kind == FactKind.RULE and verdict == FactVerdict.DROPPED
    )
