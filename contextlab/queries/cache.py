"""The prompt cache of a session: every step with what was read, what broke the prefix and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Q

from contextlab.adapters.prices import shares_of
from contextlab.core.audit.cache import (
    CacheStep,
    Cause,
    Economics,
    Prices,
    Sent,
    Totals,
    cache_steps,
    economics,
    totals,
)
from contextlab.core.items import KIND_CODE, VERDICTS, Kind, Reason, Verdict
from contextlab.queries.kept import Kept
from contextlab.store.items import session_items
from contextlab.store.models import CompactionRecord, ItemRecord, Session, SpanRecord, StepRecord, View

_STEP = (
    "number", "turn", "upto", "model", "ts", "input", "cache_read", "cache_write", "output", "usage_partial", "restart",
)  # fmt: skip
_CAUSES = {
    Verdict.SUMMARISED: Cause.COMPACTED,
    Verdict.CLEARED: Cause.CLEARED,
    Verdict.REASONING_CLEARED: Cause.CLEARED,
    Verdict.OFFLOADED: Cause.CLEARED,
    Verdict.DROPPED: Cause.DROPPED,
}


@dataclass(frozen=True, slots=True)
class SessionCache:
    """The cache of a session, and of the steps that were asked for."""

    totals: Totals
    steps: Sequence[CacheStep]
    compactions: Sequence[Economics]
    prices: dict[str, dict[str, str] | None]
    """What the costs rest on, by model: list, names and unit prices; None = the list does not know it."""


def session_cache(session: Session, first: int = 1, most: int = 100, turn: int | None = None) -> SessionCache:
    """Everything about a session's cache; the steps [first, first + most), or those of a turn."""
    view = View.objects.filter(session=session, name="recorded").first()
    whole = _kept.get(session, view, lambda: _whole(session, view))
    steps = whole.steps
    shown = (
        [one for one in steps if one.turn == turn]
        if turn is not None
        else steps[first - 1 : first - 1 + most]
    )
    summed = totals(shown) if turn is not None else whole.totals
    return SessionCache(summed, shown[:most], whole.compactions, whole.prices)


_kept: Kept[SessionCache] = Kept(100_000)


def _whole(session: Session, view: View | None) -> SessionCache:
    sent = list(_sent(session, view))
    listed, named = _prices({one.model for one in sent})
    steps = list(cache_steps(sent, listed))
    return SessionCache(totals(steps), steps, _compactions(session, sent, steps, listed), named)


def _prices(models: set[str]) -> tuple[dict[str, Prices | None], dict[str, dict[str, str] | None]]:
    listed: dict[str, Prices | None] = {}
    named: dict[str, dict[str, str] | None] = {}
    for model in models:
        found = shares_of(model) if model else None
        listed[model] = named[model] = None
        if found is not None:
            whole = float(found.input)
            listed[model] = Prices(whole, whole * found.read, whole * found.write, whole * found.output)
            named[model] = {name: str(value) for name, value in found.prices.items()}
    return listed, named


def _sent(session: Session, view: View | None) -> Iterator[Sent]:
    own = {"session": session, "revision": session.revision}
    rows = list(StepRecord.objects.filter(**own).order_by("number").values_list(*_STEP))
    breaks = _breaks(session, view, {row[0]: row[2] for row in rows})
    for number, turn, _, model, ts, fresh, read, write, output, partial, restart in rows:
        at, cause = breaks.get(number, (None, None))
        if cause is None and restart:
            cause = Cause.RESTART
        seconds = None if ts is None else ts.timestamp()
        yield Sent(number, turn, model, seconds, fresh, read, write, output, partial, at, cause)


def _breaks(
    session: Session, view: View | None, upto: dict[int, int]
) -> dict[int, tuple[int | None, Cause | None]]:
    """The first item whose fate changed at each step, and how; new system text breaks from the start."""
    found: dict[int, tuple[int | None, Cause | None]] = {}
    if view is not None:
        spans = SpanRecord.objects.filter(view=view).exclude(reason=Reason.UI_ONLY)
        for step, first, verdict in spans.filter(first_step__gt=1).values_list(
            "first_step", "first_item", "verdict"
        ):
            if first < upto.get(step - 1, 0):
                _keep(found, step, first, _CAUSES.get(VERDICTS[verdict]))
        for end, first in spans.filter(end_step__isnull=False).values_list("end_step", "first_item"):
            if end is not None and first < upto.get(end - 1, 0):
                _keep(found, end, first, Cause.RETURNED)
    system = Q(kind=KIND_CODE[Kind.SYSTEM], first_step__gt=1)
    items = session_items(session).filter(system)
    for step in items.values_list("first_step", flat=True):
        found[step] = (0, Cause.SYSTEM)
    return found


def _keep(
    found: dict[int, tuple[int | None, Cause | None]], step: int, first: int, cause: Cause | None
) -> None:
    """The earliest place counts; of two that begin there, the one that says what became of it."""
    before = found.get(step)
    later = before is not None and before[0] is not None and before[0] < first
    same = before is not None and before[0] == first and cause is Cause.RETURNED
    if not later and not same:
        found[step] = (first, cause)


def _compactions(
    session: Session, sent: Sequence[Sent], steps: Sequence[CacheStep], prices: dict[str, Prices | None]
) -> list[Economics]:
    own = {"session": session, "revision": session.revision}
    records = CompactionRecord.objects.filter(**own, micro=False).order_by("at_step")
    rows = list(records.values_list("at_step", "summary"))
    if not rows:
        return []
    positions = [summary for _, summary in rows if summary is not None]
    items = ItemRecord.objects.filter(**own, position__in=positions).values_list(
        "position", "tokens", "estimate"
    )
    sizes = {at: estimate if tokens is None else tokens for at, tokens, estimate in items}
    ends = [step for step, _ in rows[1:]] + [session.steps + 1]
    models = {one.step: one.model for one in sent}
    found = []
    for (step, summary), end in zip(rows, ends, strict=True):
        # An encrypted summary has no text to measure: what its writing cost is not known.
        tokens = sizes.get(summary) or None if summary is not None else None
        made = economics(steps, step, end, prices.get(models.get(step, "")), tokens)
        found += [made] if made else []
    return found
