"""Items as text that a summarising model reads: one JSON object a line, framed as data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from contextlab.core.items import Item, Kind
from contextlab.core.projection import NONE, pair_up
from contextlab.core.stand_ins import NO_RESULT, attachment

BEGIN, END = "<transcript>", "</transcript>"


def transcript(items: Sequence[Item]) -> str:
    """The items between two marks. A call that was never answered gets a labelled line that says so."""
    pairs = pair_up(items)
    lines = [line for index, item in enumerate(items) for line in _lines(item, pairs[index])]
    return "\n".join([BEGIN, *lines, END])


def _lines(item: Item, partner: int) -> Iterable[str]:
    if item.kind == Kind.UI:
        return
    yield _json(_fields(item))
    if item.kind == Kind.TOOL_CALL and item.needs_result and partner == NONE:
        yield _json({"kind": str(Kind.TOOL_RESULT), "call_id": item.call_id, "text": NO_RESULT})


def _fields(item: Item) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": item.id, "kind": str(item.kind)}
    if item.tool:
        fields["tool"] = item.tool
    if item.call_id:
        fields["call_id"] = item.call_id
    media = [attachment(one.type, one.mime) for one in item.media]
    fields["text"] = "\n".join([item.text, *media] if media else [item.text])
    return fields


def _json(fields: dict[str, Any]) -> str:
    # A text cannot close the frame: the slash of a closing mark is written as an escape, which JSON allows.
    return json.dumps(fields, ensure_ascii=False).replace(END, END.replace("/", "\\/"))
