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


def added_up(sheet: Sheet) -> int:
    """All that a sheet says of a step."""
    parts = (sheet.calibrated, sheet.reasoning, sheet.base, sheet.images, sheet.outside, sheet.rest)
    return sum(part or 0 for part in parts)


def test_every_sheet_adds_up() -> None:
    """Items, reasoning, base, images, what came or went unseen, and the rest are the reported input, whatever comes."""
    chance = random.Random(1)
    steps = [
        (chance.choice([None, chance.randint(0, 200_000)]), chance.randint(0, 200_000)) for _ in range(400)
    ]
    odd = {"s50": {"media": 1}, "s90": {"marked": True}, "s91": {"model": "other"}, "s120": {"changed": True}}
    for sheet in run(*steps, **odd, s121={"reasoning": 700}, s300={"compacted": True, "marked": True}):
        if sheet.reported is None:
            assert (sheet.rest, sheet.base, sheet.unexplained) == (None, None, None)
        else:
            assert added_up(sheet) == sheet.reported
            assert (sheet.base or 0) >= 0


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
    assert [sheet.outside for sheet in found] == [0, 9_000, 9_000, -3_000], "what was found is no longer rest"
    assert not any(sheet.beyond_band for sheet in found)
    assert found[3].from_anchor == -3_000


def test_a_rest_that_drifts_is_no_finding_but_leaves_its_band() -> None:
    """Each step is off by a little: nothing entered, the calibration does not fit this session."""
    found = run(*[(30_000 + 1_200 * number, 10_000 + 1_000 * number) for number in range(30)])
    assert not any(sheet.unexplained for sheet in found)
    assert found[29].rest == 29 * 200
    assert [sheet.beyond_band for sheet in found[1:3]] == [False, False]
    assert found[29].beyond_band


def test_a_band_grows_with_what_moved_since_the_anchor() -> None:
    """Not with the size of the context: what stands before the anchor is known."""
    found = run((900_000, 10_000), (901_000, 11_000), (911_000, 21_000), (901_000, 11_000))
    assert [sheet.band for sheet in found] == [300, 360, 960, 1_560]


def test_a_dense_text_is_no_finding() -> None:
    """One text of 10,000 tokens may be off by a third; half as much again is more than a text is off by."""
    assert run((30_000, 10_000), (43_000, 20_000))[1].unexplained is None
    assert run((30_000, 10_000), (45_000, 20_000))[1].unexplained == Unexplained.ENTERED


def test_what_left_unseen_is_still_gone_at_the_next_anchor() -> None:
    """The base stays what it was; that the log shows more than was sent is said once."""
    found = run((90_000, 60_000), (40_000, 61_000), (41_000, 62_000), (43_000, 64_000), s4={"restart": True})
    assert [sheet.unexplained for sheet in found] == [None, Unexplained.CLEARED, None, None]
    assert [sheet.base for sheet in found] == [30_000] * 4
    assert [sheet.outside for sheet in found] == [0, -51_000, -51_000, -51_000]


def test_a_change_outside_the_log_leaves_the_base_alone() -> None:
    """What the provider no longer has is told apart from the system prompt."""
    found = run((90_000, 60_000), (50_000, 61_000), (50_500, 61_500), s2={"changed": True})
    assert (found[1].base, found[1].outside, found[1].rest) == (30_000, -41_000, 0)
    assert (found[1].unexplained, found[1].since_last) == (Unexplained.CLEARED, -41_000)


def test_hidden_reasoning_has_a_line_of_its_own() -> None:
    """It is taken out of the items' line; where nobody told the two apart it is not made up."""
    found = run((30_000, 10_000), (31_000, 11_000), s2={"reasoning": 400})
    assert (found[1].calibrated, found[1].reasoning) == (10_600, 400)
    [sheet] = run((30_000, 10_000), s1={"reasoning": None})
    assert (sheet.calibrated, sheet.reasoning) == (10_000, None)


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
    assert (sheet.base, sheet.outside, sheet.rest) == (0, -87_000, 0)
    assert sheet.unexplained == Unexplained.LESS


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
