"""The life of a run: asked for once, held by one, ended once, whatever dies in between."""

from datetime import timedelta

import pytest
from django.utils import timezone

from contextlab.services import runs
from contextlab.services.runs import Cancelled, Lost, Priority
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def workspace():
    return local_workspace()


def ask(workspace, key="import:1", **values):
    return runs.request(workspace, "import", key, **values)[0]


def dies(claim):
    """The worker gives no sign of life any more."""
    Run.objects.filter(pk=claim.run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_asking_twice_gives_one_run(workspace):
    """A second click, a second process, a watched folder: one piece of work."""
    first, new = runs.request(workspace, "import", "import:1")
    second, again = runs.request(workspace, "import", "import:1")
    assert (first.pk, new, again) == (second.pk, True, False)


def test_after_its_end_the_same_key_is_new_work(workspace):
    """A file can be imported again."""
    claim = runs.claim(ask(workspace).uid)
    runs.finish(claim, "done", {})
    assert ask(workspace).pk != claim.run.pk


def test_only_one_can_claim_a_run(workspace):
    """The doorbell may ring for two."""
    run = ask(workspace)
    assert runs.claim(run.uid) is not None
    assert runs.claim(run.uid) is None


def test_a_run_whose_worker_died_is_claimed_again_and_the_dead_one_cannot_end_it(workspace):
    """A worker that comes back from a long sleep finds that it lost the run, and writes nothing."""
    run = ask(workspace)
    old = runs.claim(run.uid)
    dies(old)
    new = runs.claim(run.uid)
    assert new.run.attempts == 2
    assert not runs.renew(old)
    assert not runs.finish(old, "done", {"by": "old"})
    with pytest.raises(Lost):
        runs.progress(old, done=5)
    assert runs.finish(new, "done", {"by": "new"})
    run.refresh_from_db()
    assert (run.state, run.result) == ("done", {"by": "new"})


def test_a_run_that_killed_three_workers_fails_and_can_be_started_again(workspace):
    """One poisonous file does not take the workers down for ever."""
    run = ask(workspace)
    for _ in range(3):
        dies(runs.claim(run.uid))
    assert runs.claim(run.uid) is None
    run.refresh_from_db()
    assert (run.state, run.retryable, run.error) == ("failed", True, runs.WORKER_LOST)
    assert ask(workspace).pk != run.pk


def test_a_passing_failure_is_tried_again_after_a_pause(workspace):
    """Not at once: what failed would fail again."""
    run = ask(workspace)
    runs.fail(runs.claim(run.uid), "the disk was full", retryable=True)
    run.refresh_from_db()
    assert (run.state, run.error) == ("queued", "the disk was full")
    assert runs.claim(run.uid) is None, "it rests"
    assert runs.due() == []
    Run.objects.update(not_before=timezone.now())
    assert [one.pk for one in runs.due()] == [run.pk]
    assert runs.claim(run.uid).run.attempts == 2


def test_the_third_failure_is_the_last(workspace):
    """Then a person has to look."""
    run = ask(workspace)
    for _ in range(3):
        Run.objects.update(not_before=None)
        runs.fail(runs.claim(run.uid), "again", retryable=True)
    run.refresh_from_db()
    assert (run.state, run.retryable, run.attempts) == ("failed", True, 3)


def test_reasons_are_redacted(workspace):
    """Error texts carry what libraries put in them."""
    run = ask(workspace)
    key = "sk-ant-api03-" + "a1B2" * 20
    runs.fail(runs.claim(run.uid), f"refused: {key}", retryable=False)
    run.refresh_from_db()
    assert key not in run.error
    assert run.error.startswith("refused: ")


def test_a_queued_run_is_cancelled_at_once_and_a_running_one_at_its_next_sign(workspace):
    """Stop is cooperative: nobody is killed in the middle of a batch."""
    queued, running = ask(workspace, "import:1"), ask(workspace, "import:2")
    claim = runs.claim(running.uid)
    runs.cancel(queued)
    runs.cancel(running)
    queued.refresh_from_db()
    assert queued.state == "cancelled"
    with pytest.raises(Cancelled):
        runs.progress(claim, done=1)


def test_what_was_never_rung_or_rung_in_vain_is_rung_by_the_reaper(workspace):
    """The broker was down, or lost what it had taken."""
    now = timezone.now()
    run = ask(workspace)
    assert [one.pk for one in runs.reap(now)] == [run.pk]
    assert runs.reap(now + timedelta(seconds=5)) == []
    assert [one.pk for one in runs.reap(now + timedelta(seconds=40))] == [run.pk]


def test_the_reaper_rings_for_runs_of_dead_workers(workspace):
    """They are claimed again by whoever hears it."""
    claim = runs.claim(ask(workspace).uid)
    assert runs.reap() == []
    dies(claim)
    assert [one.pk for one in runs.reap()] == [claim.run.pk]


def test_a_run_of_a_dead_worker_is_rung_once_however_many_look(workspace):
    """Every message that is worked off looks for what is due: else each about a dead run would call forth more."""
    now = timezone.now()
    claims = [runs.claim(ask(workspace, f"import:{number}").uid) for number in range(3)]
    # Rung when they began, a lease ago.
    Run.objects.update(rung_at=now - runs.LEASE)
    for claim in claims:
        dies(claim)
    later = timezone.now() + timedelta(seconds=1)
    assert {run.pk for run in runs.due(later)} == {claim.run.pk for claim in claims}
    assert [runs.due(later + timedelta(seconds=pause)) for pause in range(1, 25)] == [[]] * 24
    assert len(runs.due(later + timedelta(seconds=40))) == 3, "the message was lost"


def test_whoever_has_time_takes_over_from_a_dead_worker(workspace):
    """No message is needed for it."""
    claim = runs.claim(ask(workspace).uid)
    assert runs.first_waiting() is None
    dies(claim)
    assert runs.first_waiting().pk == claim.run.pk


def test_a_thousand_queued_runs_are_rung_a_few_at_a_time_the_most_urgent_first(workspace):
    """Messages do not pile up while a large scan waits."""
    for number in range(30):
        ask(workspace, f"import:{number}", priority=Priority.FOUND)
    urgent = ask(workspace, "project:1", priority=Priority.NOW)
    due = runs.due()
    assert due[0].pk == urgent.pk
    assert len(due) == runs.window()
    assert runs.due() == []
    runs.finish(runs.claim(urgent.uid), "done", {})
    assert len(runs.due()) == 1


def test_a_parent_ends_with_its_last_child(workspace):
    """A scan has no worker of its own while its files are read."""
    parent = ask(workspace, "scan:1", total=2)
    claim = runs.claim(parent.uid)
    children = [ask(workspace, f"import:{number}", parent=parent) for number in range(2)]
    runs.wait_for_children(claim)
    for child, state in zip(children, ("done", "failed"), strict=True):
        parent.refresh_from_db()
        assert parent.state == "running"
        runs.finish(runs.claim(child.uid), state, {})
    parent.refresh_from_db()
    assert (parent.state, parent.done) == ("done", 2)
    assert parent.result["ended"] == {"done": 1, "failed": 1}


def test_a_parent_whose_children_are_all_done_does_not_wait(workspace):
    """They may be faster than the parent is."""
    parent = ask(workspace, "scan:1")
    claim = runs.claim(parent.uid)
    child = ask(workspace, "import:1", parent=parent)
    runs.finish(runs.claim(child.uid), "done", {})
    runs.wait_for_children(claim)
    parent.refresh_from_db()
    assert parent.state == "done"


def test_the_reaper_ends_a_parent_that_missed_its_last_child(workspace):
    """Belt and braces: a waiting parent holds no lease that could run out."""
    parent = ask(workspace, "scan:1")
    claim = runs.claim(parent.uid)
    child = ask(workspace, "import:1", parent=parent)
    runs.wait_for_children(claim)
    Run.objects.filter(pk=child.pk).update(state="done")
    runs.reap()
    parent.refresh_from_db()
    assert parent.state == "done"


def test_stopping_a_parent_stops_its_children(workspace):
    """What waits ends, what is being read ends at its next batch, and then the parent has ended, too."""
    parent = ask(workspace, "scan:1")
    claim = runs.claim(parent.uid)
    children = [ask(workspace, f"import:{number}", parent=parent) for number in range(3)]
    running = runs.claim(children[0].uid)
    runs.wait_for_children(claim)
    runs.cancel(parent)
    with pytest.raises(Cancelled):
        runs.progress(running, done=1)
    runs.finish(running, "cancelled", {})
    parent.refresh_from_db()
    assert parent.state == "cancelled"
    assert set(Run.objects.values_list("state", flat=True)) == {"cancelled"}


def test_runs_that_ended_well_are_forgotten_after_days(workspace):
    """Failed ones stay until somebody has seen to them."""
    long_ago = timezone.now() - timedelta(days=3)
    for number, state in enumerate(("done", "noop", "failed")):
        runs.finish(runs.claim(ask(workspace, f"import:{number}").uid), state, {})
    Run.objects.update(finished_at=long_ago)
    runs.finish(runs.claim(ask(workspace, "import:new").uid), "done", {})
    runs.forget_old()
    assert sorted(Run.objects.values_list("state", flat=True)) == ["done", "failed"]
