"""Whether what was fitted to sessions is used instead of the table: held against sessions that it was not fitted to.

| what | rule |
|---|---|
| enough | LEAST_STEPS usable steps of LEAST_SESSIONS sessions |
| band | the share of what moved that holds 95 of 100 rests, over sessions that were left out of the fit (in FOLDS) |
| fitted | enough, and that band is no more than WORSE wider than the table's over the same steps |
| measured | else, where enough: the table's own figures, with the band that they have here where it is wider |
| change | what is in use stays while the new one says nearly the same: a fit of every day must not move all figures |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from contextlab.core.audit.calibrate import Fit, Sample, fit, usable
from contextlab.core.audit.reconcile import MOST_LEAST, is_jump, share_below
from contextlab.core.measuring.calibrations import InUse, Origin, may_be_fitted, of_table
from contextlab.core.measuring.models import Calibration

LEAST_STEPS, LEAST_SESSIONS = 200, 3
FOLDS = 5
WORSE = 0.01
"""A hundredth of what moved: so much further off than the table may a fit be and still say more of these sessions."""
INSIDE = 0.95
SMALLEST_BAND = 0.02
TYPICAL = 300
"""Counted tokens of a block, about the median of recorded sessions: there two calibrations are compared."""
SAME = 0.01

Chain = Sequence[Sample]
"""Steps of a session that follow one another, without an anchor between them."""


@dataclass(frozen=True, slots=True)
class State:
    """A step as it is compared with the one before: exact counts, and a reported input."""

    model: str
    """Its plain name."""
    reported: int
    counted: int
    """Without reasoning."""
    blocks: int
    """Without reasoning."""
    reasoning: int
    """Calibrated tokens of it."""


def chains(states: Iterable[tuple[State | None, bool]]) -> Iterator[tuple[str, list[Sample]]]:
    """What steps added, by model: chains of steps that follow one another without a change between them.

    Each step comes with whether something changed before it that no count explains; None = not all of it is known.
    Reasoning that came is taken off by its own size; where some went, the chain ends.
    """
    chain: list[Sample] = []
    before: State | None = None
    for now, changed in states:
        ends = before is None or now is None or changed or now.model != before.model
        if ends or before is None or now is None or now.reasoning < before.reasoning:
            if chain and before is not None:
                yield before.model, chain
            chain = []
        else:
            reasoning = now.reasoning - before.reasoning
            reported, counted = now.reported - before.reported - reasoning, now.counted - before.counted
            chain.append(Sample(reported, counted, now.blocks - before.blocks))
        before = now
    if chain and before is not None:
        yield before.model, chain


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the sessions say of a model."""

    fit: Fit | None
    steps: int
    sessions: int
    band: float | None
    """Of the fit, over sessions that it was held out from; None where there is too little."""
    table_band: float | None
    """Of the table, over the same steps."""

    @property
    def enough(self) -> bool:
        """Whether it may change what is in use."""
        return self.steps >= LEAST_STEPS and self.sessions >= LEAST_SESSIONS and self.table_band is not None


def weigh(chains: Sequence[tuple[int, Chain]], model: str) -> Evidence:
    """What the chains of a model say; each is given with its session's key."""
    sessions = sorted({key for key, _ in chains})
    steps = sum(1 for _, chain in chains for one in chain if usable(one))
    found = fit([one for _, chain in chains for one in chain])
    if steps < LEAST_STEPS or len(sessions) < LEAST_SESSIONS:
        return Evidence(found, steps, len(sessions), None, None)
    table = of_table(model).calibration
    over_table = band_of([chain for _, chain in chains], table)
    if found is None:
        return Evidence(None, steps, len(sessions), None, over_table)
    return Evidence(found, steps, len(sessions), _held_out(chains, sessions, found, table), over_table)


def choose(model: str, found: Evidence, now: str) -> InUse | None:
    """What is used instead of the table; None = the table. `now` is ISO 8601."""
    if not found.enough or found.table_band is None or not may_be_fitted(model):
        return None
    if found.fit is not None and found.band is not None and found.band <= found.table_band + WORSE:
        ratio, per_block = round(found.fit.ratio, 4), round(found.fit.per_block, 1)
        band = _rounded(found.band)
        return InUse(Origin.FITTED, ratio, per_block, band, found.steps, found.sessions, now)
    table = of_table(model)
    if (band := _rounded(found.table_band)) <= table.band:
        return None
    return replace(
        table, origin=Origin.MEASURED, band=band, steps=found.steps, sessions=found.sessions, since=now
    )


def settled(before: InUse | None, after: InUse | None) -> InUse | None:
    """What is in use from now on: the one before, unless the new one says something else."""
    if before is None or after is None or before.origin != after.origin:
        return after
    old, new = (one.calibration.apply(TYPICAL, 1) for one in (before, after))
    same = abs(old - new) <= SAME * old and abs(before.band - after.band) <= SAME
    return before if same else after


def band_of(chains: Sequence[Chain], calibration: Calibration) -> float | None:
    """The share of what moved that holds INSIDE of all rests under a calibration; None of nothing."""
    return share_below([need for chain in chains for need in _needs(chain, calibration)], INSIDE)


def _needs(chain: Chain, calibration: Calibration) -> Iterator[float]:
    """For each step of a chain the share of what moved since its first one that its rest needs."""
    rest = moved = 0.0
    for one in chain:
        grown = calibration.apply(one.counted, one.blocks)
        off = one.reported - grown
        moved += abs(grown)
        if not is_jump(off, grown, calibration.band):
            rest += off
        yield max(0.0, abs(rest) - MOST_LEAST) / max(1.0, moved)


def _held_out(
    chains: Sequence[tuple[int, Chain]], sessions: Sequence[int], whole: Fit, table: Calibration
) -> float | None:
    """The band of fits over the sessions that each was made without."""
    needs: list[float] = []
    for part in range(min(FOLDS, len(sessions))):
        out = set(sessions[part::FOLDS])
        made = fit([one for key, chain in chains if key not in out for one in chain])
        if made is None:  # too few are left without it: then it says most of what is known
            made = whole
        calibration = Calibration(made.ratio, made.per_block, table.band)
        needs += [need for key, chain in chains if key in out for need in _needs(chain, calibration)]
    return share_below(needs, INSIDE)


def _rounded(band: float) -> float:
    """To whole hundredths, upwards."""
    return max(SMALLEST_BAND, ceil(100 * band) / 100)
