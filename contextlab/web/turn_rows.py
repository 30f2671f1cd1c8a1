"""The HTML of the rows of a session's table of turns: one formatted string each, everything from a log escaped.

Not a template: a page has fifty of these rows of ten cells, and as a template they took a third of its time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.template.defaultfilters import join, pluralize, truncatechars
from django.template.loader import get_template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from contextlab.queries.step import ReportFigures
from contextlab.queries.turn import TurnRow, TurnTable
from contextlab.web.figures import compact, exact
from contextlab.web.opened import Opened
from contextlab.web.svg import composition_bar

MOST_MARKS = 4
MOST_NOTES = 90
_NOTHING = SafeString("")

_ROW = (
    '<tr data-row><td class="r muted" data-label="turn">{number}</td>'
    '<td class="clip"><a data-open href="{address}">{title}</a>{before}{status}</td>'
    '<td class="r" data-label="steps">{steps}</td>\n{report}</tr>\n'
)
_REPORT = (
    '<td>{bar}</td><td class="r fit" data-label="tokens" title="{exactly} {source} at the last step;'
    ' lowest {lowest}, highest {highest}">{tokens}{span}</td>'
    '<td class="r" data-label="pinned">{pinned}</td><td class="r" data-label="cleared"{stubs}>{cleared}</td>'
    '<td class="r" data-label="dropped">{dropped}</td><td class="r" data-label="summarised">{summarised}</td>'
    '<td class="notes">{marks}{observed}{finding}<span class="faint mono">{notes}</span></td>'
)
_STUBS = ' title="and {} offloaded, {} reasoning cleared"'
_BEFORE = SafeString(' <span class="sub">before the first turn</span>')
_FINDING = SafeString('<span class="tag warn">changed outside the log</span> ')


def turn_rows(opened: Opened, table: TurnTable, observed: Mapping[int, int]) -> list[SafeString]:
    """A row for each turn of a page; `observed` has the number of observations by the turn's number."""
    uid = opened.session.uid
    turns, memories = reverse("turn", args=[uid, 0])[:-1], reverse("session-memories", args=[uid])
    scale = table.largest
    rows = []
    for row in table.rows:
        seen = _observed(observed.get(row.number, 0), memories)
        rows.append(_row(row, f"{turns}{row.number}{opened.query}", _report(opened, row, scale, seen)))
    return rows


def _row(row: TurnRow, address: str, report: SafeString) -> SafeString:
    status = row.status if row.status != "completed" else ""
    return format_html(
        _ROW,
        number=row.number,
        address=address,
        title=row.title or "(no text)",
        before=_NOTHING if row.number else _BEFORE,
        status=format_html(' <span class="tag warn">{}</span>', status) if status else _NOTHING,
        steps=exact(row.steps),
        report=report,
    )


def _report(opened: Opened, row: TurnRow, scale: int, observed: SafeString) -> SafeString:
    found = row.report
    if found is None:
        why = "not projected yet" if row.steps else "no model call"
        return format_html('<td colspan="7" class="muted">{}</td>', why)
    return format_html(
        _REPORT,
        bar=composition_bar(found.composition, scale),
        exactly=exact(found.projected_tokens),
        source=found.token_source,
        lowest=exact(row.low),
        highest=exact(row.high),
        tokens=compact(found.projected_tokens),
        span=_span(row),
        pinned=exact(found.pinned_items),
        stubs=_stubs(found),
        cleared=exact(found.cleared_items),
        dropped=exact(found.dropped_items),
        summarised=exact(found.summarised_items),
        marks=_marks(opened, row),
        observed=observed,
        finding=_FINDING if found.finding else _NOTHING,
        notes=_notes(found.notes),
    )


def _span(row: TurnRow) -> SafeString:
    if row.low == row.high:
        return _NOTHING
    return format_html(' <span class="sub">{} to {}</span>', compact(row.low), compact(row.high))


def _stubs(found: ReportFigures) -> SafeString:
    if not (found.offloaded_items or found.reasoning_cleared_items):
        return _NOTHING
    return format_html(_STUBS, exact(found.offloaded_items), exact(found.reasoning_cleared_items))


def _marks(opened: Opened, row: TurnRow) -> SafeString:
    """The first compactions of a turn; few turns have any, so that the template of other pages does."""
    if not row.compactions:
        return _NOTHING
    template = get_template("panels/mark.html")
    values = {"session": opened.session, "opened": opened}
    shown = [template.render({**values, "mark": mark}) for mark in row.compactions[:MOST_MARKS]]
    more = len(row.compactions) - MOST_MARKS
    rest = format_html('<span class="sub">and {} more</span> ', more) if more > 0 else _NOTHING
    return SafeString("".join(f"{mark} " for mark in shown)) + rest


def _observed(count: int, address: str) -> SafeString:
    if not count:
        return _NOTHING
    words = '<a class="tag" href="{}">{} observation{}</a> '
    return format_html(words, address, exact(count), pluralize(count))


def _notes(notes: Sequence[str]) -> str:
    return truncatechars(join(notes, "; "), MOST_NOTES) if notes else ""
