"""The view of a policy that asks a model goes on from what a model has written already for that very place."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from contextlab.queries.fires import summary_before
from contextlab.services import opening, policies
from contextlab.services.actions import perform
from contextlab.services.compaction.versions import restore
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import CompactionJob, PolicyCompaction, PolicyDocument, Session, StepReport, View
from tests.importers.claude_log import Log, call, text
from tests.services.compaction.doing import ANSWER, asked, done
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log
from tests.support.fake_openai import FakeOpenAI, says
from tests.web.pages import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]
POLICY = """version = 1
name = "asks"
[compaction]
kind = "llm_summary"
max_items = 4
[trigger]
kind = "items"
max_items = 12
"""


def plain_log(turns: int = 8) -> Log:
    """A log that compacts nothing."""
    log = Log("s1")
    for turn in range(turns):
        log.user(f"prompt {turn}: please look at file_{turn}.py")
        log.answer(f"m{turn}a", text(f"I look at it ({turn})."), call(f"c{turn}", path=f"file_{turn}.py"))
        log.result(f"c{turn}", f"line one of {turn}\n" * 60)
        log.answer(f"m{turn}b", text(f"Done with {turn}."), stop="end_turn")
    return log


@pytest.fixture
def session(tmp_path: Any) -> Session:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(plain_log().data)
    policies.create(local_workspace(), POLICY)
    return import_well(path)


def opened(session: Session) -> tuple[View, list[PolicyCompaction]]:
    """The view as it is when somebody looks, with what its policy did."""
    _, run = opening.open_view(session, "asks")
    if run is not None:
        perform(run)
        run.refresh_from_db()
        assert (run.state, run.error) == ("done", "")
    view = View.objects.get(session=session, name="asks")
    return view, list(PolicyCompaction.objects.filter(view=view).order_by("step"))


def compacted(session: Session, settings: Any, step: int, **more: Any) -> CompactionJob:
    """A person compacts before a step with the policy; a model answers."""
    document = PolicyDocument.objects.get(name="asks").document
    with FakeOpenAI(says(ANSWER)) as server:
        settings.MODEL_BASE_URL, settings.MODEL_NAME, settings.MODEL_KEY = server.url, "gpt-4o", "sk-x"
        job = done(asked(session, policy=document, confirm=True, before_step=step, **more))
    assert (job.run.state, job.run.error) == ("done", "")
    return job


def test_the_mark_becomes_the_compaction_that_was_made_there(
    session: Session, settings: Any, client: Client
) -> None:
    """Its summary stands in the memory of the steps behind, and no step is after an unmade compaction any more."""
    _, (mark,) = opened(session)
    assert not mark.made
    compacted(session, settings, mark.step)
    view, fires = opened(session)
    first = fires[0]
    assert (first.step, first.made, first.rule, first.method) == (mark.step, True, mark.rule, "model")
    assert "wrote the parser" in first.summary
    report = StepReport.objects.get(view=view, step=mark.step)
    assert "branch-1, version 2" in report.notes[0]
    assert report.summarised_items == first.summarised > 0
    before = StepReport.objects.get(view=view, step=mark.step - 1)
    assert (before.summarised_items, before.notes) == (0, [])
    page = read(client.get(f"/sessions/{session.uid}?view=asks"))
    assert "made by a model" in page.text
    assert "wrote the parser" in read(client.get(f"/sessions/{session.uid}/steps/{mark.step}?view=asks")).text


def test_the_place_behind_it_is_marked_again(session: Session, settings: Any) -> None:
    """One answer is one compaction: the next one that is due needs a model once more."""
    _, (mark,) = opened(session)
    compacted(session, settings, mark.step)
    _, fires = opened(session)
    assert [fire.made for fire in fires] == [True, False]
    assert fires[1].step > mark.step
    view = View.objects.get(session=session, name="asks")
    assert summary_before(view.pk, fires[1].step) is not None
    behind = StepReport.objects.get(view=view, step=session.steps)
    assert behind.notes[0] == f"after an unmade compaction (step {fires[1].step})"
    assert (behind.summarised_items, summary_before(view.pk, session.steps)) == (0, None)


def test_another_step_or_another_policy_is_no_answer(session: Session, settings: Any) -> None:
    """Only the very place where the policy would have asked."""
    _, (mark,) = opened(session)
    compacted(session, settings, mark.step + 2)
    _, fires = opened(session)
    assert [(fire.step, fire.made) for fire in fires] == [(mark.step, False)]


def test_a_memory_that_a_person_exchanged_is_not_the_models(session: Session, settings: Any) -> None:
    """After a restore the branch holds another memory: the place is marked again when the view is made anew."""
    _, (mark,) = opened(session)
    compacted(session, settings, mark.step)
    branch = View.objects.get(session=session, name="branch-1")
    restore(branch, 1)
    View.objects.filter(session=session, name="asks").update(stale=True)
    _, fires = opened(session)
    assert [fire.made for fire in fires] == [False]


def test_behind_a_compaction_of_the_log_its_memory_is_another(tmp_path: Any, settings: Any) -> None:
    """The recorded memory holds the log's summary, the policy's does not: what was made of one is not for the other."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    late = POLICY.replace("max_items = 12", "max_items = 40")
    policies.create(local_workspace(), late)
    session = import_well(path)
    _, (mark,) = opened(session)
    assert mark.step > 14, "behind the log's own compaction"
    compacted(session, settings, mark.step)
    _, fires = opened(session)
    assert [fire.made for fire in fires] == [False]
