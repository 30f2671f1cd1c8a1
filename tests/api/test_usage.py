"""Usage by day: the calls of a period count, wherever their sessions began, in the days of the person's time zone."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from contextlab.store.models import Session, StepRecord
from tests.api.conftest import Api
from tests.field_reports.reports import expected, given
from tests.importers.claude_log import Log, text
from tests.services.doing import import_well

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def used(folder: Path, *calls: tuple[str, int], session: str = "s1") -> Session:
    """An imported session with a call for each time and number of input tokens."""
    log = Log(session)
    for number, (ts, tokens) in enumerate(calls):
        log.user(f"prompt {number} of {session}", timestamp=ts)
        log.answer(
            f"{session}m{number}",
            text("ok"),
            timestamp=ts,
            usage={"input_tokens": tokens, "output_tokens": 1},
        )
    path = folder / f"{session}.jsonl"
    path.write_bytes(log.data)
    return import_well(path)


def days(answer: dict[str, Any]) -> list[tuple[str, int]]:
    return [(day["day"], day["input"]) for day in answer["days"]]


def test_ingest_14_a_period_narrows_the_calls_not_the_sessions(api: Api, tmp_path: Path) -> None:
    """Of a session that began ten days before the period only the calls inside it count."""
    report = given("ingest-14")
    used(tmp_path, *((record["ts"], record["tokens"]) for record in report["records"]))
    answer = api.get("usage/", since=report["since"], tz=report["tz"])
    assert answer["total"]["input"] == expected("ingest-14")["tokens"]
    assert (answer["total"]["sessions"], answer["total"]["steps"]) == (1, 1)
    whole = api.get("usage/")
    assert days(whole) == [("2026-08-14", 50), ("2026-08-04", 1000)]
    assert whole["total"]["input"] == 1050


@pytest.mark.parametrize(
    ("tz", "expected_days"),
    [
        ("UTC", [("2026-03-29", 3), ("2026-03-28", 4)]),
        ("Europe/Berlin", [("2026-03-30", 2), ("2026-03-29", 5)]),
        ("America/Los_Angeles", [("2026-03-29", 2), ("2026-03-28", 5)]),
    ],
)
def test_days_are_those_of_the_time_zone(
    api: Api, tmp_path: Path, tz: str, expected_days: list[tuple[str, int]]
) -> None:
    """Also where clocks change in that night; the first and last day belong to the period as a whole."""
    used(tmp_path, ("2026-03-28T23:30:00Z", 4), ("2026-03-29T01:30:00Z", 1), ("2026-03-29T22:30:00Z", 2))
    assert days(api.get("usage/", tz=tz)) == expected_days
    for day, tokens in expected_days:
        assert days(api.get("usage/", tz=tz, since=day, until=day)) == [(day, tokens)]


def test_what_a_fork_copied_counts_once_and_nothing_reported_is_not_zero(api: Api, tmp_path: Path) -> None:
    """Copied steps are left to their origin; calls without figures or without a time are counted as such."""
    session = used(tmp_path, ("2026-08-04T10:00:00Z", 10), ("2026-08-05T10:00:00Z", 20))
    Session.objects.filter(pk=session.pk).update(shared_steps=1)
    assert days(api.get("usage/")) == [("2026-08-05", 20)]
    when = datetime(2026, 8, 6, 12, tzinfo=UTC)
    for number, ts in ((3, when), (4, None)):
        StepRecord.objects.create(
            session=session,
            revision=session.revision,
            number=number,
            native_id=f"x{number}",
            turn=2,
            upto=4,
            ts=ts,
        )
    answer = api.get("usage/")
    assert answer["undated_steps"] == 1
    assert answer["days"][0] | {"day": ""} == {
        "day": "", "steps": 1, "sessions": 1, "steps_without_usage": 1,
        "input": None, "cache_read": None, "cache_write": None, "output": None,
    }  # fmt: skip


def test_impossible_figures_stay_out_of_the_sums(api: Api, tmp_path: Path) -> None:
    """A log with absurd numbers neither overflows a sum nor hides the others."""
    session = used(tmp_path, ("2026-08-04T10:00:00Z", 10))
    StepRecord.objects.bulk_create(
        StepRecord(
            session=session, revision=session.revision, number=number, native_id=f"x{number}", turn=1, upto=1,
            ts=datetime(2026, 8, 4, tzinfo=UTC), input=2**63 - 1,
        )
        for number in range(2, 6)
    )  # fmt: skip
    assert days(api.get("usage/")) == [("2026-08-04", 10)]


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ({"since": "yesterday"}, "query: since"), ({"until": "2026-02-30"}, "query: until"),
        ({"since": "0001-01-01"}, "query: since"), ({"until": "9999-12-31"}, "query: until"),
        ({"since": "2026-08-05", "until": "2026-08-04"}, "query: until"),
        ({"tz": "Mars/Olympus"}, "query: tz"), ({"tz": "../../etc/passwd"}, "query: tz"),
        ({"tz": "/etc/passwd"}, "query: tz"), ({"tz": "Europe"}, "query: tz"), ({"tz": "x" * 399}, "query: tz"),
        ({"tz": "a\x00b"}, "query: tz"),
    ],
)  # fmt: skip
def test_bad_periods_are_named(api: Api, query: dict[str, str], place: str) -> None:
    """Which key is wrong, and what it should be."""
    assert api.error("usage/", 400, **query)["place"] == place


def test_without_any_call_there_is_nothing(api: Api) -> None:
    """An empty list, sums unknown."""
    answer = api.get("usage/", since="2026-08-04")
    assert (answer["days"], answer["total"]["steps"], answer["total"]["input"]) == ([], 0, None)
