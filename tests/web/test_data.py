"""The data page, deleting, and /health."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest
from django.db import OperationalError
from django.test import Client

from contextlab.services import health, watching
from contextlab.store.models import LogFile, Run, Session, WatchedFolder
from tests.factories import NOW, a_file, a_run, a_segment, a_session, a_workspace
from tests.web.pages import read
from tests.web.test_imports import a_log

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_the_page_says_where_everything_lies(client: Client, settings: object) -> None:
    """Folder and size, what it holds, what is watched, what could not be read."""
    a_session(file=a_file(size=5_000_000))
    a_file(name="gone.jsonl", missing_since=NOW)
    a_file(name="bad.txt", error="bad.txt: unknown format")
    WatchedFolder.objects.create(
        workspace=a_workspace(), path="/home/ada/.claude/projects", label="Claude Code"
    )
    text = read(client.get("/data")).text
    for words in (
        "Data folder",
        str(settings.DATA_DIR),
        "5.0 MB",
        "/home/ada/.claude/projects",
        "watched",
        "bad.txt",
    ):
        assert words in text
    assert "1 log here is the only copy" in text
    assert "o200k_base" in text


def test_watching_is_switched_off_and_on(client: Client, tmp_path: Path) -> None:
    """Off means that nothing in the folder is read; what changed meanwhile is read once it is on again."""
    folder = WatchedFolder.objects.create(workspace=a_workspace(), path=str(tmp_path), label="Claude Code")
    watcher = watching.Watcher()
    address = f"/data/watched/{folder.pk}"
    assert client.post(address, {"watch": "off"}).headers["Location"] == "/data"
    page = read(client.get("/data"))
    assert page.all("button", aria_label=f"Watch {tmp_path}")
    (tmp_path / "new.jsonl").write_bytes(a_log("Fix it"))
    assert watcher.look() == []
    client.post(address, {"watch": "on"})
    assert page.all("form", action=address)
    assert len(watcher.look()) == 1
    assert client.post("/data/watched/99999999999999999999", {"watch": "on"}).status_code == 404
    assert client.get(address).status_code == 405


def test_an_empty_installation(client: Client) -> None:
    """Nothing there is said, too."""
    assert "None." in read(client.get("/data")).text


@pytest.mark.parametrize("typed", ["", "delete", "DELETE EVERYTHING!", "\x00"])
def test_everything_is_deleted_only_by_its_words(client: Client, typed: str) -> None:
    """Anything else is refused, and says that nothing was deleted."""
    a_session()
    page = read(client.post("/data/delete", {"confirm": typed}), 400)
    assert "Nothing was deleted" in page.text
    assert Session.objects.count() == 1


def test_deleting_everything(client: Client) -> None:
    """Sessions, logs, runs and watching are gone; the first page comes up."""
    file = a_file()
    a_segment(file, b"x"), a_session(file=file), a_run()
    WatchedFolder.objects.create(workspace=a_workspace(), path="/p", label="p")
    answer = client.post("/data/delete", {"confirm": " Delete Everything "})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
    for table in (Session, LogFile, Run, WatchedFolder):
        assert table.objects.count() == 0
    assert client.get("/data/delete").status_code == 405


def test_deleting_a_session_asks_first(client: Client) -> None:
    """As a page, and as a dialog's content; then it is gone and its subagents with it."""
    session = a_session(title="Old thing", file=a_file(), subagents=1)
    a_session(role="subagent", parent=session)
    other = a_session()
    address = f"/sessions/{session.uid}/delete"
    page = read(client.get(address))
    assert "Old thing" in page.text
    assert "stays where it is" in page.text
    assert b"<html" not in client.get(address, headers={"HX-Request": "true"}).content
    assert Session.objects.count() == 3
    assert client.post(address).headers["Location"] == "/"
    assert list(Session.objects.all()) == [other]
    assert client.post(address).status_code == 404


def test_deleting_the_only_copy_is_said(client: Client) -> None:
    """What cannot be read again is worth a warning."""
    session = a_session(file=a_file(missing_since=NOW))
    assert "this is the only copy" in read(client.get(f"/sessions/{session.uid}/delete")).text


def test_a_deleted_file_can_be_asked_for_again(client: Client) -> None:
    """Its report stays with a note; reading it again is one click."""
    file = a_file(forgotten_at=NOW, report={})
    page = read(client.get(f"/files/{file.uid}"))
    assert "Its sessions were deleted here" in page.text
    assert client.post(f"/files/{file.uid}/reread").headers["Location"] == f"/files/{file.uid}"
    assert Run.objects.get().target == file.uid.hex


def test_health(client: Client) -> None:
    """503 with the reasons while no worker gave a sign of life, 200 once it did."""
    answer = client.get("/health")
    assert answer.status_code == 503
    assert "No worker has given a sign of life" in answer.json()["reasons"][0]
    health.beat()
    answer = client.get("/health")
    assert (answer.status_code, answer.json()["ok"]) == (200, True)
    assert answer.json()["oldest_queued"] is None


def test_health_without_a_database(client: Client) -> None:
    """Answered, not raised."""
    with patch("contextlab.services.health.check", side_effect=OperationalError("password is hunter2")):
        answer = client.get("/health")
    assert answer.status_code == 503
    assert b"hunter2" not in answer.content
