"""The logs on this machine: surveyed by names and sizes, imported newest first, then watched."""

import os
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from contextlab.services import imports, scan, sessions, watching
from contextlab.services.actions import perform
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import LogFile, Run, Session, WatchedFolder
from tests.services.doing import import_path
from tests.services.test_ingest import busy_log

pytestmark = [pytest.mark.django_db, pytest.mark.database]

DAY = 86_400


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder with three Claude Code sessions of 1, 3 and 30 days ago, and one subagent."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / ".codex"))
    project = tmp_path / ".claude" / "projects" / "-home-dev-shop"
    project.mkdir(parents=True)
    for name, age in (("a", 3), ("b", 1), ("c", 30)):
        write(project / f"{name}.jsonl", age, session=name)
    agent = project / "a" / "subagents" / "agent-x.jsonl"
    agent.parent.mkdir(parents=True)
    write(agent, 3.01, session="a")
    return project


def write(path, age, turns=2, session="a"):
    path.write_bytes(busy_log(turns=turns, session=session).data)
    os.utime(path, (time.time() - age * DAY,) * 2)


def run_all():
    """What workers would do until nothing waits; returns the names of files in the order in which they were read."""
    names = []
    while (run := Run.objects.filter(state="queued").order_by("priority", "id").first()) is not None:
        perform(run)
        if run.kind == "import":
            names.append(LogFile.objects.get(uid=run.target).name)
    return names


def test_a_survey_reads_nothing_and_says_how_much_there_is(home):
    """How many sessions, how large, and how many of the last week."""
    (found,) = scan.survey()
    assert (found["label"], found["path"]) == ("Claude Code", str(home.parent))
    assert (found["files"], found["sessions"], found["sessions_recent"]) == (4, 3, 2)
    assert 0 < found["bytes_recent"] < found["bytes"]
    assert not LogFile.objects.exists()


def test_nothing_on_this_machine_is_an_empty_survey(tmp_path, monkeypatch):
    """No agent was ever used here."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "nothing"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "nothing"))
    assert scan.survey() == []


def test_a_scan_imports_the_last_week_newest_first(home):
    """The rest waits until somebody asks for it."""
    run = scan.start_scan(local_workspace())
    assert scan.start_scan(local_workspace()).pk == run.pk
    assert run_all() == ["b.jsonl", "a.jsonl", "agent-x.jsonl"]
    run.refresh_from_db()
    assert (run.state, run.done, run.total) == ("done", 3, 3)
    assert scan.progress(run)["bytes_done"] == run.result["bytes"] > 0
    assert Session.objects.filter(role="").count() == 2
    rest = scan.start_scan(local_workspace(), rest=True)
    assert run_all() == ["c.jsonl"]
    rest.refresh_from_db()
    assert rest.state == "done"


def test_a_scan_that_finds_nothing_new_ends_at_once(home):
    """A second click."""
    scan.start_scan(local_workspace())
    run_all()
    run = scan.start_scan(local_workspace())
    assert run_all() == []
    run.refresh_from_db()
    assert (run.state, run.total) == ("done", 0)


def test_a_stopped_scan_keeps_what_landed_and_nothing_brings_the_rest_back(home):
    """Neither the reaper nor the watched folder goes on with it."""
    run = scan.start_scan(local_workspace())
    perform(run)
    perform(Run.objects.filter(kind="import").order_by("id").first())
    scan.stop_scan(run)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert Session.objects.count() == 1
    assert watching.Watcher().look() == []
    watching.forget_unread()
    assert LogFile.objects.count() == 1


def test_one_file_can_be_skipped(home):
    """The scan goes on with the next."""
    run = scan.start_scan(local_workspace())
    perform(run)
    first = Run.objects.filter(kind="import").order_by("id").first()
    from contextlab.services import runs

    claim = runs.claim(first.uid)
    scan.skip_current(run)
    with pytest.raises(runs.Cancelled):
        runs.progress(claim, done=1)
    runs.finish(claim, "cancelled", {})
    assert run_all() == ["a.jsonl", "agent-x.jsonl"]
    run.refresh_from_db()
    assert run.state == "done"


def test_a_watched_folder_is_followed(home):
    """Known logs that grew and new ones are read; what did not change costs no run."""
    scan.start_scan(local_workspace())
    run_all()
    assert WatchedFolder.objects.get().enabled
    watcher = watching.Watcher()
    later = timezone.now() + timedelta(minutes=1)
    assert watcher.look(later) == []
    write(home / "b.jsonl", 0, turns=3, session="b")
    write(home / "new.jsonl", -1, session="new")
    watcher.look(later)
    assert sorted(run_all()) == ["b.jsonl", "new.jsonl"]
    assert watcher.look(later) == []
    assert not Session.objects.filter(native_id="c").exists(), "older than the watch, and nobody asked for it"


def test_a_large_log_rests_between_two_readings(home):
    """It is read from its start each time."""
    path = home / "b.jsonl"
    import_path(path)
    imports.watch_folder(local_workspace(), home)
    write(path, 0, turns=3, session="b")
    monkey = watching.BYTES_PER_SECOND
    try:
        watching.BYTES_PER_SECOND = 100
        assert watching.Watcher().look() == []
        assert len(watching.Watcher().look(timezone.now() + timedelta(hours=1))) == 1
    finally:
        watching.BYTES_PER_SECOND = monkey


def test_a_folder_that_is_not_watched_any_more_is_left_alone(home):
    """A person switched it off."""
    import_path(home / "b.jsonl")
    imports.watch_folder(local_workspace(), home)
    WatchedFolder.objects.update(enabled=False)
    write(home / "b.jsonl", 0, turns=3, session="b")
    assert watching.Watcher().look(timezone.now() + timedelta(hours=1)) == []


def test_a_deleted_session_is_not_brought_back_by_watching(home):
    """Only asking for the file brings it back."""
    import_path(home / "b.jsonl")
    imports.watch_folder(local_workspace(), home)
    sessions.delete_session(Session.objects.get())
    write(home / "b.jsonl", 0, turns=3, session="b")
    assert watching.Watcher().look(timezone.now() + timedelta(hours=1)) == []
    scan.start_scan(local_workspace(), rest=True)
    assert "b.jsonl" not in run_all()
    import_path(home / "b.jsonl")
    assert Session.objects.filter(native_id="b").exists()


def test_a_log_that_vanished_keeps_its_session(home):
    """Claude Code removes its logs after a month: then this is the only copy."""
    import_path(home / "b.jsonl")
    (home / "b.jsonl").unlink()
    watching.note_vanished()
    file = LogFile.objects.get()
    assert file.missing_since is not None
    assert Session.objects.count() == 1
    write(home / "b.jsonl", 0, session="b")
    watching.note_vanished()
    file.refresh_from_db()
    assert file.missing_since is None
