"""The address of the sessions list: its query string to Filters and back, and the links that change one thing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict

from contextlab.queries.session_filters import DEFAULT_SORT, FLAGS, QUERY_LIMIT, SORTS, Filters
from contextlab.queries.sessions import SessionPage, Totals
from contextlab.web.words import format_label

_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Chip:
    """A link that narrows the list, or stops doing so when it is `on`."""

    label: str
    address: str
    on: bool
    count: int | None = None


def to_filters(query: QueryDict) -> Filters:
    """What the address asks for. Unknown names and values are left out: a list is shown whatever was typed."""
    sort = query.get("sort", "")
    project, branch = query.get("project"), query.get("branch")
    return Filters(
        q=clean(query.get("q", ""))[:QUERY_LIMIT].strip(),
        format=clean(query.get("source", "")),
        model=clean(query.get("model", "")),
        project=None if project is None else clean(project),
        branch=None if branch is None else clean(branch),
        flags=frozenset(query.getlist("is")) & FLAGS.keys(),
        sort=sort if sort in SORTS else DEFAULT_SORT,
        grouped=query.get("group") == "project",
        cursor=query.get("at", ""),
    )


def clean(text: str) -> str:
    """Without what a database refuses (NUL, lone surrogates), and not longer than any column."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode()[:_LONGEST]


def address(filters: Filters) -> str:
    """The address of the list under these filters; what has its default is not in it."""
    pairs: list[tuple[str, str | None]] = [
        ("q", filters.q or None),
        ("source", filters.format or None),
        ("model", filters.model or None),
        ("project", filters.project),
        ("branch", filters.branch),
        *(("is", flag) for flag in sorted(filters.flags)),
        ("sort", filters.sort if filters.sort != DEFAULT_SORT else None),
        ("group", "project" if filters.grouped else None),
        ("at", filters.cursor or None),
    ]
    query = urlencode([(name, value) for name, value in pairs if value is not None])
    return f"/?{query}" if query else "/"


def source_chips(filters: Filters, totals: Totals) -> list[Chip]:
    """All, then one chip for each kind of log that there is."""
    base = replace(filters, cursor="")
    chips = [Chip("All", address(replace(base, format="")), not filters.format, totals.sessions)]
    known = {choice.value: choice.count for choice in totals.formats}
    if filters.format and filters.format not in known:
        known[filters.format] = 0
    for value, count in known.items():
        on = value == filters.format
        chips.append(Chip(format_label(value), address(replace(base, format="" if on else value)), on, count))
    return chips


def flag_chips(filters: Filters, totals: Totals) -> list[Chip]:
    """The filters that some session would pass, and those that are on."""
    base = replace(filters, cursor="")
    chips = []
    for choice in totals.flags:
        on = choice.value in filters.flags
        if on or choice.count:
            flags = filters.flags ^ {choice.value}
            chips.append(Chip(choice.label, address(replace(base, flags=flags)), on, choice.count))
    return chips


def place_chip(filters: Filters) -> Chip | None:
    """The project (and branch) that the list is narrowed to."""
    if filters.project is None:
        return None
    label = filters.project or "no project"
    if filters.branch is not None:
        label += f" on {filters.branch or 'no branch'}"
    return Chip(label, address(replace(filters, project=None, branch=None, cursor="")), on=True)


def sort_addresses(filters: Filters) -> dict[str, str]:
    """For each order the address of the list in it."""
    return {name: address(replace(filters, sort=name, cursor="")) for name in SORTS}


def neighbours(page: SessionPage) -> tuple[str, str]:
    """Addresses of the previous and the next page, empty where there is none."""
    before, after = (
        address(replace(page.filters, cursor=at)) if at else "" for at in (page.before, page.after)
    )
    return before, after
