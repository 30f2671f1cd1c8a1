"""The run of a compaction: plan, ask, read, check, commit; on failure memory is as it was.

| comes to   | ends as                                                                                                 |
|------------|---------------------------------------------------------------------------------------------------------|
| committed  | done                                                                                                    |
| no outcome | noop: nothing to summarise, no gain                                                                     |
| prefix     | what was summarised has changed meanwhile: planned again once, then conflict                            |
| model      | failed with its words; what may pass (429, 500, a timeout) is tried again, three attempts in all        |
| answers    | kept before they are read, with what they cost: an attempt after a crash reads what that one read,      |
|            | finds its answers and asks nobody, though the log may have grown                                        |
| death      | what is committed ends the run in the same transaction: nobody does it a second time                    |
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.db import transaction

from contextlab.core.agent.live import Compaction
from contextlab.core.committing.compacting import compacted
from contextlab.core.committing.figures import figures_of
from contextlab.core.compaction import Deps
from contextlab.core.errors import CompactError, ContextLabError
from contextlab.core.language_model import ModelError
from contextlab.core.policy import Policy, parse_policy
from contextlab.services.compaction.committing import commit
from contextlab.services.compaction.given import count_of, deps_for, pins_note
from contextlab.services.compaction.held import Held, Seen
from contextlab.services.compaction.memory import read_memory
from contextlab.services.compaction.models import KeepingModel
from contextlab.services.compaction.requests import BadRequest
from contextlab.services.runs import Refused, TryAgain
from contextlab.services.work import Outcome, Work
from contextlab.store.models import CompactionJob, ModelAnswer, RunState

PLANS = 2
CONFLICT = (
    "What was to be summarised has been changed meanwhile; memory is as it is. It can be started again."
)


@dataclass(slots=True)
class Task:
    """A job in somebody's hands."""

    work: Work
    job: CompactionJob
    policy: Policy
    model: KeepingModel
    started: float


def perform(work: Work) -> Outcome:
    """Do the run's compaction."""
    jobs = CompactionJob.objects.select_related("session__workspace", "base_view", "run")
    job = jobs.filter(run=work.run).first()
    if job is None:
        raise Refused("The session was deleted.")
    try:
        task = Task(work, job, parse_policy(job.policy), KeepingModel(work, job), time.monotonic())
        return _planned(task)
    except ModelError as error:
        raise (
            TryAgain(_words(error), error.retry_after) if error.retryable else Refused(_words(error))
        ) from error
    except ContextLabError as error:
        raise Refused(f"Memory is as it was: {error}") from error


def _planned(task: Task) -> Outcome:
    for number in range(PLANS):
        task.work.check_in(0, None, "planning")
        held = _held(task.job, again=number > 0)
        deps = _deps(task, held)
        done, note = compacted(task.policy, held.snapshot, deps), pins_note(task.policy, held, deps)
        if done.state != "done":
            return _nothing(task, held, done, note)
        if note and done.outcome and done.outcome.result and done.outcome.result.report:
            done.outcome.result.report.notes.append(note)
        task.work.check_in(0, None, "checking")
        with transaction.atomic():
            result = commit(task.work, task.job, held, done, time.monotonic() - task.started)
            if result is not None:
                task.work.end(result)
        if result is not None:
            return Outcome(result=result)
    return Outcome(RunState.CONFLICT, {"reason": CONFLICT})


def _held(job: CompactionJob, again: bool) -> Held:
    """The memory as it is now; `again` where the job was not read just before.

    Where an earlier attempt has answers: as far as the log went for it, so that its prompts are the same and their
    answers are not paid again. What came since follows at the commit.
    """
    if again:
        job.session.refresh_from_db()
        job.base_view.refresh_from_db()
    view = job.base_view
    complete = view.revision == job.session.revision and view.steps == job.session.steps
    if not view.keeps_memory and not complete:
        raise TryAgain("The view of the session is still being made.")
    seen = None if again else _seen_before(job)
    try:
        held = read_memory(job.session, view, job.before_step, job.before_compaction, seen)
    except BadRequest as error:
        raise Refused(str(error)) from error
    job.at_step, job.upto, job.revision = held.at_step, held.upto, held.revision
    job.save(update_fields=["at_step", "upto", "revision"])
    return held


def _seen_before(job: CompactionJob) -> Seen | None:
    """How far the log went for an earlier attempt that a model has answered."""
    if job.at_step is None or job.upto is None or job.revision != job.session.revision:
        return None
    return Seen(job.at_step, job.upto) if ModelAnswer.objects.filter(job=job).exists() else None


def _deps(task: Task, held: Held) -> Deps:
    def progress(doing: str, done: int = 0, total: int | None = None) -> None:
        task.work.check_in(done, total, doing)

    job, asks = task.job, task.policy.needs_model
    if asks and not job.allow_model:
        raise Refused("The policy asks a model, and nobody has confirmed that.")
    model = task.model if asks else None
    return deps_for(held, job.pins, job.instructions, model, job.run.uid.hex, progress)


def _nothing(task: Task, held: Held, done: Compaction, note: str) -> Outcome:
    figures = figures_of(held.snapshot, done.outcome, count_of(held))
    known = {"tokens_before": figures.tokens_before, "tokens_after": figures.tokens_after}
    CompactionJob.objects.filter(pk=task.job.pk).update(
        reason=done.reason[:40],
        token_source=figures.token_source,
        seconds=time.monotonic() - task.started,
        **known,
    )
    return Outcome(RunState.NOOP, {"reason": done.reason, "note": note, **known})


def _words(error: CompactError) -> str:
    return f"{str(error)[:1].upper()}{str(error)[1:]}. Memory is as it was."
