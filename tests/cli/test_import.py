"""`contextlab import`: logs into the database, in this process, with a summary people can read."""

import sys

import pytest

from contextlab.cli import main
from contextlab.services import runs
from contextlab.store.models import ItemRecord, LogFile, Run, Session, View, WatchedFolder
from tests.services.test_ingest import busy_log

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def folder(tmp_path):
    """Two sessions and a file that is no log."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(busy_log(turns=2, session=name).data)
    (tmp_path / "diary.json").write_text("Dear diary")
    return tmp_path


def test_a_folder_is_imported_and_summarised(folder, capsys):
    """The summary on standard output, what went wrong beside it."""
    assert main(["import", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert out == "3 files: 2 imported, 1 failed; 2 sessions, 0 subagents, 22 new items\n"
    assert "diary.json: unknown format" in err
    assert Session.objects.count() == 2
    assert not View.objects.filter(counted=False).exists()


def test_a_second_time_finds_nothing_to_do(folder, capsys):
    """Only what failed is tried again."""
    main(["import", str(folder)])
    capsys.readouterr()
    assert main(["import", str(folder)]) == 0
    assert capsys.readouterr().out == "3 files: 2 unchanged, 1 failed\n"


def test_nothing_that_can_be_read_is_exit_code_3(folder, capsys):
    """And the reasons are said, each file's own and what is supported once."""
    assert main(["import", str(folder / "diary.json"), str(folder / "nothing.jsonl")]) == 3
    err = capsys.readouterr().err
    assert "nothing.jsonl: there is no such file" in err
    assert err.count("Supported:") == 1


@pytest.mark.parametrize("missing", ["nothing.jsonl", "nowhere/"])
def test_a_path_that_is_missing_is_exit_code_2_after_the_rest_was_read(folder, capsys, missing):
    """A typing error in a script is noticed, says which path it was, and costs none of the other files."""
    assert main(["import", str(folder / missing), str(folder / "a.jsonl")]) == 2
    out, err = capsys.readouterr()
    assert f"{missing.rstrip('/')}: there is no such file" in err
    assert out.startswith("2 files: 1 imported, 1 failed; 1 session")
    assert Session.objects.count() == 1
    assert main(["import", str(folder / "a.jsonl"), str(folder / "diary.json")]) == 0


def test_wrong_usage_is_exit_code_2(capsys):
    """Argparse's own."""
    with pytest.raises(SystemExit) as caught:
        main(["import"])
    assert caught.value.code == 2
    assert "PATH" in capsys.readouterr().err


def test_nothing_stays_queued_unless_counting_is_left_to_a_worker(folder):
    """With --no-count a worker finds its run."""
    main(["import", str(folder / "a.jsonl")])
    assert not Run.objects.filter(state="queued").exists()
    main(["import", "--no-count", str(folder / "b.jsonl")])
    assert list(Run.objects.filter(state="queued").values_list("kind", flat=True)) == ["count"]
    assert ItemRecord.objects.filter(tokens=None).exists()


def test_an_import_that_died_is_taken_over(folder):
    """Its run is claimed once its lease has run out."""
    main(["import", str(folder / "a.jsonl")])
    LogFile.objects.update(sha256="", mtime_ns=None)
    from contextlab.services import imports

    run, _ = imports.request(LogFile.objects.get())
    runs.claim(run.uid)
    Run.objects.filter(pk=run.pk).update(lease_until=run.created_at)
    assert main(["import", str(folder / "a.jsonl")]) == 0
    run.refresh_from_db()
    assert (run.state, run.attempts) == ("noop", 2)


def test_folders_can_be_watched_from_then_on(folder):
    """`--watch` is for folders."""
    main(["import", "--watch", str(folder)])
    assert WatchedFolder.objects.get().path == str(folder)


def test_a_terminal_sees_a_bar(folder, capsys, monkeypatch):
    """Others see none."""
    main(["import", str(folder / "a.jsonl")])
    assert "\r" not in capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main(["import", str(folder / "b.jsonl")])
    assert "1/1 files" in capsys.readouterr().err
