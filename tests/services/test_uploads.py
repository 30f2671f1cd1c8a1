"""Bytes that somebody sends: limited, kept under a name of ours, gone once they are imported."""

import os
import time
from pathlib import Path

import pytest
from django.conf import settings as live

from contextlab.services import uploads
from contextlab.services.actions import perform
from contextlab.services.uploads import UploadTooLarge, accept_upload
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import LogFile, Run, Session, View
from tests.services.doing import raw
from tests.services.test_ingest import busy_log

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.UPLOAD_DIR = tmp_path
    return tmp_path


def send(data, name="session.jsonl"):
    return accept_upload(local_workspace(), name, [data[:100], data[100:]])


def test_an_upload_is_imported_and_its_file_removed(folder):
    """The segments are the copy."""
    data = busy_log().data
    run = send(data)
    (kept,) = folder.iterdir()
    assert kept.name != "session.jsonl"
    perform(run)
    run.refresh_from_db()
    assert (run.state, list(folder.iterdir())) == ("done", [])
    session = Session.objects.get()
    assert (session.file.name, session.file.path, session.file.origin) == ("session.jsonl", "", "upload")
    assert raw(session.file) == data


def test_the_same_bytes_twice_are_one_file(folder):
    """Under whatever name."""
    data = busy_log().data
    perform(send(data))
    again = send(data, "other name.jsonl")
    perform(again)
    again.refresh_from_db()
    assert (again.state, LogFile.objects.count(), Session.objects.count()) == ("noop", 1, 1)
    assert list(folder.iterdir()) == []


def test_the_same_bytes_sent_again_before_they_are_read_are_one_run(folder):
    """A nervous double click."""
    data = busy_log().data
    assert send(data).pk == send(data).pk
    assert len(list(folder.iterdir())) == 1


def test_two_uploads_of_one_name_are_two_files():
    """`messages.json` lies in many folders."""
    perform(send(busy_log(session="3f2c9a1e-0000-4000-8000-000000000001").data, "log.jsonl"))
    perform(send(busy_log(session="3f2c9a1e-0000-4000-8000-000000000002").data, "log.jsonl"))
    assert (LogFile.objects.count(), Session.objects.count()) == (2, 2)


def test_a_longer_upload_of_a_session_takes_it_over():
    """The older upload holds nothing that the newer does not: it goes."""
    lines = busy_log(session="3f2c9a1e-0000-4000-8000-000000000001").data.splitlines(keepends=True)
    perform(send(b"".join(lines[:9])))
    perform(send(b"".join(lines)))
    session = Session.objects.get()
    assert raw(session.file) == b"".join(lines)
    assert LogFile.objects.count() == 1


def test_too_large_an_upload_is_refused_with_the_limit(settings, folder):
    """And leaves nothing behind."""
    settings.MAX_UPLOAD_BYTES = 3 * 1024 * 1024
    with pytest.raises(UploadTooLarge, match=r"big\.jsonl.* 3 MB"):
        accept_upload(local_workspace(), "big.jsonl", (b"x" * 1024 * 1024 for _ in range(10)))
    assert list(folder.iterdir()) == []
    assert not Run.objects.exists()
    assert not LogFile.objects.exists()


def test_an_upload_that_cannot_be_read_is_removed_too(folder):
    """The reason stays."""
    run = send(b"not a log")
    perform(run)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "unknown format" in run.error
    assert list(folder.iterdir()) == []


def test_an_upload_whose_bytes_are_gone_says_so():
    """A worker died three times over it, and somebody asks again a day later."""
    from contextlab.services import imports

    perform(send(busy_log().data))
    run, _ = imports.request(LogFile.objects.get())
    perform(run)
    run.refresh_from_db()
    assert (run.state, Session.objects.count()) == ("failed", 1)
    assert "upload it once more" in run.error
    assert LogFile.objects.get().error == ""


@pytest.mark.parametrize("at", ["_settle", "_outcome"])
def test_an_upload_survives_a_worker_that_dies_behind_its_last_row(monkeypatch, folder, at):
    """The bytes are kept until nobody can need them, and not needed once they are gone."""
    from contextlab.services import imports

    run = send(busy_log().data)
    monkeypatch.setattr(imports, at, lambda *_: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        perform(run)
    monkeypatch.undo()
    Run.objects.update(state="queued", finished_at=None)
    perform(run)
    run.refresh_from_db()
    assert run.state in ("done", "noop"), run.error
    assert View.objects.get().steps == Session.objects.get().steps
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("..", "upload"),
        (".", "upload"),
        ("", "upload"),
        ("a\\b\\c.jsonl", "a/b/c.jsonl"),
        ("nu\x00l\u202e.jsonl", "nu\u2400l.jsonl"),
        ("s1/subagents/agent-x.jsonl", "s1/subagents/agent-x.jsonl"),
        ("<img src=x>.jsonl", "<img src=x>.jsonl"),
    ],
)
def test_names_lead_nowhere(name, shown):
    """They are shown and tell subagents from sessions, nothing else."""
    assert uploads.display_name(name) == shown


def test_what_a_killed_server_left_is_removed_after_a_day(folder):
    """Nobody waits for it."""
    run = send(busy_log().data)
    (wanted,) = folder.iterdir()
    left = folder / "left"
    left.write_bytes(b"x")
    for path in (wanted, left):
        os.utime(path, (time.time() - 2 * 86400,) * 2)
    uploads.discard_left_behind()
    assert list(folder.iterdir()) == [wanted]
    perform(run)
    assert Session.objects.exists()


def test_the_upload_folder_is_inside_the_data_folder():
    """Everything lies under one directory."""
    assert (
        Path(live.DATA_DIR) in Path(os.environ["CONTEXTLAB_DATA"]).parents
        or str(live.DATA_DIR) == os.environ["CONTEXTLAB_DATA"]
    )
