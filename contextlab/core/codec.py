"""Items and memories as JSON text, for stores: what is read equals what was written, down to the class of an item.

    text = dump_snapshot(session.snapshot())         session.restore(load_snapshot(text))

The text is ASCII (other characters are escaped), so lone surrogates and NUL pass through every database. Only what
differs from an item's defaults is written. A text that is not ours raises UnreadableRecord.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import MISSING, asdict, fields
from typing import Any

from contextlab.core.compaction import CompactResult, Line, Sections, Snapshot
from contextlab.core.errors import ContextLabError
from contextlab.core.items import Injected, Item, Kind, LiveItem, Media
from contextlab.core.language_model import ModelUsage
from contextlab.core.projection import Placeholder
from contextlab.core.report import Report

VERSION = 1
_DEFAULTS = {field.name: field.default for field in fields(Item) if field.default is not MISSING}
_LIVE = ("provider_id", "secret")
_TEXTS = ("summary", "method", "strategy", "raw_reply", "read_files", "modified_files")
"""Fields of a result that are JSON as they are."""


class UnreadableRecord(ContextLabError):  # noqa: N818 - an outcome of reading
    """A stored text that this version cannot read."""


def dump_items(items: Iterable[Item]) -> str:
    """Items as JSON."""
    return dump({"items": [item_fields(item) for item in items]})


def load_items(text: str | bytes) -> tuple[Item, ...]:
    """The items that were written; raises UnreadableRecord."""
    given = load(text)
    return read_items(given.get("items"))


def dump_snapshot(snapshot: Snapshot) -> str:
    """A memory as JSON: items, summary, the result that made it, its version."""
    return dump(
        {
            "items": [item_fields(item) for item in snapshot.items],
            "summary": snapshot.summary,
            "version": snapshot.version,
            "result": snapshot.last_result and _result_fields(snapshot.last_result),
        }
    )


def load_snapshot(text: str | bytes) -> Snapshot:
    """The memory that was written; raises UnreadableRecord."""
    given = load(text)
    items = read_items(given.get("items"))
    try:
        result = None if given["result"] is None else _result(given["result"])
        return Snapshot(items, given["summary"], result, given["version"])
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise UnreadableRecord("a memory that is stored cannot be read") from error


def dump(value: dict[str, Any]) -> str:
    """An object as JSON, marked with the version of this format."""
    return json.dumps({"v": VERSION, **value}, separators=(",", ":"))


def load(text: str | bytes) -> dict[str, Any]:
    """The object that was written; raises UnreadableRecord."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableRecord("what is stored is no JSON") from error
    if not isinstance(value, dict) or value.get("v") != VERSION:
        raise UnreadableRecord("what is stored was not written by this version")
    return value


def read_items(rows: object) -> tuple[Item, ...]:
    """Items from their fields; raises UnreadableRecord."""
    if not isinstance(rows, list):
        raise UnreadableRecord("what is stored holds no items")
    try:
        return tuple(_item(row) for row in rows)
    except (TypeError, ValueError, KeyError) as error:
        raise UnreadableRecord("an item that is stored cannot be read") from error


def item_fields(item: Item) -> dict[str, Any]:
    """The fields of an item that differ from the defaults."""
    known = {name: getattr(item, name) for name in _DEFAULTS}
    row: dict[str, Any] = {"id": item.id, "kind": str(item.kind)}
    row |= {name: value for name, value in known.items() if value != _DEFAULTS[name]}
    if item.media:
        row["media"] = [asdict(one) for one in item.media]
    if isinstance(item, LiveItem):
        row["live"] = {name: getattr(item, name) for name in _LIVE if getattr(item, name) is not None}
    if isinstance(item, Placeholder):
        row["original"] = item.original and item_fields(item.original)
    return row


def _item(row: dict[str, Any]) -> Item:
    given = dict(row)
    given["kind"] = Kind(given["kind"])
    if given.get("injected") is not None:
        given["injected"] = Injected(given["injected"])
    given["media"] = tuple(Media(**one) for one in given.get("media", ()))
    if "live" in given:
        return LiveItem(**given.pop("live"), **given)
    if "original" not in given:
        return Item(**given)
    original = given.pop("original")
    return Placeholder(**given, original=_item(original) if original else None)


def _result_fields(result: CompactResult) -> dict[str, Any]:
    """All that a result says."""
    sections = {field.name: getattr(result.sections, field.name) for field in fields(Sections)}
    goal = sections.pop("goal")
    return {
        **{name: getattr(result, name) for name in _TEXTS},
        "goal": goal,
        "sections": {
            name: [[line.text, *line.items] for line in lines] for name, lines in sections.items() if lines
        },
        "report": result.report and asdict(result.report),
        "usage": result.usage and asdict(result.usage),
    }


def _result(row: dict[str, Any]) -> CompactResult:
    lines = {
        name: [Line(text, tuple(items)) for text, *items in entries]
        for name, entries in row["sections"].items()
    }
    report = row["report"] and Report(**{**row["report"], "composition": tuple(row["report"]["composition"])})
    usage = row["usage"] and ModelUsage(**row["usage"])
    return CompactResult(
        Sections(row["goal"], **lines), report=report, usage=usage, **{name: row[name] for name in _TEXTS}
    )
