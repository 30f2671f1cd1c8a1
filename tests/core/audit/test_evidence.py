"""Whether a fit is used: enough evidence, held against sessions that it was made without, and no daily wobble."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from contextlab.core.audit.calibrate import Sample
from contextlab.core.audit.evidence import (
    LEAST_SESSIONS,
    LEAST_STEPS,
    Chain,
    Evidence,
    State,
    chains,
    choose,
    settled,
    weigh,
)
from contextlab.core.measuring.calibrations import Calibrations, InUse, Origin, in_use, of_table

MODEL, NEW = "claude-opus-4-5", "claude-opus-9"


def made(sessions: int, steps: int, ratios: list[float], block: float = 45) -> list[tuple[int, Chain]]:
    """Sessions of a model, each with its own ratio."""
    chance = random.Random(4)
    found: list[tuple[int, Chain]] = []
    for session in range(sessions):
        chain = []
        for _ in range(steps):
            counted, blocks = int(chance.lognormvariate(6, 1)) + 21, chance.randint(1, 5)
            size = ratios[session % len(ratios)] * counted + block * blocks
            chain.append(Sample(int(size * chance.gauss(1, 0.02)), counted, blocks))
        found.append((session, chain))
    return found


def chosen(found: list[tuple[int, Chain]], model: str = NEW) -> InUse | None:
    """What a model is calibrated with, after these chains."""
    return choose(model, weigh(found, model), "2026-11-30")


def test_a_fit_over_enough_sessions_replaces_the_table() -> None:
    """It says from how many steps of how many sessions, since when, and its band is that of sessions held out."""
    found = chosen(made(5, 80, [1.9]))
    assert found is not None
    assert found.origin is Origin.FITTED
    assert found.ratio == pytest.approx(1.9, abs=0.03)
    assert (found.steps, found.sessions, found.since) == (400, 5, "2026-11-30")
    assert found.band <= 0.05
    assert in_use(found.as_plain()) == found


@pytest.mark.parametrize(
    ("sessions", "steps"), [(LEAST_SESSIONS - 1, 300), (4, (LEAST_STEPS - 4) // 4), (1, 5_000)]
)
def test_too_few_steps_or_sessions_leave_the_table(sessions: int, steps: int) -> None:
    """One long session says how that one is, not how a model is."""
    assert chosen(made(sessions, steps, [1.9])) is None


def test_sessions_that_differ_make_a_wide_band() -> None:
    """What one session says is held against the others: an average is not called exact."""
    alike, different = chosen(made(6, 80, [1.9])), chosen(made(6, 80, [1.4, 1.9, 2.4]))
    assert alike is not None
    assert different is not None
    assert different.band > 3 * alike.band


def test_a_fit_that_is_further_off_than_the_table_is_not_used() -> None:
    """Then the table stays, with the band that the sessions here have under it."""
    table = of_table(MODEL)
    worse = Evidence(weigh(made(4, 80, [1.2]), MODEL).fit, 320, 4, 0.2, 0.1)
    found = choose(MODEL, worse, "2026-11-30")
    assert found == replace(
        table, origin=Origin.MEASURED, band=0.1, steps=320, sessions=4, since="2026-11-30"
    )
    assert choose(MODEL, replace(worse, table_band=0.03), "2026-11-30") is None, "inside the table's own band"


def test_a_model_that_is_counted_with_its_own_tokenizer_is_never_fitted() -> None:
    """Its count is exact."""
    assert chosen(made(5, 80, [1.3]), "gpt-5.5") is None


def test_what_is_in_use_stays_while_a_new_fit_says_nearly_the_same() -> None:
    """A fit of every day must not move all figures of all sessions."""
    before = InUse(Origin.FITTED, 1.2, 50, 0.05, 400, 5, "2026-11-01")
    assert settled(before, replace(before, ratio=1.203, steps=420, since="2026-11-02")) is before
    for other in (replace(before, ratio=1.25), replace(before, band=0.08), None):
        assert settled(before, other) is other
    assert settled(None, before) is before


def test_a_model_without_a_fit_has_the_table() -> None:
    """Also under another name of the same model."""
    fitted = InUse(Origin.FITTED, 1.2, 50, 0.05, 400, 5, "2026-11-01")
    known = Calibrations({"claude-opus-4-5": fitted})
    assert known.of("anthropic/Claude-Opus-4-5") is fitted
    assert known.of("claude-haiku-4-5").origin is Origin.TABLE
    assert known.among(["claude-haiku-4-5", None, "anthropic/claude-haiku-4-5"]).keys() == {
        "claude-haiku-4-5"
    }


def test_only_steps_that_follow_one_another_are_compared() -> None:
    """Over a change, another model, or a step of which not all is known, nothing is; reasoning is taken off."""
    one, two = State("a", 1_000, 100, 2, 0), State("a", 1_500, 400, 4, 120)
    gone = State("a", 1_600, 500, 5, 0)
    assert list(chains([(one, False), (two, False)])) == [("a", [Sample(380, 300, 2)])]
    for breaks in (
        [(one, False), (two, True)],
        [(one, False), (None, False), (two, False)],
        [(two, False), (gone, False)],
    ):
        assert list(chains(breaks)) == []
    assert list(chains([(one, False), (replace(two, model="b"), False)])) == []
    both = [(one, False), (two, False), (one, True), (two, False)]
    assert [len(chain) for _, chain in chains(both)] == [1, 1]
