"""What the provider reported against what the log shows, step by step: a sheet that adds up, and the rest.

    reported = calibrated + reasoning + base + images + outside + rest

| part | where it comes from |
|---|---|
| calibrated | the visible items' counts with the model's ratio and tokens per block |
| reasoning | hidden reasoning: calibrated by its signature, or as the provider reported it |
| base | the system prompt and tools that the log lacks: what is left at the first step of a segment (the anchor) |
| images | what the reported input rose by, beyond the items, where pictures or files entered |
| outside | what entered or left without a word in the log: the jumps that are findings, up to this step |
| rest | what is left then; it has a band that grows with what entered and left since the anchor |

A segment begins where the log records a change (compaction, clearing, rewind), at another model, at a restart, and
where the context changed outside the log. At an anchor the rest is 0 by definition: there nothing is checked but that
the log does not show more than was reported. What the rest jumps by at one step says that something entered or was
cleared there; how large it has become says how well the calibration fits. So a jump of more than noise is a finding,
and a rest that drifts out of its band is only flagged. Without a reported input nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

LEAST_JUMP = 1_000
"""Tokens that a rest must jump by at one step to be more than reminders and framing."""
JUMP_BANDS, LEAST_SHARE, MOST_SHARE = 6, 0.1, 0.35
"""And this many bands of what the step moved, between two shares: one text is further off than a whole context is."""
LEAST_FALL = 2_000
"""The same for a fall (as core.replaying.reconcile)."""
MOST_LEAST, LEAST_TIMES = 300, 15_000
"""Every band begins with so many tokens (reminders, framing): this many, or the calibration's band of this many."""


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
    """Visible items and hidden reasoning together."""
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
    reasoning: int | None = 0
    """Hidden reasoning, calibrated; a part of `calibrated`. None where the two were not told apart."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One step, explained. Figures are tokens; None = not known."""

    step: int
    segment: int
    anchor: bool
    reported: int | None
    counted: int | None
    """Of the visible items, with the tokenizer."""
    calibrated: int | None
    """Of the visible items; where `reasoning` is None, of reasoning as well."""
    reasoning: int | None
    base: int | None
    base_holds: Base
    images: int
    outside: int
    """What entered (above 0) or left (below) without a word in the log, as the findings up to here say."""
    rest: int | None
    band: int | None
    """Half-width of the rest's band."""
    from_anchor: int | None
    """What is off since the anchor: the rest, and what was found since."""
    since_last: int | None
    """What is off by this step alone: anchored anew at the step before. At an anchor only what a finding says."""
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
    outside: int
    """At its anchor."""
    found: int = 0
    """Since then."""
    images: int = 0
    rest: int = 0
    moved: int = 0
    """What entered and left since the anchor, calibrated: what the band is a share of."""


def sheets(measures: Iterable[Measure], *, starts_in_the_middle: bool = False) -> Iterator[Sheet]:
    """A sheet for every step, in order."""
    segment: _Segment | None = None
    last: Measure | None = None
    pending = compacted = False
    for one in measures:
        pending |= one.marked or one.restart
        compacted |= one.compacted
        if one.reported is None or one.calibrated is None:
            yield _unknown(one, segment)
            continue
        if segment is None or last is None or pending or one.changed or one.model != last.model:
            before, segment = segment, _anchor(one, segment, compacted, starts_in_the_middle)
            yield _anchored(one, segment, before)
        else:
            yield _explained(one, segment, last)
        pending = compacted = False
        last = one


def _anchor(one: Measure, before: _Segment | None, compacted: bool, in_the_middle: bool) -> _Segment:
    """What is left is the base. It is never negative: then something has left without a word.

    What had left in the same epoch is still gone: only so the base may be told from it.
    """
    assert one.reported is not None
    assert one.calibrated is not None
    left, outside = one.reported - one.calibrated, 0
    if before is not None and one.changed:
        outside = min(0, left - before.base)
    elif before is not None and left < 0 and not compacted:
        outside = min(0, before.outside + before.found)
    outside = min(outside, left) if left - outside < 0 else outside
    number = 1 if before is None else before.number + 1
    return _Segment(number, _holds(before, compacted, in_the_middle), left - outside, outside)


def _holds(before: _Segment | None, compacted: bool, in_the_middle: bool) -> Base:
    if before is None:
        return Base.EARLIER if in_the_middle else Base.PROMPT
    return Base.AFTER_COMPACTION if compacted or before.holds == Base.AFTER_COMPACTION else before.holds


