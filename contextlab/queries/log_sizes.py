"""How large memory was before and after compactions of logs, each figure with where it is from.

As the log states it, else as the provider reported the step beside it. Where neither says anything of either side, the
items of both steps as they are counted: a count beside a report would compare two different things, since no log shows
all that was sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db.models import Q

from contextlab.core.measuring.sums import sum_of_known
from contextlab.store.models import StepRecord, StepReport, View

Step = tuple[int, int]
"""Key of a session, and a step of it."""


class Size(NamedTuple):
    """Tokens of a memory."""

    tokens: int | None = None
    source: str = ""
    """logged, reported, counted or estimated; empty for unknown."""


class Stated(NamedTuple):
    """What a log says of one of its compactions."""

    session: int
    revision: int
    at_step: int
    """The first step that saw the memory after it."""
    before: int | None
    after: int | None

    @property
    def steps(self) -> tuple[Step, Step]:
        """The steps beside it."""
        return (self.session, self.at_step - 1), (self.session, self.at_step)


Sides = tuple[Size, Size]


def sizes_of(found: Sequence[Stated]) -> list[Sides]:
    """Before and after of each: two queries at most, whatever their number."""
    reported = _reported([one for one in found if None in (one.before, one.after)])
    told = [_told(one, reported) for one in found]
    silent = [one for one, sides in zip(found, told, strict=True) if sides == (Size(), Size())]
    counted = _counted(silent)
    return [
        _beside(one, counted) if sides == (Size(), Size()) else sides
        for one, sides in zip(found, told, strict=True)
    ]


def _told(one: Stated, reported: dict[Step, Size]) -> Sides:
    before, after = _beside(one, reported)
    return (
        before if one.before is None else Size(one.before, "logged"),
        after if one.after is None else Size(one.after, "logged"),
    )


def _beside(one: Stated, sizes: dict[Step, Size]) -> Sides:
    before, after = one.steps
    return sizes.get(before, Size()), sizes.get(after, Size())


def _reported(found: Iterable[Stated]) -> dict[Step, Size]:
    """Input that the provider reported; steps without a report are left out."""
    rows = StepRecord.objects.filter(_at(found, "session", "revision", "number"))
    sizes = {}
    for session, step, *parts in rows.values_list(
        "session_id", "number", "input", "cache_read", "cache_write"
    ):
        if (told := sum_of_known(parts)) is not None:
            sizes[session, step] = Size(told, "reported")
    return sizes


def _counted(found: Iterable[Stated]) -> dict[Step, Size]:
    """What the log shows of the steps."""
    rows = StepReport.objects.filter(_at(found, "view__session", "view__revision", "step"))
    columns = ("view__session_id", "step", "projected_tokens", "counted")
    return {
        (session, step): Size(tokens, "counted" if counted else "estimated")
        for session, step, tokens, counted in rows.filter(view__kind=View.Kind.RECORDED).values_list(*columns)
    }


def _at(found: Iterable[Stated], session: str, revision: str, number: str) -> Q:
    """The rows of the steps beside compactions."""
    wanted: dict[tuple[int, int], set[int]] = {}
    for one in found:
        wanted.setdefault((one.session, one.revision), set()).update(step for _, step in one.steps)
    places = Q(pk__in=())
    for (key, read), steps in wanted.items():
        places |= Q(**{session: key, revision: read, f"{number}__in": steps})
    return places
