"""The context of every step by the plain rule, slowly: ancestors, their messages, their results.

Written apart from the importer and without its shortcuts, for logs of one thread.
"""

from __future__ import annotations

import json
from typing import Any


class Row:
    """A record of the tree."""

    def __init__(self, index: int, record: dict[str, Any]) -> None:
        self.index = index
        self.record = record
        self.uuid: str = record["uuid"]
        self.parent: Row | None = None
        self.items: list[str] = []
        self.message: str | None = None
        self.answers: str | None = None
        self.keeps: set[int] = set()
        content = (
            record.get("message", {}).get("content") if isinstance(record.get("message"), dict) else None
        )
        self.blocks: list[Any] = (
            [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        )
        self.results = [block for block in self.blocks if block.get("type") == "tool_result"]

    @property
    def synthetic(self) -> bool:
        """A reply that the client made by itself."""
        message = self.record.get("message", {})
        return self.record["type"] == "assistant" and (
            message.get("model") == "<synthetic>" or bool(self.record.get("isApiErrorMessage"))
        )


def expected_contexts(data: bytes) -> dict[str, set[str]]:
    """The ids of the items in the context of each step."""
    rows: list[Row] = []
    by_uuid: dict[str, Row] = {}
    caller: dict[str, str] = {}
    found: dict[str, set[str]] = {}
    for line in data.splitlines():
        record = json.loads(line)
        if "uuid" not in record or record["uuid"] in by_uuid:
            continue
        row = Row(len(rows), record)
        _place(row, rows, by_uuid, caller)
        if row.message is not None and row.message not in found:
            found[row.message] = _context(row, rows)
        rows.append(row)
        by_uuid[row.uuid] = row
    return found


def _place(row: Row, rows: list[Row], by_uuid: dict[str, Row], caller: dict[str, str]) -> None:
    record = row.record
    kind = record["type"]
    before = rows[-1] if rows else None
    parent = record.get("parentUuid", ...)
    row.parent = by_uuid.get(parent, before) if isinstance(parent, str) else before
    if kind == "system" and record.get("subtype") == "compact_boundary":
        row.parent = None
        _keep(row, rows, by_uuid)
    elif parent is None and kind != "assistant" and not row.results and not record.get("isCompactSummary"):
        row.parent = None
    if kind == "assistant" and not row.synthetic:
        row.message = record["message"].get("id") or row.uuid
        for block in row.blocks:
            if block.get("type") == "tool_use":
                caller.setdefault(block["id"], row.message)
    for block in row.results[:1]:
        row.answers = caller.get(block["tool_use_id"])
    if kind in ("user", "assistant") and not row.synthetic:
        count = 1 if record.get("isCompactSummary") else len(row.blocks)
        row.items = [row.uuid if part == 0 else f"{row.uuid}:{part}" for part in range(count)]
    if kind == "attachment" or record.get("subtype") == "local_command":
        row.items = [row.uuid]


def _keep(boundary: Row, rows: list[Row], by_uuid: dict[str, Row]) -> None:
    segment = boundary.record.get("compactMetadata", {}).get("preservedSegment")
    if segment:
        row: Row | None = by_uuid[segment["tailUuid"]]
        head = by_uuid[segment["headUuid"]]
        chain = []
        while row is not None:
            chain.append(row)
            if row is head:
                break
            row = row.parent
        boundary.keeps = {member.index for member in _whole(chain, rows)}
        head.parent = boundary


def _whole(path: list[Row], rows: list[Row]) -> list[Row]:
    """The path with all chunks of its messages and the results of their calls."""
    messages = {row.message for row in path if row.message is not None}
    indices = {row.index for row in path}
    return [row for row in rows if row.index in indices or row.message in messages or row.answers in messages]


def _context(first: Row, rows: list[Row]) -> set[str]:
    path = []
    row = first.parent
    kept: set[int] = set()
    while row is not None:
        path.append(row)
        kept |= row.keeps
        row = row.parent
    members = {member.index for member in _whole(path, rows)} | kept
    return {item for index in members for item in rows[index].items}
