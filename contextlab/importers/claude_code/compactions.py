"""Compactions as the log records them: boundaries, their summaries, what they kept, and cleared results."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from contextlab.core.events import Cleared, Compaction, ItemEvent
from contextlab.core.items import Kind, Reason, Verdict
from contextlab.core.texts import clean
from contextlab.importers.claude_code.ids import bounded
from contextlab.importers.claude_code.reader import Reader
from contextlab.importers.claude_code.records import Line, plain
from contextlab.importers.claude_code.thread import PARTS, Thread
from contextlab.importers.claude_code.tree import NONE, item_id
from contextlab.importers.lines import Record


def summary(reader: Reader, thread: Thread, line: Line, record: Record, uuid: str, text: str) -> None:
    """The text of a compaction: of the boundary that waits, of the one it names, or of one without a row."""
    if not thread.expects_summary:
        thread.begin_epoch([])
        line.parent = msgspec.UNSET
        thread.last_node = NONE
        thread.hold_boundary(Compaction(f"{uuid}:compaction", line.timestamp, record.place))
    node = reader.enter(thread, line, record, uuid)
    thread.tree.items[node] = 1
    thread.settle_boundary(ItemEvent(uuid, Kind.SUMMARY, text, uuid, line.timestamp, record.place))


def boundary(reader: Reader, thread: Thread, line: Line, record: Record, uuid: str) -> None:
    """A compaction; its summary follows, or does not."""
    data = _metadata(line.compact)
    keeps, heads = _preserved(reader, thread, data)
    ids = thread.tree.item_ids(keeps)
    thread.begin_epoch(keeps)
    thread.last_node = NONE
    line.parent = msgspec.UNSET
    node = reader.enter(thread, line, record, uuid)
    for head in heads:
        thread.tree.parents[head] = node
    event = Compaction(uuid, line.timestamp, record.place, keeps=ids)
    event.trigger = clean(data["trigger"]) if isinstance(data.get("trigger"), str) else None
    event.pre_tokens, event.post_tokens = _whole(data.get("preTokens")), _whole(data.get("postTokens"))
    thread.hold_boundary(event)


def _preserved(reader: Reader, thread: Thread, data: dict[str, Any]) -> tuple[list[int], list[int]]:
    """Nodes that a compaction left as they are, and their first ones. The metadata is read leniently."""
    nodes: set[int] = set()
    heads: list[int] = []
    segment = data.get("preservedSegment")
    if isinstance(segment, dict):
        head, tail = (_node(reader, thread, segment.get(name)) for name in ("headUuid", "tailUuid"))
        if head is not None and tail is not None:
            chain = list(thread.tree.chain(tail, head))
            if chain[-1] == head:
                nodes.update(chain)
                heads.append(head)
    messages = data.get("preservedMessages")
    if isinstance(messages, dict):
        messages = messages.get("allUuids") or messages.get("uuids")
    if isinstance(messages, list):
        named = [node for uuid in messages if (node := _node(reader, thread, uuid)) is not None]
        nodes.update(named)
        heads.extend(node for node in named if thread.tree.parents[node] not in nodes)
    return thread.tree.with_groups(nodes), heads


def _node(reader: Reader, thread: Thread, uuid: object) -> int | None:
    found = reader.nodes.get(bounded(uuid)) if isinstance(uuid, str) else None
    return found & 0xFFFFFFFF if found is not None and found >> 32 == thread.number else None


def micro_boundary(thread: Thread, line: Line, record: Record, uuid: str) -> None:
    """Results whose text was cleared in place; ids that are not in the epoch are ignored."""
    data = _metadata(line.microcompact)
    named = data.get("compactedToolIds")
    calls = [call for call in named if isinstance(call, str)] if isinstance(named, list) else []
    places = sorted(thread.answers[call] for call in calls if call in thread.answers)
    items = tuple(item_id(thread.tree.uuid(place // PARTS), place % PARTS) for place in places)
    event = Cleared(uuid, items, Verdict.CLEARED, Reason.MICRO_COMPACTED, line.timestamp, record.place)
    event.trigger = clean(data["trigger"]) if isinstance(data.get("trigger"), str) else None
    event.tokens_saved = _whole(data.get("tokensSaved"))
    thread.add(event)


def _metadata(raw: Raw) -> dict[str, Any]:
    value = plain(raw)
    return value if isinstance(value, dict) else {}


def _whole(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 2**53 else None
