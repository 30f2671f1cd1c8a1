"""What a case gives: its input read key by key, so that a key which nobody understands is noticed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from contextlab.core import Item, Kind

KINDS: dict[str, Kind] = {"text": Kind.ASSISTANT, **{str(kind): kind for kind in Kind}}
ROW_KEYS = frozenset(
    "id kind text chars calls call_id args args_text text_prefix nested wrapper model_visible pinned".split()
)


class Unsupported(Exception):  # noqa: N818 - a report, not a fault
    """The case asks for something that this runner does not know: it is neither passed nor failed."""


class Given(Mapping[str, Any]):
    """A part of a case that remembers which of its keys were read."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.values_given = dict(values)
        self.where = where
        self.read = {"notation"}

    def __getitem__(self, key: str) -> Any:
        value = self.values_given[key]
        self.read.add(key)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_given)

    def __len__(self) -> int:
        return len(self.values_given)

    def __contains__(self, key: object) -> bool:
        self.read.add(str(key))
        return key in self.values_given

    def only(self, *names: str) -> dict[str, Any]:
        """Those of the named keys that are given."""
        return {name: self[name] for name in names if name in self.values_given}

    def refuse_rest(self) -> None:
        """Raise Unsupported where a key was not read by anybody."""
        if rest := sorted(set(self.values_given) - self.read):
            raise Unsupported(f"unknown keys in {self.where}: {', '.join(rest)}")


def items_of(rows: Iterable[Mapping[str, Any]] | None, known: Iterable[str] = ()) -> list[Item]:
    """The items of listed rows: each row is one entry, a row with several calls has an item for each.

    Text defaults to the id, a tool name to t; a size that is given is the length of the text. An item of a row with
    one part has the row's id, several parts have `row/0`, `row/1` ... `known` names further keys that the adapter
    itself reads.
    """
    return [item for row in rows or () for item in _items_of_row(row, ROW_KEYS | set(known))]


def _items_of_row(row: Mapping[str, Any], known: set[str] | frozenset[str]) -> list[Item]:
    if rest := sorted(set(row) - known):
        raise Unsupported(f"unknown keys in the row {row.get('id')!r}: {', '.join(rest)}")
    kind = KINDS.get(row["kind"])
    if kind is None:
        raise Unsupported(f"unknown kind {row['kind']!r}")
    if row.get("calls"):
        return _calls(row)
    item = Item(row["id"], Kind.UI if row.get("model_visible") is False else kind, text_of(row))
    item.call_id, item.pinned = row.get("call_id"), bool(row.get("pinned"))
    return [item]


def text_of(row: Mapping[str, Any]) -> str:
    """A row's text, as long as the case says."""
    text = row.get("text_prefix", row.get("text", row["id"]))
    return text if row.get("chars") is None else text.ljust(row["chars"], ".")[: row["chars"]]


def _calls(row: Mapping[str, Any]) -> list[Item]:
    calls = [call if isinstance(call, list) else [call, "t"] for call in row["calls"]]
    arguments = row.get("args_text")
    if arguments is None:
        arguments = json.dumps(row["args"]) if "args" in row else ""
    items = []
    for number, (call_id, tool) in enumerate(calls):
        name = row["id"] if len(calls) == 1 else f"{row['id']}/{number}"
        item = Item(name, Kind.TOOL_CALL, arguments, row["id"], tool, call_id, pinned=bool(row.get("pinned")))
        if row.get("chars") is not None:
            item.chars = row["chars"] if number == 0 else 0
        items.append(item)
    return items


def entries(items: Iterable[Item]) -> list[str]:
    """The entries of items, each once, in order."""
    return list(dict.fromkeys(item.entry for item in items))


def model_output(given: Mapping[str, Any]) -> str | None:
    """What the model says: a text, or a dict as compact JSON (`<NAME>` in a text stands for the dict of that name)."""
    if "model_output" in given:
        output = given["model_output"]
        return output if isinstance(output, str) else compact_json(output)
    text = given.get("model_output_text")
    if text is None:
        return None
    for name in [name for name in given if f"<{name}>" in text]:
        text = text.replace(f"<{name}>", compact_json(given[name]))
    return text


def compact_json(value: Any) -> str:
    """JSON without a blank."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
