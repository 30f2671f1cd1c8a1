"""What became of each item before a step, as `contextlab replay --step N` tells it, a page at a time."""

from __future__ import annotations

from typing import Any

from contextlab.api.base import RECORDED, Opened
from contextlab.core.items import KINDS, Kind, Reason, Verdict
from contextlab.core.projecting.stand_ins import REASONING_CLEARED, cleared_text
from contextlab.queries import fates
from contextlab.queries.fates import Fate
from contextlab.store.models import CompactionRecord, ItemRecord

COLUMNS = ("position", "native_id", "entry", "kind", "tool", "call_id", "pair", "tokens", "estimate", "chars")


def seen_items(
    opened: Opened, step: int, first: int, end: int, order: int
) -> tuple[list[dict[str, Any]], int]:
    """The items at positions [first, end) with their fates at the step; `order` counts what was sent before them.

    Returns the order of the next page as well.
    """
    spans = fates.oldest_fates(opened.view_id, step, first, end, limit=end - first)
    by_position = {position: fate for fate in spans for position in range(fate.first, fate.last + 1)}
    rows = ItemRecord.objects.filter(**opened.rows, position__gte=first, position__lt=end).order_by(
        "position"
    )
    items = list(rows.values(*COLUMNS))
    tools = _tools(opened, items)
    # Under a policy the log's own summaries replaced nothing.
    summaries = _summaries(opened, step) if opened.name == RECORDED else []
    found = []
    for item in items:
        fate = by_position.get(item["position"])
        if fate is None and KINDS[item["kind"]] is Kind.UI:
            fate = Fate(item["position"], item["position"], Verdict.DROPPED, Reason.UI_ONLY, step)
        sent = fate is None or not fate.left_out
        tool = item["tool"] or tools.get(item["pair"])
        found.append(
            {
                "id": item["native_id"],
                "position": item["position"],
                "entry": item["entry"],
                "kind": KINDS[item["kind"]].value,
                "tool": tool,
                "call_id": item["call_id"] or None,
                "verdict": (fate.verdict if fate else Verdict.KEPT).value,
                "reason": (fate.reason if fate else "") or None,
                "tokens": item["estimate"] if item["tokens"] is None else item["tokens"],
                "chars": item["chars"],
                "in_context": order if sent else None,
                "replaced_by": _replaced_by(item, tool, fate, summaries),
            }
        )
        order += sent
    return found, order


def _tools(opened: Opened, items: list[dict[str, Any]]) -> dict[int | None, str]:
    """Names of the tools that results among these items answer, by position of the call."""
    calls = [item["pair"] for item in items if item["pair"] is not None and not item["tool"]]
    rows = ItemRecord.objects.filter(**opened.rows, position__in=calls, kind=KINDS.index(Kind.TOOL_CALL))
    return dict(rows.values_list("position", "tool"))


def _summaries(opened: Opened, step: int) -> list[tuple[int, int, str]]:
    """(first position behind it, position of its summary, the summary's id) of each compaction before the step."""
    rows = CompactionRecord.objects.filter(**opened.rows, at_step__lte=step, summary__isnull=False)
    found = [
        (upto, at) for upto, at in rows.order_by("number").values_list("upto", "summary") if at is not None
    ]
    records = ItemRecord.objects.filter(**opened.rows, position__in=[at for _, at in found])
    names = dict(records.values_list("position", "native_id"))
    return [(upto, at, names[at]) for upto, at in found if at in names]


def _replaced_by(
    item: dict[str, Any], tool: str | None, fate: Fate | None, summaries: list[tuple[int, int, str]]
) -> str | None:
    """What stands in the item's place: the id of a summary, or the words of the placeholder."""
    position = item["position"]
    if fate is None:
        return None
    if fate.verdict == Verdict.SUMMARISED:
        return next((name for upto, at, name in summaries if position < upto and at != position), None)
    if fate.verdict == Verdict.REASONING_CLEARED and fate.reason != Reason.PROVIDER_STRIPS:
        return REASONING_CLEARED
    if fate.verdict == Verdict.CLEARED:
        return cleared_text(fate.reason, tool, item["call_id"] or None)
    return None
