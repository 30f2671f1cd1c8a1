"""Health is work that gets done, not a process that exists; periodic work is done by one."""

from datetime import timedelta

import pytest
from django.utils import timezone

from contextlab.services import health, periodic, runs
from contextlab.services.periodic import Periodic
from contextlab.services.runs import Priority
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import Lease, Run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def queued(age, key="import:1", **values):
    run = runs.request(local_workspace(), "import", key, **values)[0]
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(seconds=age))
    return run


def test_a_beating_worker_and_no_queue_is_healthy():
    """Nothing to do is fine."""
    health.beat()
    assert health.check() == health.Health(True, (), None, pytest.approx(0, abs=5))


def test_a_silent_worker_is_not_healthy():
    """A process may exist and do nothing."""
    assert not health.check().ok
    health.beat(timezone.now() - timedelta(seconds=100))
    found = health.check()
    assert not found.ok
    assert "100 s" in found.reasons[0]


def test_a_worker_that_is_busy_for_long_is_healthy():
    """A lease that is renewed is a sign of life, too."""
    runs.claim(queued(5).uid)
    assert health.check().ok


def test_a_run_that_waits_too_long_is_not_healthy():
    """A worker that beats and takes nothing."""
    health.beat()
    queued(59)
    assert health.check().ok
    queued(61, "import:2")
    assert "61 s" in health.check().reasons[0]


def test_the_files_of_a_scan_may_wait_while_others_are_read():
    """A large tree takes its time."""
    health.beat()
    queued(500, "import:2", priority=Priority.FOUND)
    assert not health.check().ok
    runs.claim(queued(1).uid)
    assert health.check().ok


def test_a_run_that_rests_after_a_failure_does_not_wait():
    """It was told to."""
    health.beat()
    run = queued(500)
    Run.objects.filter(pk=run.pk).update(not_before=timezone.now() + timedelta(seconds=20))
    assert health.check().ok


def test_only_the_holder_of_the_lease_does_periodic_work():
    """Two workers do not ring twice; when one dies the other takes over."""
    now = timezone.now()
    one, other = Periodic("one"), Periodic("other")
    run = queued(1)
    assert [found.pk for found in one.tick(now).runs] == [run.pk]
    assert other.tick(now) == periodic.Due()
    late = now + timedelta(seconds=60)
    assert [found.pk for found in other.tick(late).runs] == [run.pk]
    assert one.tick(late) == periodic.Due()
    assert Lease.objects.get(name="periodic").holder == "other"


def test_the_heartbeat_is_rung_now_and_then():
    """Three times a minute."""
    now = timezone.now()
    worker = Periodic("one")
    beats = [worker.tick(now + timedelta(seconds=second)).beat for second in range(41)]
    assert beats.count(True) == 3


def test_one_kind_of_work_that_fails_does_not_keep_the_others_back(monkeypatch, caplog):
    """A folder that cannot be read must not stop the reaper."""
    monkeypatch.setattr(periodic.Watcher, "look", lambda *_: 1 / 0)
    run = queued(1)
    assert [found.pk for found in Periodic("one").tick().runs] == [run.pk]
    assert "watch" in caplog.text
