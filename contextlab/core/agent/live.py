"""What a live agent gets: the context of a step, and what came of a compaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from contextlab.core.compaction import Decision, Outcome
from contextlab.core.errors import CompactError
from contextlab.core.items import Injected, Item, Kind
from contextlab.core.projection import KEPT, NONE, Fate, Projection
from contextlab.core.report import Report
from contextlab.core.wire.conversation import ExportItem


@dataclass(slots=True)
class Compaction:
    """What a call for a compaction came to. `state`: done, noop, failed or conflict (ruled as for stored runs)."""

    state: str
    reason: str = ""
    outcome: Outcome | None = None
    decision: Decision | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    error: CompactError | None = None
    """Why it failed."""

    @property
    def compacted(self) -> bool:
        """Whether memory was replaced."""
        return self.state == "done"


@dataclass(slots=True)
class Context:
    """What the model is to see at a step, in a provider's words, and the report of how that came about."""

    format: str
    document: Any
    report: Report
    projection: Projection
    repairs: list[str] = field(default_factory=list)
    """What had to be repaired to make the messages valid."""
    compaction: Compaction | None = None
    """The compaction before this step, None where none was due."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages (Responses: the input items). Anthropic's system blocks stand in `document["system"]`."""
        if isinstance(self.document, list):
            return self.document
        messages: list[dict[str, Any]] = self.document.get("messages", self.document.get("input", []))
        return messages


def export_items(items: Sequence[Item], seen: Projection) -> list[ExportItem]:
    """All items of memory with their fates, and with the text that is sent of them.

    What a projection added (a summary) stands where it stands in the projection.
    """
    sent = dict(zip(seen.sources, seen.items, strict=True))
    added = _added(seen, len(items))
    exported: list[ExportItem] = []
    for index, (item, fate) in enumerate(zip(items, seen.fates, strict=True)):
        exported += [_made_item(one) for one in added.get(index, ())]
        exported.append(_export_item(item, sent.get(index, item).text, fate))
    return exported + [_made_item(one) for one in added.get(len(items), ())]


def _added(seen: Projection, end: int) -> dict[int, list[Item]]:
    """The items that have no source, by the index of the source item that they stand before."""
    added: dict[int, list[Item]] = {}
    place = end
    for source, item in zip(reversed(seen.sources), reversed(seen.items), strict=True):
        if source == NONE:
            added.setdefault(place, []).insert(0, item)
        else:
            place = source
    return added


def _made_item(item: Item) -> ExportItem:
    """What a projection wrote; as a user's message it is nobody's prompt."""
    made = _export_item(item, item.text, KEPT)
    if item.kind == Kind.USER:
        made.injected = item.injected or Injected.SYNTHETIC
    return made


def _export_item(item: Item, text: str, fate: Fate) -> ExportItem:
    return ExportItem(
        item.id,
        item.kind,
        text,
        item.entry,
        fate.verdict,
        fate.reason,
        item.tool,
        item.call_id,
        getattr(item, "error", None),
        item.injected,
        item.media,
        item.needs_result,
        getattr(item, "provider_id", None),
        getattr(item, "secret", None),
    )
