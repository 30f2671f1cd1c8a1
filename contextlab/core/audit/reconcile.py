"""What the provider reported against what the log shows, step by step: a sheet that adds up, and the rest.

    reported = calibrated (visible items and hidden reasoning) + base + images + rest

| part | where it comes from |
|---|---|
| calibrated | the items' counts with the model's ratio and tokens per block; hidden reasoning by its signature |
| base | the system prompt and tools that the log lacks: what is left at the first step of a segment (the anchor) |
| images | what the reported input rose by, beyond the items, where pictures or files entered |
| rest | what is left then; it has a band, the calibration's share of what was added since the anchor |

A segment begins where the log records a change (compaction, clearing, rewind), at another model, at a restart, and
where the context changed outside the log. At an anchor the rest is 0 by definition: there nothing is checked. A step
whose rest jumps by more than noise is a finding; a rest that drifts out of its band slowly is only flagged. Without a
reported input nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

LEAST_JUMP = 1_000
"""Tokens that a rest must jump by at one step to be more than reminders and framing."""
JUMP_SHARE = 0.25
"""And this share of what the step added."""
LEAST_FALL, FALL_SHARE = 2_000, 0.02
"""For a fall: tokens, and the share of what is explained (as core.replaying.reconcile)."""
LEAST_BAND = 300


class Unexplained(StrEnum):
    """What a step's figures say that the log does not."""

    ENTERED = "entered_unseen"
    """Something entered that the log does not show."""
    CLEARED = "cleared_silently"
    """Something left that the log does not name."""
    LESS = "reported_less"
    """The provider reported less than the log shows: usage and log contradict each other."""


class Base(StrEnum):
    """What the hidden base of a segment holds."""

    PROMPT = "system prompt and tools"
    AFTER_COMPACTION = "system prompt, tools and re-attached files"
    EARLIER = "system prompt, tools and earlier context that is not in this file"


@dataclass(frozen=True, slots=True)
class Measure:
    """What is known of a step before it is explained."""

    step: int
    model: str | None
    reported: int | None
    calibrated: int | None
    band: float | None
    counted: int | None
    marked: bool = False
    """The log records a change before it."""
    compacted: bool = False
    restart: bool = False
    changed: bool = False
    """The recorded view found that the context changed outside the log."""
    media: int = 0
    """Pictures and files that entered since the step before."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One step, explained. Figures are tokens; None = not known."""

    step: int
    segment: int
    anchor: bool
    reported: int | None
    counted: int | None
    calibrated: int | None
    base: int | None
    base_holds: Base
    images: int
    rest: int | None
    band: int | None
    """Half-width of the rest's band."""
    since_last: int | None
    """The rest that this step alone added: anchored anew at the step before."""
    unexplained: Unexplained | None

    @property
    def beyond_band(self) -> bool:
        """Whether the rest is larger than its band."""
        return self.rest is not None and self.band is not None and abs(self.rest) > self.band


@dataclass(slots=True)
class _Segment:
    """Where a segment began, and what has been found in it so far."""

    number: int
    holds: Base
    base: int
    calibrated: int
    images: int = 0
    rest: int = 0


def sheets(measures: Iterable[Measure], *, starts_in_the_middle: bool = False) -> Iterator[Sheet]:
    """A sheet for every step, in order."""
    segment: _Segment | None = None
    model: str | None = None
    last: Measure | None = None
    pending = compacted = False
    for one in measures:
        pending |= one.marked or one.restart
        compacted |= one.compacted
        if one.reported is None or one.calibrated is None:
            yield _unknown(one, segment)
            continue
        anchor = segment is None or pending or one.changed or one.model != model
        if segment is None or anchor:
            holds = _holds(segment, compacted, starts_in_the_middle)
            segment = _anchor(one, 0 if segment is None else segment.number, holds)
            yield _anchored(one, segment)
        else:
            yield _explained(one, segment, last)
        pending = compacted = False
        model, last = one.model, one


def _holds(segment: _Segment | None, compacted: bool, in_the_middle: bool) -> Base:
    if segment is None:
        return Base.EARLIER if in_the_middle else Base.PROMPT
    return Base.AFTER_COMPACTION if compacted or segment.holds == Base.AFTER_COMPACTION else segment.holds


