"""The import report: what reading a file came to, and the bytes that are kept of it."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import NOW, a_file, a_run, a_segment, a_session
from tests.web.pages import read

pytestmark = pytest.mark.django_db


def test_a_report_says_everything_about_reading(client: Client) -> None:
    """Counts, what was skipped with place and reason, types, warnings, what such a log cannot contain."""
    report = {
        "lines": 1204, "skipped": [[17, "not JSON: unexpected end"]], "skipped_total": 301, "merged": 44,
        "unknown_types": {"hologram": 4}, "ignored_types": {"progress": 88}, "warnings": ["2 results have no call"],
        "cannot_contain": ["The system prompt is not in it."],
    }  # fmt: skip
    file = a_file(name="7f3c.jsonl", report=report)
    session = a_session(file=file, title="What stands in it")
    page = read(client.get(f"/files/{file.uid}"))
    for words in (
        "1,204", "17", "not JSON: unexpected end", "301, the first 1", "hologram", "progress", "2 results have no call",
        "The system prompt is not in it.", "Claude Code", "4.1 KB", file.path, file.sha256, "What stands in it",
    ):  # fmt: skip
        assert words in page.text
    assert page.all("a", href=f"/sessions/{session.uid}")


def test_an_unknown_format(client: Client) -> None:
    """The guess, the formats supported, and the events format: the importer's own words."""
    file = a_file(
        format="", error="notes.txt: unknown format: it looks like plain text.", sha256="", report={}
    )
    page = read(client.get(f"/files/{file.uid}"))
    assert "it looks like plain text" in page.text
    assert "It could not be read." in page.text
    assert "unknown format" in page.text


def test_a_file_that_was_never_read(client: Client) -> None:
    """Counts are unknown, not 0."""
    file = a_file(imported_at=None, sha256="")
    file.report = {}
    file.save()
    page = read(client.get(f"/files/{file.uid}"))
    assert "lines read unknown" in page.text
    assert "Nothing was read yet." in page.text
    assert "never" in page.text


def test_a_file_whose_sessions_are_held_from_another(client: Client) -> None:
    """The report leads to the session and to the file it is read from now; a deleted session is named by its id."""
    holder = a_file(name="whole.jsonl")
    session = a_session(file=holder, title="All of it", native_id="n1")
    copy = a_file(report={"elsewhere": {"n1": "in-between.jsonl", "n2": "gone.jsonl"}})
    page = read(client.get(f"/files/{copy.uid}"))
    assert "Held from another file 2" in page.text
    assert "in-between.jsonl" not in page.text
    assert "n2 deleted since gone.jsonl" in page.text
    assert page.all("a", href=f"/sessions/{session.uid}")
    assert page.all("a", href=f"/files/{holder.uid}")


def test_a_file_that_vanished(client: Client) -> None:
    """The page says that this is the only copy, and does not offer to read it again."""
    file = a_file(missing_since=NOW)
    page = read(client.get(f"/files/{file.uid}"))
    assert "This is now the only copy." in page.text
    assert not page.all("form", action=f"/files/{file.uid}/reread")


def test_a_report_of_thousands_stays_small(client: Client) -> None:
    """Lists are cut, with their real length beside them."""
    types = {f"type-{number}": number for number in range(3000)}
    skipped = [[number, "bad " * 20] for number in range(200)]
    report = {"skipped": skipped, "skipped_total": 90_000, "unknown_types": types, "ignored_types": types}
    file = a_file(report=report)
    for number in range(70):
        a_session(file=file, title=f"s{number}")
    page = read(client.get(f"/files/{file.uid}"))
    assert "90,000, the first 200" in page.text
    assert "70, the first 50" in page.text


def test_the_raw_log_is_a_download(client: Client) -> None:
    """Byte for byte, never shown in place, under its own name."""
    file = a_file(name='a "b"\u202e.jsonl.zst')
    a_segment(file, b'{"a": 1}\n<script>alert(1)</script>\xff')
    answer = client.get(f"/files/{file.uid}/raw")
    assert b"".join(answer.streaming_content) == b'{"a": 1}\n<script>alert(1)</script>\xff'
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_an_import_that_runs_is_shown(client: Client) -> None:
    """With its progress, until it ends."""
    file = a_file()
    a_run(target=file.uid.hex, state="running", done=5, total=10, unit="bytes")
    assert read(client.get(f"/files/{file.uid}")).all("progress")