def _anchored(one: Measure, segment: _Segment, before: _Segment | None) -> Sheet:
    """The first step of a segment: base is what is left; nothing is checked but that the log does not show more."""
    known = min(0, before.outside + before.found) if before else 0
    contradicts = known - segment.outside > _band(one, one.calibrated or 0)
    found = Unexplained.CLEARED if one.changed else Unexplained.LESS if contradicts else None
    return _sheet(one, segment, None if found is None else segment.outside - known, found, anchor=True)


def _explained(one: Measure, segment: _Segment, last: Measure) -> Sheet:
    assert one.reported is not None
    assert one.calibrated is not None
    assert last.calibrated is not None
    grown = one.calibrated - last.calibrated
    known = segment.base + segment.images + segment.outside + segment.found + segment.rest
    jump = one.reported - one.calibrated - known
    segment.moved += abs(grown)
    found = None if one.media and jump > 0 else _found(one, jump, grown)
    if one.media and jump > 0:
        # Nobody has said what pictures cost: the rise where they entered is theirs.
        segment.images += jump
    elif found is not None:
        segment.found += jump
    else:
        segment.rest += jump
    return _sheet(one, segment, 0 if one.media else jump, found)


def _found(one: Measure, jump: int, grown: int) -> Unexplained | None:
    """What a jump says."""
    if not is_jump(jump, grown, one.band or 0):
        return None
    return Unexplained.ENTERED if jump > 0 else Unexplained.CLEARED


def is_jump(off: float, grown: float, band: float) -> bool:
    """Whether a step is off by more than noise: that is a share of what it moved, whatever stands before it."""
    noise = min(MOST_SHARE, max(LEAST_SHARE, JUMP_BANDS * band)) * abs(grown)
    return off > max(LEAST_JUMP, noise) or -off > max(LEAST_FALL, noise)


def _band(one: Measure, moved: int) -> int:
    """So far off are 95 of 100 rests at most, where this much entered and left since the anchor."""
    share = one.band or 0
    return round(min(MOST_LEAST, LEAST_TIMES * share) + share * moved)


def _sheet(
    one: Measure, segment: _Segment, jump: int | None, found: Unexplained | None, anchor: bool = False
) -> Sheet:
    visible = None if one.calibrated is None else one.calibrated - (one.reasoning or 0)
    return Sheet(
        one.step, segment.number, anchor, one.reported, one.counted, visible, one.reasoning, segment.base,
        segment.holds, segment.images, segment.outside + segment.found, segment.rest, _band(one, segment.moved),
        segment.rest + segment.found, jump, found,
    )  # fmt: skip


def _unknown(one: Measure, segment: _Segment | None) -> Sheet:
    number, holds = (segment.number, segment.holds) if segment else (0, Base.PROMPT)
    visible = None if one.calibrated is None else one.calibrated - (one.reasoning or 0)
    return Sheet(
        one.step, number, False, one.reported, one.counted, visible, one.reasoning, None, holds, 0, 0, None, None,
        None, None, None,
    )  # fmt: skip


@dataclass(slots=True)
class Summary:
    """How well the sheets of a session, or of many, add up. Errors are shares of the reported input."""

    steps: int = 0
    """Steps with a reported input."""
    unreported: int = 0
    segments: int = 0
    errors: list[float] = field(default_factory=list)
    """Of every step that is no anchor, from its segment's anchor: with what was found since, so that findings do not
    make it smaller."""
    rests: list[float] = field(default_factory=list)
    """Of the same steps the rest alone: what the calibration is off by."""
    step_errors: list[float] = field(default_factory=list)
    """The same, anchored anew at the step before."""
    step_tokens: list[int] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    """Of the last step of each segment that has more than its anchor."""
    beyond_band: int = 0
    """Of the steps in `errors`."""
    unexplained: dict[str, int] = field(default_factory=dict)

    @property
    def inside_band(self) -> float | None:
        """The share of compared steps whose rest lies inside its band; None where nothing is compared."""
        return 1 - self.beyond_band / len(self.errors) if self.errors else None

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
            end[sheet.segment] = abs(sheet.from_anchor or 0) / sheet.reported
            self.errors.append(end[sheet.segment])
            self.rests.append(abs(sheet.rest) / sheet.reported)
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
