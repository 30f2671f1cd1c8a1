"""How many items share a fate at a step: what was left out, by reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import F, Sum

from contextlab.core.items import VERDICTS, Verdict
from contextlab.queries import fates
from contextlab.queries.fates import is_left_out
from contextlab.queries.scope import Reading, Scope


@dataclass(frozen=True, slots=True)
class Share:
    """How many items share a verdict and a reason at a step."""

    verdict: Verdict
    reason: str
    items: int

    @property
    def left_out(self) -> bool:
        """Whether nothing of them stood in the context."""
        return is_left_out(self.verdict, self.reason)


def shares(reading: Reading) -> list[Share] | None:
    """Items by verdict and reason, most first; None when that takes more reading than a page may do at once."""
    if not reading.is_whole:
        return None
    totals: dict[tuple[Verdict, str], int] = {}
    for fate in reading.known():
        key = (fate.verdict, fate.reason)
        totals[key] = totals.get(key, 0) + fate.last - fate.first + 1
    return _sorted(Share(verdict, reason, items) for (verdict, reason), items in totals.items())


def all_shares(scope: Scope) -> list[Share]:
    """The same over every span in force, in one aggregate: for a panel that comes after the page."""
    spans = fates.in_force(scope.view_id, scope.step).filter(first_item__lt=scope.upto)
    size = Sum(F("last_item") - F("first_item") + 1)
    found = spans.values_list("verdict", "reason").annotate(items=size)
    return _sorted(Share(VERDICTS[code], reason, items) for code, reason, items in found)


def _sorted(found: Iterable[Share]) -> list[Share]:
    return sorted(found, key=lambda share: (not share.left_out, -share.items))
