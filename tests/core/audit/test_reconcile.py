"""Reconciliation: sheets that add up, anchors, bands, findings; no false certainty about odd usage."""

from __future__ import annotations

import random
from dataclasses import replace

from contextlab.core.audit.reconcile import Base, Measure, Sheet, Summary, Unexplained, share_below, sheets


def run(*steps: tuple[int | None, int], **more: object) -> list[Sheet]:
    """Sheets of steps given as (reported, calibrated)."""
    made = [Measure(number, "m", reported, calibrated, 0.06, calibrated) for number, (reported, calibrated) in
            enumerate(steps, 1)]  # fmt: skip
    for number, values in more.items():
        at = int(number[1:]) - 1
        made[at] = replace(made[at], **values)  # type: ignore[arg-type]
    return list(sheets(made))


def test_every_sheet_adds_up() -> None:
    """Calibrated, base, images and rest are the reported input, whatever comes."""
    chance = random.Random(1)
    steps = [
        (chance.choice([None, chance.randint(0, 200_000)]), chance.randint(0, 200_000)) for _ in range(400)
    ]
    for sheet in run(*steps, s50={"media": 1}, s90={"marked": True}, s91={"model": "other"}):
        if sheet.reported is None:
            assert (sheet.rest, sheet.base, sheet.unexplained) == (None, None, None)
        else:
            assert sheet.calibrated + sheet.base + sheet.images + sheet.rest == sheet.reported  # type: ignore[operator]


def test_the_hidden_base_is_what_the_first_step_leaves() -> None:
    """One anchor, then the same base; what is added is checked against its band."""
    first, second = run((30_000, 10_000), (41_000, 20_500))
    assert (first.base, first.rest, first.anchor, first.base_holds) == (20_000, 0, True, Base.PROMPT)
    assert (second.base, second.rest, second.anchor, second.beyond_band) == (20_000, 500, False, False)
    assert second.unexplained is None


def test_what_entered_unseen_and_what_was_cleared_silently_are_findings() -> None:
    """A jump that no item explains, and a fall."""
    found = run((30_000, 10_000), (40_000, 11_000), (41_000, 12_000), (30_000, 13_000))
    assert [sheet.unexplained for sheet in found] == [None, Unexplained.ENTERED, None, Unexplained.CLEARED]
    assert found[1].since_last == 9_000
    assert found[2].beyond_band, "the rest stays; it is no new finding"


def test_pictures_take_the_rise_where_they_entered() -> None:
    """Nobody says what they cost; the rise is theirs and no finding."""
    found = run((30_000, 10_000), (36_000, 10_100), s2={"media": 2})
    assert (found[1].images, found[1].rest, found[1].unexplained) == (5_900, 0, None)


def test_a_segment_begins_where_the_log_says_so() -> None:
    """A compaction, another model, a restart, a change outside the log: the size is anchored anew."""
    for change in ({"marked": True, "compacted": True}, {"model": "x"}, {"restart": True}, {"changed": True}):
        found = run((30_000, 10_000), (50_000, 5_000), s2=change)
        assert found[1].anchor
        assert (found[1].segment, found[1].rest) == (2, 0)
        assert (found[1].base_holds == Base.AFTER_COMPACTION) == ("compacted" in change)


def test_a_change_at_a_step_without_usage_is_not_forgotten() -> None:
    """The next step that reports is the anchor."""
    found = run((30_000, 10_000), (None, 4_000), (9_000, 4_100), s2={"marked": True})
    assert found[2].anchor
    assert found[1].rest is None


def test_usage_that_contradicts_the_log_is_said() -> None:
    """A provider that reports less than the log shows: no negative base, and a finding."""
    [sheet] = run((3_000, 90_000))
    assert (sheet.base, sheet.rest, sheet.unexplained) == (0, -87_000, Unexplained.LESS)


def test_no_usage_no_word() -> None:
    """Nothing reported: nothing is found, and nothing is counted as compared."""
    found = run(*[(None, 5)] * 10)
    summary = Summary().add(found)
    assert (summary.steps, summary.unreported, summary.errors) == (0, 10, [])
    assert share_below(summary.errors, 0.5) is None


def test_a_file_that_begins_in_the_middle_has_another_base() -> None:
    """What came before it is part of the base."""
    [sheet] = sheets([Measure(1, "m", 9, 5, 0.1, 5)], starts_in_the_middle=True)
    assert sheet.base_holds == Base.EARLIER
