"""From the request to the branch: what is kept, what is written, and that nothing of the log changes."""

import pytest

from contextlab.queries.compaction import branches, compaction_page
from contextlab.queries.lineage import lineage
from contextlab.services import compaction, runs
from contextlab.services.compaction import BadRequest, read_request
from contextlab.services.compaction.memory import read_memory
from contextlab.store.models import CompactionJob, MemoryVersion, Run, SpanRecord, View
from tests.importers.claude_log import Log, text
from tests.services.compaction.doing import STRUCTURED, asked, done, seen
from tests.services.doing import everything, import_well

pytestmark = [pytest.mark.django_db, pytest.mark.database]

GONE = ("summarised", "dropped")


def test_a_compaction_of_a_log_is_a_branch(session):
    """The log and its view stay as they were; the memory after it is a version behind the one before."""
    before = everything(session)
    job = done(asked(session, before_step=12))
    assert (job.run.state, job.run.error) == ("done", "")
    branch = View.objects.get(kind="branch")
    assert (branch.base.name, branch.base_step, job.at_step) == ("recorded", 12, 12)
    base, after = MemoryVersion.objects.filter(view=branch).order_by("version")
    assert (base.created_by, after.created_by, after.parent, after.compaction) == (
        "base",
        "compaction",
        base,
        job,
    )
    assert job.tokens_after < job.tokens_before
    now = everything(session)
    assert {name: now[name] for name in before} == before


def test_what_the_branch_holds_and_what_went_is_all_there_was(session):
    """Kept + summarised = the memory before."""
    held = read_memory(session, session.views.get(name="recorded"), 12)
    job = done(asked(session, before_step=12))
    kept = compaction.memory_of(session, "branch-1").snapshot
    gone = sum(last - first + 1 for first, last, verdict, _ in job.fates if verdict in GONE)
    had_summary = held.summary_at is not None
    assert len(kept.items) + gone == len(held.snapshot.items) + had_summary
    assert all(item in held.snapshot.items for item in kept.items)
    assert kept.summary
    assert SpanRecord.objects.filter(view__name="branch-1", first_step=12, end_step=13).exists()


def test_the_preview_says_what_will_happen(session):
    """Without a model its figures are those of the result."""
    request = read_request({"policy": STRUCTURED, "before_step": 12})
    told = compaction.preview(session, request)
    assert (told.compacts, told.needs_model, told.faults) == (True, False, [])
    assert not Run.objects.filter(kind="compact").exists()
    job = done(asked(session, before_step=12))
    assert told.summarised + told.dropped == sum(
        last - first + 1 for first, last, verdict, _ in job.fates if verdict in GONE
    )
    assert told.tokens_after == MemoryVersion.objects.get(compaction=job).tokens
    assert told.steps_since == session.steps - 11
    assert told.pays_back is not None


def test_pressing_twice_gives_one_run(session):
    """The same request while it waits, and the same key for ever."""
    first, second = asked(session), asked(session)
    assert first.pk == second.pk
    keyed = asked(session, "press-1", before_step=9)
    done(keyed)
    assert asked(session, "press-1", before_step=9).pk == keyed.pk
    assert CompactionJob.objects.count() == 2


def test_pins_stay_and_foreign_ones_are_refused(session):
    """An item that a person pinned stands in the memory word for word."""
    held = read_memory(session, session.views.get(name="recorded"), 12)
    first = held.snapshot.items[0]
    done(asked(session, before_step=12, pins=[first.id]))
    assert first in compaction.memory_of(session, "branch-1").snapshot.items
    with pytest.raises(BadRequest) as refused:
        asked(session, pins=["no-such-item"])
    assert refused.value.place == "pins"


def test_nothing_to_summarise_is_a_noop(session):
    """Memory that is short enough stays, and no branch is made."""
    job = done(asked(session, keep_recent=10_000))
    assert job.run.state == "noop"
    assert job.reason in ("nothing_to_summarise", "no_gain")
    assert not View.objects.filter(kind="branch").exists()


