"""An assembler for logs of any length: what it remembers of old items and steps lies in arrays, not in objects.

A dict of 400,000 ids (a log of 1 GB) takes 70 MB, its steps as objects as much again. Here the newest stand in plain
dicts and lists, so that a usual log pays nothing; older ones take some twenty bytes an id and a hundred a step.
"""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, overload

from contextlab.core.assembler import Assembler
from contextlab.core.events import SessionStart
from contextlab.core.timeline import Step, Timeline, Turn
from contextlab.services.ingest.lean_maps import Ids, Names, Strings
from contextlab.services.ingest.moments import moment

T = TypeVar("T")

RECENT_STEPS = 1 << 12
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NONE, _NO_TIME = -(2**31), -(2**63)
"""In columns of numbers: None, or a figure that has no place in 32 bits."""

_MOST = 2**62
_HALVED = ("chars", "tokens", "estimates", "entries", "turns", "pairs", "opaque")
"""Columns of a timeline whose numbers have 32 bits in the database, too."""

_TURN = [column.name for column in fields(Turn)]

_COLUMNS = ("limit", "input", "cache_read", "cache_write", "output", "reasoning")


def lean_assembler(start: SessionStart) -> Assembler:
    """An assembler whose memory hardly grows with the session."""
    timeline = Timeline()
    for name in _HALVED:
        setattr(timeline, name, array("i"))
    steps: Any = Steps()
    call_ids: Any = Strings()
    tools: Any = Names()
    turns: Any = Turns()
    timeline.steps, timeline.turns_list, timeline.call_ids, timeline.tools = steps, turns, call_ids, tools
    positions: Any = Ids()
    entries: Any = Ids()
    by_id: Any = StepsById(steps)
    return Assembler(start, timeline, _positions=positions, _entries=entries, _steps=by_id)


def from_place(rows: Sequence[T], start: int) -> Iterator[T]:
    """The rows from a place on, one at a time: a slice would hold them all, islice walk over those before."""
    return (rows[place] for place in range(start, len(rows)))


def forget_ids(assembler: Assembler) -> None:
    """The log is read: ids are not looked up any more, the timeline stays."""
    assembler._positions, assembler._entries, assembler._steps = {}, {}, {}


class Steps:
    """A list of steps that is only added to: the newest are objects, older ones columns of numbers.

    An old step that is read is a copy; one that changes (late usage) is asked for with `live` and stays an object.
    """

    __slots__ = ("_live", "_old", "_recent")

    def __init__(self) -> None:
        self._recent: list[Step] = []
        self._old: _Columns | None = None
        self._live: dict[int, Step] = {}

    def __len__(self) -> int:
        return self._packed + len(self._recent)

    def __iter__(self) -> Iterator[Step]:
        return iter(self._recent) if self._old is None else (self[place] for place in range(len(self)))

    @overload
    def __getitem__(self, place: int) -> Step: ...
    @overload
    def __getitem__(self, place: slice) -> list[Step]: ...
    def __getitem__(self, place: int | slice) -> Step | list[Step]:
        if self._old is None:
            return self._recent[place]
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        if place < 0:
            place += len(self)
        if place < 0:
            raise IndexError(place)
        if place >= len(self._old):
            return self._recent[place - self._packed]
        return self._live.get(place) or self._old.step(place)

    def append(self, step: Step) -> None:
        """The next step."""
        self._recent.append(step)
        if len(self._recent) >= 2 * RECENT_STEPS:
            self._old = self._old or _Columns()
            for old in self._recent[:RECENT_STEPS]:
                self._old.append(old)
            del self._recent[:RECENT_STEPS]

    def live(self, place: int) -> Step:
        """The step itself: what is set on it stays."""
        step = self[place]
        if place < self._packed:
            self._live[place] = step
        return step

    @property
    def _packed(self) -> int:
        return 0 if self._old is None else len(self._old)