def _anchor(one: Measure, before: int, holds: Base) -> _Segment:
    assert one.reported is not None
    assert one.calibrated is not None
    return _Segment(before + 1, holds, max(0, one.reported - one.calibrated), one.calibrated)


def _anchored(one: Measure, segment: _Segment) -> Sheet:
    """The first step of a segment: base is what is left; nothing is checked but that the log does not show more."""
    assert one.reported is not None
    assert one.calibrated is not None
    band = max(LEAST_BAND, round((one.band or 0) * one.calibrated))
    rest = one.reported - one.calibrated - segment.base
    segment.rest = rest
    found = Unexplained.CLEARED if one.changed else Unexplained.LESS if -rest > band else None
    return Sheet(
        one.step, segment.number, True, one.reported, one.counted, one.calibrated, segment.base, segment.holds, 0,
        rest, band, None, found,
    )  # fmt: skip


def _explained(one: Measure, segment: _Segment, last: Measure | None) -> Sheet:
    assert one.reported is not None
    assert one.calibrated is not None
    rest = one.reported - one.calibrated - segment.base - segment.images
    jump = rest - segment.rest
    grown = one.calibrated - (last.calibrated if last and last.calibrated is not None else segment.calibrated)
    found = _found(one, jump, grown)
    if one.media and jump > 0:
        # Nobody has said what pictures cost: the rise where they entered is theirs.
        segment.images, rest, found = segment.images + jump, rest - jump, None
    segment.rest = rest
    band = max(LEAST_BAND, round((one.band or 0) * abs(one.calibrated - segment.calibrated)))
    return Sheet(
        one.step, segment.number, False, one.reported, one.counted, one.calibrated, segment.base, segment.holds,
        segment.images, rest, band, jump if not one.media else 0, found,
    )  # fmt: skip


def _found(one: Measure, jump: int, grown: int) -> Unexplained | None:
    if jump > max(LEAST_JUMP, JUMP_SHARE * abs(grown)):
        return Unexplained.ENTERED
    explained = (one.reported or 0) - jump
    if -jump > max(LEAST_FALL, FALL_SHARE * explained):
        return Unexplained.CLEARED
    return None


def _unknown(one: Measure, segment: _Segment | None) -> Sheet:
    number, holds = (segment.number, segment.holds) if segment else (0, Base.PROMPT)
    return Sheet(
        one.step,
        number,
        False,
        one.reported,
        one.counted,
        one.calibrated,
        None,
        holds,
        0,
        None,
        None,
        None,
        None,
    )


@dataclass(slots=True)
class Summary:
    """How well the sheets of a session, or of many, add up. Errors are shares of the reported input."""

    steps: int = 0
    """Steps with a reported input."""
    unreported: int = 0
    segments: int = 0
    errors: list[float] = field(default_factory=list)
    """Of every step that is no anchor, from its segment's anchor."""
    step_errors: list[float] = field(default_factory=list)
    """The same, anchored anew at the step before."""
    step_tokens: list[int] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    """Of the last step of each segment that has more than its anchor."""
    beyond_band: int = 0
    unexplained: dict[str, int] = field(default_factory=dict)

    def add(self, found: Sequence[Sheet]) -> Summary:
        """Take in the sheets of one session; returns itself."""
        end: dict[int, float] = {}
        for sheet in found:
            if sheet.reported is None or sheet.rest is None:
                self.unreported += 1
                continue
            self.steps += 1
            self.segments += sheet.anchor
            if sheet.unexplained is not None:
                self.unexplained[sheet.unexplained] = self.unexplained.get(sheet.unexplained, 0) + 1
            if sheet.anchor or not sheet.reported:
                continue
            self.beyond_band += sheet.beyond_band
            end[sheet.segment] = abs(sheet.rest) / sheet.reported
            self.errors.append(end[sheet.segment])
            if sheet.since_last is not None:
                self.step_errors.append(abs(sheet.since_last) / sheet.reported)
                self.step_tokens.append(abs(sheet.since_last))
        self.ends += end.values()
        return self


def share_below(values: Sequence[float], share: float) -> float | None:
    """The value that this share of all do not exceed (0.5: the median); None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
