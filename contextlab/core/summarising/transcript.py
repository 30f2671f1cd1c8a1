"""Items as text that a summarising model reads: one JSON object a line, framed as data.

What tools were given and gave back is shortened in the middle where it is longer than `most`; what people and the model
said is not. Memory keeps all of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from contextlab.core.items import Item, Kind
from contextlab.core.projecting.stand_ins import NO_RESULT, attachment
from contextlab.core.projection import NONE, pair_up

BEGIN, END = "<transcript>", "</transcript>"
LONGEST = 20_000
"""Characters of one call's arguments or one result, about 5,000 tokens."""
_SHORTENED = (Kind.TOOL_CALL, Kind.TOOL_RESULT)


def transcript(items: Sequence[Item], most: int = LONGEST) -> str:
    """The items between two marks. A call that was never answered gets a labelled line that says so."""
    pairs = pair_up(items)
    lines = [line for index, item in enumerate(items) for line in _lines(item, pairs[index], most)]
    return "\n".join([BEGIN, *lines, END])


def shortened(text: str, most: int) -> str:
    """The text's beginning and end, with a line in between that says how much of it is left out."""
    if len(text) <= most:
        return text
    head, tail = text[: most // 2], text[len(text) - (most - most // 2) :]
    gone = len(text) - most
    lines = text.count("\n") + (not text.endswith("\n"))
    left_out = text.count("\n", len(head), len(text) - len(tail))
    how_much = f"{left_out} of {lines} lines" if left_out else f"{gone} of {len(text)} characters"
    return f"{head}\n[... {how_much} left out here ...]\n{tail}"


def _lines(item: Item, partner: int, most: int) -> Iterable[str]:
    if item.kind == Kind.UI:
        return
    yield _json(_fields(item, most))
    if item.kind == Kind.TOOL_CALL and item.needs_result and partner == NONE:
        yield _json({"kind": str(Kind.TOOL_RESULT), "call_id": item.call_id, "text": NO_RESULT})


def _fields(item: Item, most: int) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": item.id, "kind": str(item.kind)}
    if item.tool:
        fields["tool"] = item.tool
    if item.call_id:
        fields["call_id"] = item.call_id
    media = [attachment(one.type, one.mime) for one in item.media]
    text = shortened(item.text, most) if item.kind in _SHORTENED else item.text
    fields["text"] = "\n".join([text, *media])
    return fields


def _json(fields: dict[str, Any]) -> str:
    # A text cannot close the frame: the slash of a closing mark is written as an escape, which JSON allows.
    return json.dumps(fields, ensure_ascii=False).replace(END, END.replace("/", "\\/"))
