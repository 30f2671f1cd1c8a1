"""ContextLab's own events: the context as a session file that can be imported again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from contextlab.core.wire.conversation import ExportItem

FORMAT = "contextlab_events"
LABEL = "ContextLab events"


def lines(items: Sequence[ExportItem], session: str) -> list[dict[str, Any]]:
    """The lines of the file: its head, then an item each; only what was sent."""
    head = {"format": "contextlab-events", "version": 1, "session": {"id": session}}
    return [head, *({"type": "item", **fields(item)} for item in items if item.sent)]


def with_fates(items: Iterable[ExportItem]) -> list[dict[str, Any]]:
    """Every item with its fate, left out ones too."""
    fates = ({"verdict": str(item.verdict), "reason": item.reason and str(item.reason)} for item in items)
    return [{**fields(item), **fate} for item, fate in zip(items, fates, strict=True)]


def fields(item: ExportItem) -> dict[str, Any]:
    """The item under the names of the events format; what is not known is left out."""
    known: dict[str, Any] = {
        "id": item.id,
        "kind": str(item.kind),
        "text": item.text,
        "entry": item.entry or item.id,
    }
    optional = {
        "tool": item.tool,
        "call_id": item.call_id,
        "error": item.error,
        "injected": item.injected and str(item.injected),
    }
    known |= {name: value for name, value in optional.items() if value is not None}
    if not item.needs_result:
        known["needs_result"] = False
    if item.media:
        known["media"] = [{"type": one.type, "mime": one.mime, "size": one.size} for one in item.media]
    return known
