"""The context map says of every item and step what the spans say, and stays small."""

from __future__ import annotations

import gzip
import json

import pytest
from django.test import Client

from contextlab.core.items import Kind, Reason, Verdict
from contextlab.core.spans import Span
from contextlab.queries import map as maps
from tests.web.made import Log, Made
from tests.web.test_fates import long_log, random_spans

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def fate_on(data: dict, item: int, step: int) -> tuple[str, str] | None:
    """What the map shows at a place; None where nothing is drawn."""
    band = next(at for at, (first, last, *_) in enumerate(data["bands"]) if first <= item <= last)
    for first, last, verdict, reason, begin, end in data["rects"]:
        if first <= band <= last and begin <= step < end:
            return data["verdicts"][verdict], data["reasons"][reason]
    return None


def places(made: Made, data: dict, spans: list[Span]) -> None:
    for row in made.rows:
        if row.event.kind == Kind.UI or not data["items"][0] <= row.position <= data["items"][1]:
            continue
        for step in range(data["steps"][0], data["steps"][1] + 1):
            expected = made.fate(spans, row.position, step)[:2] if step >= row.first_step else None
            assert fate_on(data, row.position, step) == expected, (row.position, step)


@pytest.mark.parametrize("seed", range(3))
def test_with_a_row_for_every_item_the_map_is_exact(client: Client, seed: int) -> None:
    """Every place of the map equals the plain reading of the spans."""
    made = long_log(25).save()
    spans = random_spans(seed, len(made.rows), 25, [row.first_step for row in made.rows])
    made.view(spans)
    data = client.get(made.url("/map.json")).json()
    assert data["exact"]
    assert data["steps"] == [1, 25]
    places(made, data, spans)


def test_a_range_of_steps_shows_what_stood_there(client: Client) -> None:
    """Zoomed in, the map begins where the tail of the first step does."""
    made = long_log(60).save()
    spans = [Span(0, 120, Verdict.SUMMARISED, Reason.COMPACTED, 45)]
    made.view(spans)
    data = client.get(made.url("/map.json?from=50&to=55")).json()
    assert data["steps"] == [50, 55]
    assert data["items"][0] == 121
    places(made, data, spans)


def test_rows_that_stand_for_many_items_show_what_most_of_their_tokens_are(
    client: Client, monkeypatch
) -> None:
    """Kind and fate go by tokens, so a cleared result is not hidden by the small items around it."""
    monkeypatch.setattr(maps, "BANDS", 4)
    log = Log().ask("go").repeat(6, lambda log, n: log.step(input=1).call("read", "f").result("x" * 4000))
    made = log.step(input=1).save()
    made.view([Span(2, 2, Verdict.CLEARED, Reason.TIER1, 4)])
    data = client.get(made.url("/map.json")).json()
    assert len(data["bands"]) == 4
    assert not data["exact"]
    assert {data["kinds"][band[2]] for band in data["bands"]} == {"tool_result"}
    assert fate_on(data, 2, 3) == ("kept", "")
    assert fate_on(data, 2, 7) == ("cleared", "tier1")


def test_too_many_rectangles_are_put_together_by_steps(client: Client, monkeypatch) -> None:
    """Columns grow until the answer is small; the rest of the map stays where it was."""
    made = long_log(60).save()
    spans = random_spans(9, len(made.rows), 60, [row.first_step for row in made.rows])
    made.view(spans)
    monkeypatch.setattr(maps, "RECTANGLES", 60)
    data = client.get(made.url("/map.json")).json()
    assert len(data["rects"]) <= 60
    assert not data["exact"]


def test_the_answer_is_small_for_any_session(client: Client) -> None:
    """Bands and rectangles are bounded."""
    made = long_log(150).save()
    made.view(random_spans(1, len(made.rows), 150, [row.first_step for row in made.rows]))
    answer = client.get(made.url("/map.json"))
    data = json.loads(answer.content)
    assert len(data["bands"]) <= maps.BANDS
    assert len(data["rects"]) <= maps.RECTANGLES
    assert len(gzip.compress(answer.content)) < 150_000
