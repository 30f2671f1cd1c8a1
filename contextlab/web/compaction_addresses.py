"""The address of the list of compactions: its query string to filters and back, and the links that change one thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import QueryDict

from contextlab.queries.compaction_list import (
    ORIGINS,
    STATES,
    CompactionFilters,
    CompactionListPage,
    CompactionTotals,
)
from contextlab.queries.session_filters import QUERY_LIMIT
from contextlab.web.addresses import Chip, clean

PATH = "/compactions"


def to_filters(query: QueryDict) -> CompactionFilters:
    """What the address asks for. Unknown origins and states are left out: a list is shown whatever was typed."""
    origin, state = query.get("origin", ""), query.get("state", "")
    return CompactionFilters(
        origin=origin if origin in ORIGINS else "",
        state=state if state in STATES else "",
        policy=clean(query.get("policy", "")),
        q=clean(query.get("q", ""))[:QUERY_LIMIT].strip(),
        session=_uid(query.get("session", "")),
        cursor=query.get("at", ""),
    )


def _uid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def address(filters: CompactionFilters) -> str:
    """The address of the list under these filters; what has its default is not in it."""
    pairs = {
        "q": filters.q, "origin": filters.origin, "state": filters.state, "policy": filters.policy,
        "session": str(filters.session or ""), "at": filters.cursor,
    }  # fmt: skip
    query = urlencode({name: value for name, value in pairs.items() if value})
    return f"{PATH}?{query}" if query else PATH


def origin_chips(filters: CompactionFilters, totals: CompactionTotals) -> list[Chip]:
    """All, then one chip for each origin."""
    everything = Chip("All", _changed(filters, origin=""), not filters.origin, totals.all)
    return [everything, *_chips(filters, "origin", ORIGINS, totals.origins)]


def state_chips(filters: CompactionFilters, totals: CompactionTotals) -> list[Chip]:
    """One chip for each state that there is, or that the list is narrowed to."""
    known = {state: state for state in STATES if totals.states.get(state) or state == filters.state}
    return _chips(filters, "state", known, totals.states) if len(known) > 1 or filters.state else []


def _chips(
    filters: CompactionFilters, name: str, labels: Mapping[str, str], counts: Mapping[str, int]
) -> list[Chip]:
    chips = []
    for value, label in labels.items():
        on = getattr(filters, name) == value
        chips.append(Chip(label, _changed(filters, **{name: "" if on else value}), on, counts.get(value, 0)))
    return chips


def policy_choices(filters: CompactionFilters, totals: CompactionTotals) -> list[tuple[str, int]]:
    """Policies to narrow to, with the number of compactions; one that is asked for and has none, too."""
    known = dict(totals.policies)
    return [
        *known.items(),
        *([(filters.policy, 0)] if filters.policy and filters.policy not in known else []),
    ]


def without_session(filters: CompactionFilters) -> str:
    """The address of the list of all sessions."""
    return _changed(filters, session=None)


def neighbours(page: CompactionListPage) -> tuple[str, str]:
    """Addresses of the previous and the next page, empty where there is none."""
    before, after = (
        address(replace(page.filters, cursor=at)) if at else "" for at in (page.before, page.after)
    )
    return before, after


def _changed(filters: CompactionFilters, **values: Any) -> str:
    return address(replace(filters, cursor="", **values))
