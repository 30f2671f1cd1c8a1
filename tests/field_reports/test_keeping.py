"""What is kept: secrets are not, signatures are; and work that is queued, lost or delivered twice."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from contextlab.services import health, runs
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import Run, Session
from tests.field_reports.reports import expected, given
from tests.services.doing import import_well, raw, texts

pytestmark = [pytest.mark.django_db, pytest.mark.database]
HEAD = {"format": "contextlab-events", "version": 1, "session": {"id": "s1"}}


def imported(tmp_path: Path, settings: Any, *records: dict[str, Any]) -> Session:
    """A log as it is stored where secrets are taken out."""
    settings.REDACT_AT_INGEST = True
    path = tmp_path / "s1.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return import_well(path)


def stored(session: Session) -> str:
    """All that is kept of a session: its texts and its bytes."""
    return "\n".join([*texts(session).values(), raw(session.file).decode()])


def results(name: str) -> list[dict[str, Any]]:
    """The records of a report as items of a log."""
    return [
        {"type": "item", "id": one["id"], "kind": "tool_result", "text": one["text"], "call_id": "c1"}
        for one in given(name)["records"]
    ]


@pytest.mark.parametrize("name", ["security-03", "security-04"])
def test_security_03_and_04_no_credential_is_stored(tmp_path: Path, settings: Any, name: str) -> None:
    """By their shape or by the name that they stand under; counters with the word token in their name stay."""
    checks = expected(name)
    session = imported(tmp_path, settings, HEAD, *results(name))
    kept = stored(session)
    for secret in checks["stored_not_contains"]:
        assert secret not in kept
    for word in checks.get("stored_contains", ()):
        assert word in kept
    assert checks.get("marker", "[REDACTED:") in kept
    assert session.file is not None
    assert session.file.report["redacted"] == checks.get("redactions", 1)


def test_security_05_signatures_stay_byte_for_byte(tmp_path: Path, settings: Any) -> None:
    """Providers want them back as they were, whatever they look like."""
    (message,) = given("security-05")["records"]
    user = {"role": "user", "content": "go on"}
    session = imported(
        tmp_path, settings, {"messages": [user, {"role": "assistant", "content": message["content"]}]}
    )
    assert message["content"][0]["signature"] in raw(session.file).decode()
    assert session.items >= 2


def test_reliability_02_what_failed_can_be_started_again(client: Client) -> None:
    """After the third failure the run is a row that says so; nothing is discarded, and asking again is new work."""
    run = runs.request(local_workspace(), "project", "project:1")[0]
    for _ in range(given("reliability-02")["retries"]):
        Run.objects.update(not_before=None)
        runs.fail(runs.claim(run.uid), "the database is down", retryable=True)
    run.refresh_from_db()
    assert (run.state, run.retryable) == ("failed", True)
    assert "the database is down" in client.get(f"/runs/{run.uid}").content.decode()
    assert runs.request(local_workspace(), "project", "project:1")[0].pk != run.pk


def test_reliability_04_a_worker_that_takes_nothing_is_not_healthy(client: Client) -> None:
    """It lives, it beats, and the oldest run waits: health says so, with the reason."""
    health.beat()
    run = runs.request(local_workspace(), "import", "import:1")[0]
    age = timedelta(seconds=given("reliability-04")["oldest_queued_s"])
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - age)
    answer = client.get("/health")
    assert answer.status_code == expected("reliability-04")["http"]
    assert "A run has been waiting for 90" in answer.json()["reasons"][0]


@pytest.mark.parametrize("name", ["reliability-05", "reliability-08"])
def test_reliability_05_and_08_a_second_delivery_does_nothing(name: str) -> None:
    """However often the message comes, while the run waits, runs or has ended: one claim, one result."""
    run = runs.request(local_workspace(), "project", "project:1")[0]
    first = runs.claim(run.uid)
    assert first is not None
    assert runs.claim(run.uid) is None, "it runs, under a lease"
    assert runs.finish(first, "done", {"by": "first"})
    assert runs.claim(run.uid) is None, "it has ended"
    run.refresh_from_db()
    assert (run.attempts, run.result) == (1, {"by": "first"})
    assert expected(name)["committed_results"] == 1
