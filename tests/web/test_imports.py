"""Taking logs in through the pages: uploads, and the scan of this machine's log folders."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from contextlab.services import actions
from contextlab.store.models import LogFile, Run, RunState, Session
from tests.factories import a_session
from tests.web.pages import read

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}


def a_log(prompt: str = "Fix the test") -> bytes:
    """A Claude Code transcript of one prompt and one answer."""
    base = {
        "sessionId": "8d1c",
        "cwd": "/src/acme",
        "gitBranch": "main",
        "version": "2.1.0",
        "isSidechain": False,
    }
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 90,
        "output_tokens": 5,
    }
    answer = {
        "id": "msg_1", "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": "end_turn", "usage": usage,
        "content": [{"type": "text", "text": "Done."}],
    }  # fmt: skip
    records = [
        base | {"type": "user", "uuid": "u1", "parentUuid": None, "timestamp": "2026-01-20T10:00:00Z",
                "message": {"role": "user", "content": prompt}},
        base | {"type": "assistant", "uuid": "a1", "parentUuid": "u1", "timestamp": "2026-01-20T10:00:05Z",
                "message": answer},
    ]  # fmt: skip
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def send(client: Client, *files: tuple[str, bytes], headers: dict[str, str] | None = None) -> Any:
    """Post files as upload.js does: the place below the folder beside each."""
    body = {
        "files": [SimpleUploadedFile(name.rsplit("/", 1)[-1], content) for name, content in files],
        "path": [name for name, _ in files],
    }
    return client.post("/imports", body, headers=JSON if headers is None else headers)


def test_an_upload_becomes_a_session(client: Client) -> None:
    """Queued at once, and on the page as soon as it was read."""
    answer = send(client, ("acme/8d1c.jsonl", a_log()))
    assert answer.status_code == 202
    run = Run.objects.get(uid=answer.json()["runs"][0])
    actions.perform(run)
    run.refresh_from_db()
    assert run.state == RunState.DONE
    assert "Fix the test" in read(client.get("/")).text
    assert LogFile.objects.get().relative == "acme/8d1c.jsonl"


def test_a_form_without_script(client: Client) -> None:
    """The browser is sent to the list."""
    answer = send(client, ("a.jsonl", a_log()), headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/")


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "a\\..\\b.jsonl", "\x00", "", "x" * 3000, "‮.jsonl", "..."]
)
def test_names_lead_nowhere(client: Client, name: str) -> None:
    """A name is a label: no step upwards, no control characters, never longer than its column."""
    body = {"files": SimpleUploadedFile("f.jsonl", a_log()), "path": name}
    assert client.post("/imports", body, headers=JSON).status_code == 202
    file = LogFile.objects.get()
    assert ".." not in file.relative.split("/")
    assert not file.relative.startswith("/")
    assert "\x00" not in file.relative


def test_nothing_sent(client: Client) -> None:
    """Says so; never a 500."""
    answer = client.post("/imports", {}, headers=JSON)
    assert (answer.status_code, answer.json()) == (400, {"error": "No file was sent."})
    assert "No file was sent." in read(client.post("/imports", {}), 400).text
    assert client.get("/imports").status_code == 405


def test_too_large(client: Client, settings: Any) -> None:
    """The limit is in the message, and nothing stays behind."""
    settings.MAX_UPLOAD_BYTES = 2 * 1024 * 1024
    small = SimpleUploadedFile("small.jsonl", a_log())
    large = SimpleUploadedFile("large.jsonl", b"x" * (2 * 1024 * 1024 + 1))
    settings.MAX_UPLOAD_BYTES = 2 * 1024 * 1024
    answer = client.post("/imports", {"files": [small, large]}, headers=JSON)
    assert answer.status_code == 413
    assert "2 MB" in answer.content.decode()


@pytest.mark.parametrize(
    "content", [b"", b"\x00\x01\x02", b"plain words", b"{}", b"[[[[", b"\xff\xfe{", b"[" * 100_000]
)
def test_whatever_is_sent_is_answered(client: Client, content: bytes) -> None:
    """What cannot be read ends as a report that says why."""
    answer = send(client, ("notes.txt", content))
    assert answer.status_code == 202
    run = Run.objects.get(uid=answer.json()["runs"][0])
    actions.perform(run)
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    (link,) = read(client.get("/activity")).all("a", _class="link")
    page = read(client.get(link["href"]))
    assert "It could not be read." in page.text
    assert "notes.txt" in page.text


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with two Claude Code sessions, one of them years old; Codex has none."""
    folder = tmp_path / ".claude" / "projects" / "-src-acme"
    folder.mkdir(parents=True)
    (folder / "8d1c.jsonl").write_bytes(a_log())
    old = folder / "0ld.jsonl"
    old.write_bytes(a_log("Long ago").replace(b"8d1c", b"0ld0"))
    os.utime(old, (1_600_000_000, 1_600_000_000))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / ".codex"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder


def test_the_first_page_offers_what_lies_here(client: Client, logs: Path) -> None:
    """How many sessions, how large, that nothing leaves the machine, and how to add others."""
    page = read(client.get("/"))
    assert "Nothing leaves this machine" in page.text
    assert str(logs.parent) in page.text
    assert "Read the last seven days" in page.text
    assert "contextlab import PATH" in page.text
    assert page.all("input", type="file")


def test_the_first_page_where_nothing_lies(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Says where it looked, and what to do next."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    page = read(client.get("/"))
    assert "No logs of Claude Code or Codex were found" in page.text
    assert not page.all("form", action="/scan")


def test_the_offer_stands_above_samples_until_a_session_of_ones_own_is_here(
    client: Client, logs: Path
) -> None:
    """The samples of the first start do not hide it."""
    a_session(sample=True)
    assert "Your own sessions" in read(client.get("/")).text
    a_session()
    assert "Your own sessions" not in read(client.get("/")).text
    assert "Read the last seven days" in read(client.get("/scan")).text


def test_scanning(client: Client, logs: Path) -> None:
    """The answer is the panel of what goes on; each session is there once its file was read."""
    page = read(client.post("/scan", headers={"HX-Request": "true"}))
    assert "looking through this machine's logs" in page.text.lower()
    while waiting := list(Run.objects.filter(state=RunState.QUEUED)):
        actions.perform(waiting[0])
    assert Session.objects.count() == 1
    page = read(client.get("/activity"))
    assert "1 of 1 files" in page.text
    assert "1 older session…" in page.text
    client.post("/scan", {"rest": "1"})
    while waiting := list(Run.objects.filter(state=RunState.QUEUED)):
        actions.perform(waiting[0])
    assert Session.objects.count() == 2
    assert "older session" not in read(client.get("/activity")).text
    assert client.post("/scan").headers["Location"] == "/"


def test_a_server_for_others_scans_nothing(client: Client, settings: Any, logs: Path) -> None:
    """In server mode the machine's own logs are not the visitors' business."""
    settings.LOCAL = False
    assert client.post("/scan").status_code == 404
    assert client.get("/scan").status_code == 404
    assert "Scan this machine" not in read(client.get("/")).text
