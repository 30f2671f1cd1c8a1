"""Numbers, sizes and times as pages write them."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest
from django.template import engines

from contextlab.core.items import Kind, Reason, Verdict
from contextlab.web import figures, svg
from contextlab.web.words import KIND_CLASSES, REASON_LABELS, VERDICT_MEANINGS
from tests.factories import NOW


def rendered(source: str, **values: Any) -> str:
    return engines["django"].from_string(source).render(values)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"), (812, "812"), (999, "999"), (1000, "1k"), (118_400, "118.4k"), (200_000, "200k"),
        (999_949, "999.9k"), (999_960, "1M"), (1_234_000, "1.2M"), (-3_100, "-3.1k"),
        (None, "unknown"), (math.nan, "unknown"), (math.inf, "unknown"),
    ],
)  # fmt: skip
def test_tokens_in_a_few_characters(value: float | None, words: str) -> None:
    """Thousands and millions with one decimal; unknown is said."""
    assert figures.compact(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_400, "1.4 KB"),
        (96_000_000, "96 MB"),
        (9_960_000, "10 MB"),
        (2**50, "1,126 TB"),
    ],
)
def test_sizes(value: int, words: str) -> None:
    """Units of disks, two digits."""
    assert figures.size(value) == words


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=2), "just now"), (timedelta(minutes=2), "2 min ago"), (timedelta(hours=3), "3 h ago"),
        (timedelta(days=1, hours=2), "yesterday"), (timedelta(days=4), "4 days ago"),
        (timedelta(days=400), "2024-12-16"), (timedelta(days=-3), "2026-01-23"), (timedelta(seconds=-60), "just now"),
    ],
)  # fmt: skip
def test_how_long_ago(age: timedelta, words: str) -> None:
    """Roughly, and a date when it is long ago or in the future."""
    assert figures.ago(NOW - age, NOW) == words


def test_percent() -> None:
    """Less than one is not nothing."""
    assert [figures.percent(value) for value in (0, 0.4, 94.2, 104, None)] == [
        "0 %",
        "< 1 %",
        "94 %",
        "104 %",
        "unknown",
    ]


def test_every_kind_verdict_and_reason_has_its_words() -> None:
    """A new one must be named before pages can show it."""
    assert set(KIND_CLASSES) == set(Kind)
    assert set(VERDICT_MEANINGS) == set(Verdict)
    assert set(REASON_LABELS) == set(Reason)


def test_a_name_that_a_template_does_not_know_is_unknown() -> None:
    """Django hands an empty string on; no filter breaks the page over it."""
    source = "{{ x|tokens }} {{ x|exact }} {{ x|percent }} {{ x|filesize }} {{ x|ago }} {% when x %}"
    assert "unknown unknown unknown unknown unknown" in rendered(source)


def test_a_bar_is_at_most_one_rectangle_for_each_kind() -> None:
    """Widths are shares of the maximum, or of the sum where that is larger."""
    drawn = svg.composition_bar([10, 20, 0, 30, None, 40, 0, 999], 200)
    assert drawn.count("<rect") == 4
    assert 'aria-label="system 10, user 20, reasoning 30, tool result 40; 100 of 200"' in drawn
    assert 'width="200.0"' not in svg.composition_bar([100], None)
    assert svg.composition_bar([], None).count("<rect") == 0
    assert "style=" not in drawn


def test_a_sparkline_is_at_most_three_paths() -> None:
    """Bars, limit, compactions: one path each, whatever the number of bars; no limit line where it is unknown."""
    bars = [[1000 * bar, bar % 10 == 0] for bar in range(45)]
    assert svg.sparkline(bars, 100_000).count("<path") == 3
    assert 'class="limit"' not in svg.sparkline(bars, None)
    assert "limit unknown" in svg.sparkline(bars, None)
    assert svg.sparkline([], 100).count("bars") == 0
    assert "NaN" not in svg.sparkline([[None, 0], [0, 1]], None)


def test_badges_escape_what_they_are_given() -> None:
    """A verdict of a stranger's policy may be any text."""
    assert "<b>" not in rendered("{% verdict v r %}{% source v %}", v="<b>x", r="<b>y")
    assert 'class="v cleared"' in rendered("{% verdict 2 'tier1' %}")