def test_what_cannot_be_asked_for(session):
    """A step and a view that there are not; a step of a branch; a model that nobody set."""
    for values, place in (
        ({"before_step": session.steps + 2}, "before_step"),
        ({"view": "nobody's"}, "view"),
        ({"policy": "llm-summary", "confirm": True}, "policy"),
    ):
        with pytest.raises(BadRequest) as refused:
            asked(session, **values)
        assert refused.value.place == place


def test_a_session_that_is_being_read_waits(session):
    """Its memory is not complete yet."""
    runs.request(session.workspace, Run.Kind.IMPORT, "import:again", target=session.file.uid.hex)
    with pytest.raises(BadRequest, match="still being read"):
        asked(session)


def test_cancel_before_and_while_it_runs(session):
    """A run that waits ends at once; one that works ends at its next sign, and nothing is written."""
    waiting = asked(session)
    runs.cancel(waiting)
    assert seen(waiting).run.state == "cancelled"
    working = asked(session)
    Run.objects.filter(pk=working.pk).update(cancel_requested=True)
    assert done(working).run.state == "cancelled"
    assert not View.objects.filter(kind="branch").exists()


def test_restore_promote_and_compact_again(session):
    """Back to the memory before as a new version; the promoted branch is the one to go on with."""
    done(asked(session, before_step=12))
    branch = View.objects.get(name="branch-1")
    before = compaction.memory_of(session, "branch-1", 1).snapshot
    restored, new = compaction.restore(branch, 1)
    assert (restored.version, restored.created_by, new) == (3, "restore", True)
    assert compaction.memory_of(session, "branch-1").snapshot.items == before.items
    done(asked(session, view="branch-1"))
    assert [line.created_by for line in branches(session)[0].versions] == [
        "compaction",
        "restore",
        "compaction",
        "base",
    ]
    done(asked(session))
    compaction.promote(branch)
    assert compaction.memory_of(session).view == branch
    with pytest.raises(BadRequest):
        compaction.restore(branch, 99)
    with pytest.raises(BadRequest):
        compaction.promote(session.views.get(name="recorded"))


def test_what_is_in_force_is_not_restored_again(session):
    """Restore pressed twice, or for the memory that is in force, makes no copy of it."""
    done(asked(session, before_step=12))
    branch = View.objects.get(name="branch-1")
    assert compaction.restore(branch, 2) == (MemoryVersion.objects.get(view=branch, version=2), False)
    third, new = compaction.restore(branch, 1)
    assert new
    for version in (1, 3):
        assert compaction.restore(branch, version) == (third, False)
    assert compaction.restore(branch, 2)[0].version == 4
    assert MemoryVersion.objects.filter(view=branch).count() == 4


def test_beside_it_is_a_second_branch_from_the_same_point(session, django_assert_num_queries):
    """Two results of one memory, to be compared; to list branches takes as many queries for two as for one."""
    job = done(asked(session, before_step=12))
    run, _ = compaction.beside(job, read_request({"policy": STRUCTURED, "keep_recent": 2}))
    second = done(run)
    assert second.at_step == 12
    with django_assert_num_queries(2):
        found = branches(session)
    assert [(one.base_step, [line.version for line in one.versions]) for one in found] == [(12, [2, 1])] * 2


def test_what_came_behind_follows_and_a_changed_prefix_is_planned_again(session, monkeypatch):
    """A restore in the middle of a run changes what it read: it is planned again once, then a conflict."""
    from contextlab.services.compaction import performing

    done(asked(session, before_step=12))
    branch = View.objects.get(name="branch-1")
    real, turns = performing.compacted, [1]

    def meddled(*given):
        if turns:
            compaction.restore(branch, turns.pop())
        return real(*given)

    monkeypatch.setattr(performing, "compacted", meddled)
    assert done(asked(session, view="branch-1", keep_recent=1)).run.state == "done"
    turns[:] = [1, 2]
    assert done(asked(session, view="branch-1", keep_recent=1)).run.state in ("conflict", "noop")


