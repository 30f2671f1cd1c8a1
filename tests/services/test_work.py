"""Doing a run: it ends whatever happens, its lease is kept alive, and two at once do it once."""

import threading
import time
from datetime import timedelta

import pytest
from django.db import connection

from contextlab.services import imports, runs
from contextlab.services.actions import perform
from contextlab.services.runs import Lost, Refused
from contextlab.services.work import Outcome, execute
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import ItemRecord, LogFile, Run, Session
from tests.services.doing import counts, import_path
from tests.services.test_ingest import busy_log


def queued():
    return runs.request(local_workspace(), "import", "import:1")[0]


def after(action):
    """The run after it was done with this action."""
    run = queued()
    execute(run.uid, action)
    run.refresh_from_db()
    return run


@pytest.mark.django_db
def test_an_outcome_becomes_the_end_of_the_run():
    """State and result are the service's own."""
    run = after(lambda _: Outcome("noop", {"sessions": []}))
    assert (run.state, run.result, run.idempotency_key) == ("noop", {"sessions": []}, None)


@pytest.mark.django_db
def test_a_refusal_is_final_and_an_accident_is_tried_again(caplog):
    """Who asked for the impossible gets the reason; what may pass gets another chance."""

    def refuse(_):
        raise Refused("This file is a picture.")

    def break_down(_):
        raise OSError("disk on fire")

    refused = after(refuse)
    assert (refused.state, refused.error) == ("failed", "This file is a picture.")
    broken = after(break_down)
    assert (broken.state, broken.error, broken.attempts) == ("queued", "OSError: disk on fire", 1)
    assert "disk on fire" in caplog.text


@pytest.mark.django_db
def test_a_run_that_was_taken_over_is_left_alone():
    """Its new holder decides how it ends."""

    def lose(work):
        Run.objects.filter(pk=work.run.pk).update(token=None)
        raise Lost

    assert after(lose).state == "running"


@pytest.mark.django_db
def test_breaking_off_on_the_command_line_leaves_no_run_behind():
    """Ctrl-C: nobody has to wait for the lease to end."""

    def interrupt(_):
        raise KeyboardInterrupt

    run = queued()
    with pytest.raises(KeyboardInterrupt):
        execute(run.uid, interrupt)
    run.refresh_from_db()
    assert run.state == "cancelled"


@pytest.mark.django_db
def test_work_that_is_not_ours_is_not_done():
    """A bell that rings twice."""
    run = queued()
    runs.claim(run.uid)
    assert execute(run.uid, lambda _: pytest.fail("done twice")) == []


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_the_lease_is_renewed_while_nothing_progresses(monkeypatch):
    """One line may take a minute: the heartbeat does not depend on it."""
    monkeypatch.setattr(runs, "LEASE", timedelta(seconds=0.9))
    seen = []

    def slow(work):
        time.sleep(1.5)
        seen.append(runs.claim(work.run.uid))
        return Outcome()

    assert after(slow).state == "done"
    assert seen == [None], "somebody else could claim it"


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_two_imports_of_one_file_at_once_are_one_import(tmp_path):
    """Whatever the two find, the rows are there once."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    local_workspace()
    states, errors = [], []
    together = threading.Barrier(4)

    def import_it():
        try:
            together.wait()
            states.append(import_path(path).state)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=import_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    for run in Run.objects.filter(state="queued"):
        perform(run)
    assert (LogFile.objects.count(), Session.objects.count()) == (1, 1)
    before = counts()
    assert ItemRecord.objects.count() == Session.objects.get().items
    assert import_path(path).state == "noop"
    assert counts() == before


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_nothing_is_committed_for_a_run_that_was_lost(tmp_path, monkeypatch):
    """The token is checked inside the transaction of every batch."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    (run,) = imports.queue_paths(local_workspace(), [path])
    examine = imports.examine

    def taken_over(file, source):
        Run.objects.update(token=None)
        return examine(file, source)

    monkeypatch.setattr(imports, "examine", taken_over)
    perform(run)
    assert counts() == {name: int(name == "LogFile") for name in counts()}
