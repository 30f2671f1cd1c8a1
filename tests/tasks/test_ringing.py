"""The bell: rung after the commit, and its absence costs nothing but time."""

import pytest
from celery import current_app

from contextlab.services import runs
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import Run
from contextlab.tasks import ring
from contextlab.tasks.ringing import TASKS, ring_heartbeat

pytestmark = pytest.mark.django_db


@pytest.fixture
def rung(monkeypatch):
    """What was sent, instead of sending it."""
    sent = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args=None, **_: sent.append((name, args)))
    return sent


def queued(number=1):
    return [runs.request(local_workspace(), "import", f"import:{place}")[0] for place in range(number)]


def test_a_message_carries_nothing_but_the_id(rung, django_capture_on_commit_callbacks):
    """No path, no text, no secret goes through the broker."""
    (run,) = queued()
    with django_capture_on_commit_callbacks(execute=True):
        ring([run])
        assert rung == [], "not before the commit"
    assert rung == [("contextlab.import", [run.uid.hex])]
    run.refresh_from_db()
    assert run.rung_at is not None


def test_a_broker_that_is_down_is_logged_and_the_reaper_rings(
    monkeypatch, caplog, django_capture_on_commit_callbacks
):
    """Committed work is no error."""

    def refuse(*_, **__):
        raise ConnectionRefusedError("nobody listens at port 6379")

    monkeypatch.setattr(current_app, "send_task", refuse)
    made = queued(2)
    with django_capture_on_commit_callbacks(execute=True):
        ring(made)
    assert "2 runs wait" in caplog.text
    ring_heartbeat()
    assert not Run.objects.filter(rung_at__isnull=False).exists()
    assert [run.pk for run in runs.reap()] == [run.pk for run in made]


def test_of_many_runs_only_the_first_are_rung(rung, django_capture_on_commit_callbacks):
    """The others are rung as these end."""
    made = queued(50)
    with django_capture_on_commit_callbacks(execute=True):
        ring([*made, *made])
    assert len(rung) == runs.window()
    assert len({args[0] for _, args in rung}) == runs.window()


def test_every_kind_of_run_has_a_task():
    """Also the next one that somebody adds."""
    assert set(TASKS) == set(Run.Kind)
    assert set(TASKS.values()) <= set(current_app.tasks)
