"""Whatever a log holds is shown as text: no markup, no script, no address of it becomes live."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from django.test import Client

from contextlab.store.models import RunState
from tests.factories import NOW, a_file, a_run, a_session, a_turn
from tests.web.pages import Page, read

pytestmark = pytest.mark.django_db

MARK = "zqz"
"""In every payload, so that a test can see that it was shown at all."""

PAYLOADS = [
    "<script>alert('zqz')</script>",
    "zqz\"><img src=x onerror=alert(1)>",
    "zqz' onmouseover='alert(1)",
    "zqz\" hx-get=\"/data/delete\" hx-trigger=\"load",
    "<svg onload=alert('zqz')>",
    "zqz</title><script>alert(1)</script>",
    "zqz</textarea></select></option></table><iframe srcdoc='<script>alert(1)</script>'>",
    "javascript:alert('zqz')",
    "{{ zqz }}{% csrf_token %}",
    "zqz<style>*{display:none}</style>",
    "zqz\x1b[31mred\x1b[0m\x07",
    "zqz\u202egnp.exe",
    "<a href=\"//evil.example\">zqz</a>",
    "zqz--><base href='//evil.example/'>",
    "zqz&#60;script&#62;",
    "<zqz:x xmlns:zqz='http://www.w3.org/1999/xhtml'>",
    "zqz\"'`=<>&;%00",
    "<math><mtext><zqz>",
    "data-key=\"zqz\" data-open-dialog=\"ask\"",
    "zqz" * 90,
]  # fmt: skip
HARMLESS = frozenset(
    "html head meta title link script body a div nav form label input kbd button main h1 h2 span b i p section "
    "header footer select option noscript table thead tbody tr th td svg path rect time dl dt dd ul li code progress "
    "dialog br details summary".split()
)


def check(page: Page, payload: str) -> None:
    """Only elements that our templates write, and none with an attribute that acts."""
    assert {tag for tag, _ in page.elements} <= HARMLESS
    assert [
        values
        for tag, values in page.elements
        if tag == "script" and not values.get("src", "").startswith("/static/")
    ] == []
    loads = [values for _, values in page.elements if values.get("hx-trigger") == "load"]
    assert loads == []
    assert MARK in page.text or MARK not in payload


@pytest.mark.parametrize("payload", PAYLOADS)
def test_in_every_field_of_a_session(client: Client, payload: str) -> None:
    """The list, its filters, its groups."""
    clean = payload.replace("\x00", "")
    fields: dict[str, Any] = {
        "title": clean[:300], "project": clean, "branch": clean[:200], "model": clean[:120], "format": clean[:40],
        "agent": clean[:120], "version": clean[:60], "native_id": clean[:255], "peak_source": clean[:10],
    }  # fmt: skip
    session = a_session(**fields, file=a_file(missing_since=NOW))
    a_turn(session, clean[:240])
    check(read(client.get("/")), payload)
    check(read(client.get("/?group=project")), payload)
    check(
        read(client.get("/", {"q": payload, "source": payload, "model": payload, "project": payload})),
        payload,
    )
    read(client.get("/", {"q": payload}, headers={"HX-Request": "true"}))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_in_every_field_of_a_file(client: Client, payload: str) -> None:
    """The import report and the panel of failures."""
    clean = payload.replace("\x00", "")
    report = {
        "skipped": [[1, clean]], "skipped_total": 1, "unknown_types": {clean: 1}, "ignored_types": {clean: 1},
        "warnings": [clean], "cannot_contain": [clean],
    }  # fmt: skip
    file = a_file(
        name=clean, path=f"/{clean}", format=clean[:40], error=clean, report=report, missing_since=NOW
    )
    a_session(title=clean[:300], agent=clean[:120], role="subagent", file=file)
    check(read(client.get(f"/files/{file.uid}")), payload)
    a_run(state=RunState.FAILED, target=file.uid.hex, error=clean, finished_at=NOW.replace(year=2999))
    a_run(state=RunState.RUNNING, target=file.uid.hex, doing=clean[:200], unit=clean[:20], done=1, total=2)
    check(read(client.get("/activity")), payload)
    check(read(client.get("/data")), payload)


def test_payloads_differ() -> None:
    """Each is there for something of its own."""
    assert all(one != other for one, other in itertools.combinations(PAYLOADS, 2))
    assert all(MARK in payload for payload in PAYLOADS)
