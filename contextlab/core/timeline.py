"""A session in compact columns: what replay reads, and the rows that storage writes.

Items have dense positions (from 0, in the order of events), steps and turns numbers (from 1); assembler.py makes the
rows from events. A `Timeline` holds what replay needs of them in arrays of numbers, some 60 bytes an item, so that a
session of a million items fits in memory. Texts are not here.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from contextlab.core.events import Compaction, ItemEvent
from contextlab.core.items import KIND_CODE, Kind, Reason, Verdict
from contextlab.core.measuring.calibrations import TABLE, Calibrations

UNKNOWN = -1
"""In number columns: not known (token counts not made yet, no partner)."""

FLAG_PINNED = 1
"""Pinned by a person."""
FLAG_INJECTED = 2
FLAG_MEDIA = 4
FLAG_OPENS_TURN = 8
FLAG_ERROR = 16
FLAG_NO_RESULT_NEEDED = 32
FLAG_OFFLOADED = 64
"""The agent itself stored the original elsewhere; the text is its preview."""


@dataclass(slots=True)
class Step:
    """A model call: its context is the items at positions below `upto` that were not taken out before it."""

    number: int
    id: str
    turn: int
    upto: int
    model: str | None = None
    ts: str | None = None
    limit: int | None = None
    exact: bool = False
    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    usage_partial: bool = False
    restart: str = ""
    """What the log says began anew before it (a new version, a session start, ...); empty where nothing did."""

    @property
    def prompt_tokens(self) -> int | None:
        """The provider's whole input: input + cache reads + cache writes; None when nothing was reported."""
        known = self.input
        for part in (self.cache_read, self.cache_write):
            if part is not None:
                known = part if known is None else known + part
        return known


@dataclass(slots=True)
class Turn:
    """A turn: from a real prompt to the next one."""

    number: int
    id: str
    first_position: int
    ts: str | None = None
    trigger: str = "prompt"
    status: str | None = None
    first_step: int | None = None
    last_step: int | None = None


@dataclass(slots=True)
class Mark:
    """A change of fate that the log records: in force from `at_step` on, for items below `upto`.

    With `compaction` set every item in context below `upto` is summarised except `positions` (the kept ones) and
    `summary`. Otherwise `positions` get `verdict`; `all_before` means all below `upto`.
    """

    at_step: int
    upto: int
    verdict: Verdict
    reason: Reason
    positions: tuple[int, ...] = ()
    all_before: bool = False
    compaction: int | None = None
    """Number of the compaction (from 1) that this mark belongs to."""
    summary: int | None = None


@dataclass(slots=True)
class CompactionRow:
    """A compaction that the log records, with what is known about it."""

    number: int
    event: Compaction
    at_step: int
    upto: int
    summary: int | None = None
    """Position of the summary item, None when there is none."""
    micro: bool = False


@dataclass(slots=True)
class ItemRow:
    """An item with its place in the session."""

    position: int
    event: ItemEvent
    turn: int
    entry: int
    step: int | None
    first_step: int
    """Number of the first step whose context it can stand in."""
    pair: int
    """For a result the position of its call, UNKNOWN when the log has none."""
    chars: int


@dataclass(slots=True)
class Timeline:
    """The columns of a session, one value per position, with its steps, turns and marks."""

    kinds: array[int] = field(default_factory=lambda: array("b"))
    chars: array[int] = field(default_factory=lambda: array("q"))
    tokens: array[int] = field(default_factory=lambda: array("q"))
    """Counted tokens or UNKNOWN."""
    estimates: array[int] = field(default_factory=lambda: array("q"))
    """Estimated tokens, used where `tokens` is UNKNOWN."""
    entries: array[int] = field(default_factory=lambda: array("q"))
    turns: array[int] = field(default_factory=lambda: array("q"))
    flags: array[int] = field(default_factory=lambda: array("B"))
    pairs: array[int] = field(default_factory=lambda: array("q"))
    """Call of a result, result of a call, or UNKNOWN."""
    opaque: array[int] = field(default_factory=lambda: array("q"))
    """Characters of signature or encrypted content."""
    tools: dict[int, str] = field(default_factory=dict)
    """Tool name by position, for calls."""
    call_ids: dict[int, str] = field(default_factory=dict)
    """Call id by position, for calls and for results without one; of any item: `call_id`."""
    steps: list[Step] = field(default_factory=list)
    turns_list: list[Turn] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    calibrations: Calibrations = TABLE
    """What sizes are calibrated with."""

    def __len__(self) -> int:
        """Number of items."""
        return len(self.kinds)

    def call_id(self, position: int) -> str | None:
        """The call id of a call or a result, None where it has none."""
        found = self.call_ids.get(position)
        if found is None and (pair := self.pairs[position]) != UNKNOWN:
            found = self.call_ids.get(pair)
        return found

    def append(self, row: ItemRow, estimate: int, tokens: int | None = None) -> None:
        """Add the next item; `row.position` must be the current length."""
        event = row.event
        self.kinds.append(KIND_CODE[event.kind])
        self.chars.append(row.chars)
        self.tokens.append(UNKNOWN if tokens is None else tokens)
        self.estimates.append(estimate)
        self.entries.append(row.entry)
        self.turns.append(row.turn)
        self.flags.append(item_flags(event))
        self.opaque.append(event.opaque_chars)
        self.pairs.append(row.pair)
        if event.call_id is not None and row.pair == UNKNOWN:
            self.call_ids[row.position] = event.call_id
        if event.tool is not None and event.kind == Kind.TOOL_CALL:
            self.tools[row.position] = event.tool
        if row.pair != UNKNOWN:
            self.pairs[row.pair] = row.position


def item_flags(event: ItemEvent) -> int:
    """The flag bits of an item as the log tells them (a person's pins are added by whoever knows them)."""
    flags = 0
    if event.injected is not None:
        flags |= FLAG_INJECTED
    if event.media:
        flags |= FLAG_MEDIA
    if event.opens_turn:
        flags |= FLAG_OPENS_TURN
    if event.error:
        flags |= FLAG_ERROR
    if not event.needs_result:
        flags |= FLAG_NO_RESULT_NEEDED
    if event.original is not None:
        flags |= FLAG_OFFLOADED
    return flags
