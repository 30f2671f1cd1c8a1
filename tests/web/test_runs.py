"""Work in the background as pages show it: what goes on, how far it is, and stopping it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from contextlab.store.models import Run, RunState
from tests.factories import a_file, a_run, a_session
from tests.web.pages import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_nothing_goes_on(client: Client) -> None:
    """The panel then asks again only when it is told to."""
    page = read(client.get("/activity"))
    (panel,) = page.all("section", id="activity")
    assert panel["hx-trigger"] == "lab:refresh from:body"
    assert page.text == ""


def test_what_goes_on_moves_and_can_be_stopped(client: Client) -> None:
    """Files by name with bytes, how many wait, what is being counted; the panel asks again."""
    file = a_file(name="big.jsonl")
    a_run(kind=Run.Kind.SCAN, state=RunState.RUNNING, done=214, total=344, unit="files")
    a_run(
        state=RunState.RUNNING,
        target=file.uid.hex,
        done=31_000_000,
        total=53_000_000,
        unit="bytes",
        doing="line 7",
    )
    a_run(), a_run()
    a_run(kind=Run.Kind.COUNT)
    page = read(client.get("/activity"))
    for words in (
        "214 of 344 files",
        "big.jsonl",
        "31 MB of 53 MB",
        "line 7",
        "2 waiting",
        "counting tokens",
        "Stop",
    ):
        assert words in page.text
    assert "load delay" in page.all("section", id="activity")[0]["hx-trigger"]
    assert len(page.all("progress")) == 2


def test_what_failed_says_why_and_leads_to_the_report(client: Client) -> None:
    """A failure stays visible for some minutes, then only in the file's report."""
    file = a_file()
    late, now = timezone.now() - timedelta(hours=1), timezone.now()
    a_run(state=RunState.FAILED, target=file.uid.hex, error="x.txt: unknown format", finished_at=now)
    a_run(state=RunState.FAILED, target=file.uid.hex, error="old trouble", finished_at=late)
    page = read(client.get("/activity"))
    assert "x.txt: unknown format" in page.text
    assert "old trouble" not in page.text
    assert page.all("a", href=f"/files/{file.uid}")


def test_what_landed_is_announced(client: Client) -> None:
    """The list renews itself when the counters are not those that the page has seen."""
    seen = read(client.get("/activity")).all("section")[0]["hx-get"]
    assert "HX-Trigger" not in client.get(seen).headers
    a_session()
    assert client.get(seen).headers["HX-Trigger"] == "lab:landed"


def test_one_run_polls_until_it_has_ended(client: Client) -> None:
    """A finished run's fragment has no trigger, which ends the asking."""
    run = a_run(kind=Run.Kind.PROJECT, state=RunState.RUNNING, done=3, total=9, unit="steps")
    page = read(client.get(f"/runs/{run.uid}"))
    assert "3 of 9 steps" in page.text
    assert page.all("div", id=f"run-{run.uid}")[0]["hx-trigger"] == "load delay:700ms"
    Run.objects.update(state=RunState.FAILED, error="the disk is full")
    answer = client.get(f"/runs/{run.uid}")
    page = read(answer)
    assert "hx-trigger" not in page.all("div", id=f"run-{run.uid}")[0]
    assert "the disk is full" in page.text
    assert answer.headers["HX-Trigger"] == "lab:run-done"


def test_stopping(client: Client) -> None:
    """What waits ends at once, what runs is asked to."""
    waiting, running = a_run(), a_run(state=RunState.RUNNING)
    client.post(f"/runs/{waiting.uid}/stop", headers={"HX-Request": "true"})
    page = read(client.post(f"/runs/{running.uid}/stop", headers={"HX-Request": "true"}))
    waiting.refresh_from_db(), running.refresh_from_db()
    assert waiting.state == RunState.CANCELLED
    assert running.cancel_requested
    assert "stopping" in page.text


def test_a_forgotten_run(client: Client) -> None:
    """Its panel goes away; stopping it says that it is gone."""
    uid = "00000000-0000-4000-8000-000000000000"
    assert client.get(f"/runs/{uid}").content == b""
    assert client.post(f"/runs/{uid}/stop").status_code == 404
    assert client.get(f"/runs/{uid}/stop").status_code == 405