class Turns:
    """A list of turns that is only added to: the newest is an object, older ones are bytes.

    An old turn that is read is a copy; no turn but the newest changes.
    """

    __slots__ = ("_bytes", "_ends", "_newest")

    def __init__(self) -> None:
        self._bytes, self._ends = bytearray(), array("I")
        self._newest: Turn | None = None

    def __len__(self) -> int:
        return len(self._ends) + (self._newest is not None)

    def __iter__(self) -> Iterator[Turn]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, place: int) -> Turn:
        if place < 0:
            place += len(self)
        if self._newest is not None and place == len(self._ends):
            return self._newest
        start = self._ends[place - 1] if place else 0
        return Turn(*pickle.loads(self._bytes[start : self._ends[place]]))  # noqa: S301 -- made by `append`

    def append(self, turn: Turn) -> None:
        """The next turn; the one before it changes no more."""
        if self._newest is not None:
            self._bytes += pickle.dumps(
                [getattr(self._newest, name) for name in _TURN], pickle.HIGHEST_PROTOCOL
            )
            self._ends.append(len(self._bytes))
        self._newest = turn


class _Columns:
    """Steps as numbers."""

    def __init__(self) -> None:
        self._ids = Strings()
        self._models: dict[str | None, int] = {}
        self._names: list[str | None] = []
        self._restarts: dict[int, str] = {}
        self._model, self._turn, self._upto, self._flags = array("i"), array("i"), array("i"), array("b")
        self._numbers: dict[str, array[int]] = {}
        """Of the columns in which any step has a figure."""
        self._large: dict[tuple[str, int], int] = {}
        """Figures that need more than 32 bits, which no real one does."""
        self._times = array("q")

    def __len__(self) -> int:
        return len(self._upto)

    def append(self, step: Step) -> None:
        if step.model not in self._models:
            self._models[step.model] = len(self._names)
            self._names.append(step.model)
        self._ids[len(self)] = step.id
        if step.restart:
            self._restarts[len(self)] = step.restart
        self._model.append(self._models[step.model])
        self._turn.append(step.turn)
        self._upto.append(step.upto)
        self._flags.append(step.exact | step.usage_partial << 1)
        for name in _COLUMNS:
            value = getattr(step, name)
            if value is not None and not _NONE < value < -_NONE:
                if -_MOST < value < _MOST:
                    self._large[name, len(self) - 1] = value
                value = None
            if value is not None and name not in self._numbers:
                self._numbers[name] = array("i", [_NONE]) * (len(self) - 1)
            if name in self._numbers:
                self._numbers[name].append(_NONE if value is None else value)
        at = moment(step.ts)
        self._times.append(_NO_TIME if at is None else (at - _EPOCH) // _MICROSECOND)

    def step(self, place: int) -> Step:
        ts = self._times[place]
        step = Step(
            place + 1, self._ids.get(place) or "", self._turn[place], self._upto[place],
            self._names[self._model[place]],
            None if ts == _NO_TIME else (_EPOCH + ts * _MICROSECOND).isoformat(),
            exact=bool(self._flags[place] & 1), usage_partial=bool(self._flags[place] & 2),
            restart=self._restarts.get(place, ""),
        )  # fmt: skip
        for name in _COLUMNS:
            value = self._numbers[name][place] if name in self._numbers else _NONE
            setattr(step, name, self._large.get((name, place)) if value == _NONE else value)
        return step


class StepsById:
    """Id -> step, as a dict: of an id that comes again the newer step counts."""

    __slots__ = ("_again", "_ids", "_steps")

    def __init__(self, steps: Steps) -> None:
        self._ids, self._steps = Ids(), steps
        self._again: dict[str, int] = {}

    def get(self, name: str) -> Step | None:
        """The step of an id, None where there is none."""
        place = self._again.get(name) if name in self._again else self._ids.get(name)
        return None if place is None else self._steps.live(place)

    def __setitem__(self, name: str, step: Step) -> None:
        if name in self._ids:
            self._again[name] = step.number - 1
        else:
            self._ids[name] = step.number - 1