def test_lineage_and_page(session):
    """A compaction has its parent in the log, and its page has all that is known."""
    job = done(asked(session, before_step=12))
    page = compaction_page(session.workspace_id, job.run.uid)
    assert (page.branch, page.version, page.at_step, page.steps_since) == (
        "branch-1",
        2,
        12,
        session.steps - 11,
    )
    assert set(page.result) >= {"goal", "completed", "summary", "read_files", "sandbox_state"}
    rows = {row.id: row for row in lineage(session)}
    assert rows[str(job.run.uid)].state == "done"
    if page.parent:
        assert str(job.run.uid) in rows[page.parent].children


@pytest.mark.parametrize("name", compaction.FORMATS)
def test_the_memory_goes_to_other_agents(session, name):
    """Every format carries the summary."""
    done(asked(session, before_step=12))
    held = compaction.memory_of(session)
    exported = compaction.export_memory(held, name)
    first = " ".join(held.snapshot.summary.split())[:30]
    assert first in " ".join(exported.text.replace("\\n", " ").replace("\n> ", " ").split())
    with pytest.raises(BadRequest):
        compaction.export_memory(held, "docx")


def test_the_way_back_into_the_agent(session):
    """A ready line for the agent's own command, and for its own compaction."""
    held = compaction.memory_of(session)
    assert compaction.resume_line(session) == f"claude --resume {session.native_id}"
    line = compaction.compact_line(held, [held.snapshot.items[0].id], "keep ports")
    assert line.startswith("/compact keep ports Keep word for word: ")
    assert compaction.resume_line(replace_format(session, "openai-chat")) is None


def replace_format(session, name):
    session.format = name
    return session


def test_results_outlive_the_cleaning_of_runs(session):
    """A run that ended well is forgotten after some days; a compaction's is not."""
    job = done(asked(session, before_step=12))
    runs.forget_old(job.run.finished_at + runs.KEPT * 2)
    assert CompactionJob.objects.filter(pk=job.pk).exists()


def test_the_next_compaction_carries_on_what_the_last_one_said(session):
    """A branch's memory knows the result that made it."""
    job = done(asked(session, before_step=12))
    last = compaction.memory_of(session, "branch-1").snapshot.last_result
    assert (last.summary, last.method) == (job.result["summary"], job.method)
    assert last.read_files == job.result["read_files"]


def test_a_log_that_ends_in_a_compaction(tmp_path):
    """What the last compaction took out is not in the memory, though no step has seen it gone."""
    log = Log()
    for number in range(6):
        log.user(f"question {number}")
        log.answer(f"m{number}", text(f"answer {number}"))
    log.boundary()
    log.summary("what was said")
    path = tmp_path / "s2.jsonl"
    path.write_bytes(log.data)
    session = import_well(path)
    held = read_memory(session, session.views.get(name="recorded"), None)
    assert held.snapshot.summary is not None
    assert "what was said" in held.snapshot.summary
    assert not [item for item in held.snapshot.items if "question" in item.text]


@pytest.mark.parametrize("policy", ["rule-based", "ai4j-structured"])
def test_a_memory_that_is_a_summary_alone_has_nothing_left_to_summarise(tmp_path, policy):
    """Where a log ends with its own compaction memory stays as it is, as the preview said; it is not empty."""
    log = Log("s7")
    for turn in range(4):
        log.user(f"prompt {turn}")
        log.answer(f"m{turn}", text(f"Done with {turn}."), stop="end_turn")
    log.boundary()
    log.summary("Four things were done, and the user agreed to none of them.")
    path = tmp_path / "s7.jsonl"
    path.write_bytes(log.data)
    session = import_well(path)
    told = compaction.preview(session, read_request({"policy": policy}))
    job = done(asked(session, policy=policy))
    assert (told.compacts, told.items_total, told.tokens_before > 0) == (False, 0, True)
    assert (job.run.state, job.reason) == ("noop", told.reason)
