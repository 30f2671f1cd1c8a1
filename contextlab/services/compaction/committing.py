"""Committing a compaction: the branch, its memories, the originals put aside and the result, all or nothing.

Compare and set: the session's row (of a branch: the branch's) is locked, and memory is read again where it may have
changed since the run read it. What came behind the last replaced item follows; any other change is a conflict.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from django.db import transaction

from contextlab.core.agent.live import Compaction
from contextlab.core.committing.claims import OWN_WORDS, claims_of, same_claim, unsupported, words_of_user
from contextlab.core.committing.commit import merged
from contextlab.core.committing.compacting import read_result_answer, result_answer
from contextlab.core.committing.figures import figures_of
from contextlab.core.compaction import CompactResult, Outcome, Snapshot
from contextlab.core.items import KIND_CODE, Kind, Verdict
from contextlab.core.report import Report
from contextlab.services.compaction.costs import payback_of, written_for
from contextlab.services.compaction.given import count_of, size_of
from contextlab.services.compaction.held import Held
from contextlab.services.compaction.memory import read_branch, read_memory
from contextlab.services.compaction.requests import BadRequest
from contextlab.services.compaction.shown import Run, joined_runs, show, write_report, write_spans
from contextlab.services.compaction.stored import pack
from contextlab.services.work import Work
from contextlab.store.items import session_items
from contextlab.store.models import CompactionJob, MemoryVersion, Session, View
from contextlab.store.offloads import DjangoOffloadStore

UNSUPPORTED = "no_user_item"
MOST_NAMED = 900
"""Items named by claims that are looked up."""


def commit(
    work: Work, job: CompactionJob, held: Held, done: Compaction, seconds: float
) -> dict[str, Any] | None:
    """Write all that came of it; None, and nothing is written, where the prefix has changed. Raises Lost, Cancelled."""
    outcome = done.outcome
    if outcome is None or outcome.memory is None or outcome.result is None:
        return None
    with transaction.atomic():
        # The fence: it locks the run's row, so that nothing is committed for a run that somebody else has.
        work.still_ours("writing")
        now = _now(held, job)
        after = None if now is None else merged(now.snapshot, held.snapshot, outcome)
        if now is None or after is None:
            return None
        if outcome.offloads:
            store = DjangoOffloadStore(held.session.workspace, held.session)
            for offload in outcome.offloads:
                store.put(offload)
        again = held.view.keeps_memory
        fates = runs_of(now, outcome)
        view = held.view if again else new_branch(now, fates, outcome.result.report)
        version = _version(view, now, after, job)
        _result(job, now, held, outcome, fates, seconds)
        views = View.objects.filter(session=held.session, kind=View.Kind.POLICY, policy_hash=job.policy_hash)
        views.update(stale=True)  # they go on from it where they would have asked a model
        if view.kind == View.Kind.LIVE:
            _in_force(version, now, job)
        elif again:
            job.refresh_from_db()
            show(view, version)
    return {"branch": view.name, "version": version.version, "reason": ""}


def _now(held: Held, job: CompactionJob) -> Held | None:
    """The memory as it is at this moment, under a lock; None where it is not there any more."""
    session = Session.objects.select_for_update().get(pk=held.session.pk)
    if held.view.kind == View.Kind.BRANCH:
        view = View.objects.select_for_update().get(pk=held.view.pk)
        now = read_branch(view)
        same = (
            held.version is not None
            and now.version is not None
            and now.version.version == held.version.version
        )
        return held if same else now
    if held.view.kind == View.Kind.LIVE:
        View.objects.select_for_update().get(pk=held.view.pk)
        return read_memory(session, held.view, None)
    at_the_end = job.before_step is None and job.before_compaction is None
    grown = at_the_end and session.items > held.upto
    if session.revision == held.revision and not grown:
        return held
    view = View.objects.get(pk=held.view.pk)
    if session.revision == held.revision and view.steps < session.steps:
        return held  # what came is not projected yet: the memory is the one before it, and says so
    try:
        return read_memory(session, view, job.before_step, job.before_compaction)
    except BadRequest:
        return None


def _in_force(version: MemoryVersion, now: Held, job: CompactionJob) -> None:
    """The agent gets it with its next memory."""
    from contextlab.services.live.deciding import made
    from contextlab.services.live.versions import place  # written in terms of this module

    place(version, now.upto)
    made(job)


def new_branch(held: Held, fates: list[Run], report: Report | None) -> View:
    """A branch that leaves the base view before the step, with the fates and the report of that step."""
    session = held.session
    names = set(session.views.values_list("name", flat=True))
    number = 1
    while f"branch-{number}" in names:
        number += 1
    view = View.objects.create(
        session=session, kind=View.Kind.BRANCH, name=f"branch-{number}", base=held.view, base_step=held.at_step,
        base_upto=held.upto, revision=session.revision, steps=held.at_step, stale=False, version=1,
    )  # fmt: skip
    left = [(one.first, one.last, str(one.verdict), str(one.reason or "")) for one in held.out]
    write_spans(view, sorted([*left, *fates]))
    write_report(view, report)
    return view


def _version(view: View, held: Held, after: Snapshot, job: CompactionJob) -> MemoryVersion:
    """The memory after it, behind the one before it."""
    # What stands before a step that the log has is read from the view; all else would change as the log grows.
    by_view = job.before_compaction is None and held.at_step <= held.session.steps
    before = held.version or first_version(view, held, whole=not by_view)
    return add_version(view, before, held, after, MemoryVersion.Origin.COMPACTION, job)


def first_version(view: View, held: Held, *, whole: bool) -> MemoryVersion:
    """The memory that a branch begins with; `whole` with its items, else as the base view has it."""
    tokens, source = size_of(held)
    return MemoryVersion.objects.create(
        view=view, version=1, created_by=MemoryVersion.Origin.BASE, items=len(held.snapshot.items),
        summary=held.snapshot.summary, tokens=tokens, token_source=source,
        payload=pack(held, held.snapshot.items) if whole else None,
    )  # fmt: skip


def add_version(
    view: View,
    parent: MemoryVersion,
    held: Held,
    after: Snapshot,
    origin: str,
    job: CompactionJob | None = None,
    restored: MemoryVersion | None = None,
) -> MemoryVersion:
    """A further version of a branch's memory; `restored` is the one that it is again.

    Raises IntegrityError where somebody else added a version of this number.
    """
    tokens, source = size_of(held, after)
    return MemoryVersion.objects.create(
        view=view, version=parent.version + 1, parent=parent, created_by=origin, compaction=job,
        items=len(after.items), summary=after.summary, payload=pack(held, after.items), restored=restored,
        tokens=tokens, token_source=source,
    )  # fmt: skip


def runs_of(held: Held, outcome: Outcome) -> list[Run]:
    """The fates of the memory's items as runs of positions, in order; the log's own summary went into the new one."""
    places = held.positions
    runs: list[Run] = []
    first, last, before = 0, -1, None
    for name, fate in outcome.fates.items():
        if (at := places.get(name, -1)) < 0:
            continue
        if at == last + 1 and (fate is before or fate == before):
            last = at
            continue
        if before is not None:
            runs.append((first, last, str(before.verdict), str(before.reason or "")))
        first = last = at
        before = fate
    if before is not None:
        runs.append((first, last, str(before.verdict), str(before.reason or "")))
    if held.summary_at is not None:
        runs.append((held.summary_at, held.summary_at, str(Verdict.SUMMARISED), "compacted"))
    return list(joined_runs(sorted(runs)))


def _result(
    job: CompactionJob, now: Held, held: Held, outcome: Outcome, fates: list[Run], seconds: float
) -> None:
    """What came of it: the place as it is now, the figures of what was read."""
    result = outcome.result
    if result is None:
        return
    figures = figures_of(held.snapshot, outcome, count_of(held))
    values = {
        "revision": now.revision,
        "at_step": now.at_step,
        "upto": now.upto,
        "base_version": held.version.version if held.version else None,
        "reason": outcome.reason[:40],
        "method": result.method[:12],
        "result": result_answer(result),
        "report": asdict(result.report) if result.report else None,
        "fates": fates,
        "offloads": [
            {"id": one.id, "reason": one.reason, "items": len(one.items)} for one in outcome.offloads
        ],
        "events": [_event(one) for one in outcome.events],
        "flags": _flags(held, result, outcome.memory),
        "tokens_before": figures.tokens_before,
        "tokens_after": figures.tokens_after,
        "token_source": figures.token_source,
        "seconds": seconds,
        "payback": payback_of(
            now.session, now.at_step, figures.tokens_before, figures.tokens_after, written_for(job)
        ),
    }
    CompactionJob.objects.filter(pk=job.pk).update(**values)


def _flags(held: Held, result: CompactResult, after: Snapshot | None) -> list[dict[str, str]]:
    """What nobody agreed to: the claims without an item of the user, in this memory or anywhere in the log."""
    if not (claims := claims_of(result, (after.summary if after else None) or "")):
        return []
    names = sorted({name for _, line in claims for name in line.items})[:MOST_NAMED]
    records = session_items(held.session)
    rows = records.filter(native_id__in=names, kind=KIND_CODE[Kind.USER], injected__in=["", *OWN_WORDS])
    said = words_of_user(held.snapshot.items) | set(rows.values_list("native_id", flat=True))
    settled = _settled(held)
    return [
        {"section": name, "text": line.text, "why": UNSUPPORTED}
        for name, line in unsupported(claims, said)
        if name != "summary" or same_claim(line.text) not in settled
    ]


def _settled(held: Held) -> set[str]:
    """Claims in the summary before it that words of the user supported when it was written: it is carried as a text."""
    job = held.version.same_as.compaction if held.version else None
    if job is None or not held.snapshot.summary or not job.result:
        return set()
    flagged = {same_claim(str(one["text"])) for one in job.flags}
    earlier = claims_of(read_result_answer(job.result, job.method), held.snapshot.summary)
    return {same_claim(line.text) for _, line in earlier} - flagged


def _event(event: Any) -> dict[str, Any]:
    told = asdict(replace(event, items=()))
    return {**told, "items": len(event.items)}
