"""Items as text that a summarising model reads: one JSON object a line, framed as data.

What tools were given and gave back is shortened in the middle where it is longer than `most`; what people and the model
said is not. Memory keeps all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from json.encoder import encode_basestring as quoted

from contextlab.core.items import Item, Kind
from contextlab.core.projecting.stand_ins import NO_RESULT, attachment
from contextlab.core.projection import NONE, pair_up

BEGIN, END = "<transcript>", "</transcript>"
LONGEST = 20_000
"""Characters of one call's arguments or one result, about 5,000 tokens."""
_SHORTENED = (Kind.TOOL_CALL, Kind.TOOL_RESULT)


def transcript(items: Sequence[Item], most: int = LONGEST) -> str:
    """The items between two marks. A call that was never answered gets a labelled line that says so."""
    lines: list[str] = []
    for item, partner in zip(items, pair_up(items), strict=True):
        if item.kind == Kind.UI:
            continue
        lines.append(_line(item, most))
        if partner == NONE and item.kind == Kind.TOOL_CALL and item.needs_result:
            lines.append(_unanswered(item))
    # A text cannot close the frame: the slash of a closing mark is written as an escape, which JSON allows.
    body = "\n".join(lines).replace(END, END.replace("/", "\\/"))
    return "\n".join([BEGIN, body, END]) if lines else f"{BEGIN}\n{END}"


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


def _line(item: Item, most: int) -> str:
    """The item as json.dumps would write it, without an encoder for each of thousands of lines."""
    text = item.text
    if len(text) > most and item.kind in _SHORTENED:
        text = shortened(text, most)
    if item.media:
        text = "\n".join([text, *(attachment(one.type, one.mime) for one in item.media)])
    tool = f', "tool": {quoted(item.tool)}' if item.tool else ""
    call_id = f', "call_id": {quoted(item.call_id)}' if item.call_id else ""
    return f'{{"id": {quoted(item.id)}, "kind": {quoted(item.kind)}{tool}{call_id}, "text": {quoted(text)}}}'


def _unanswered(call: Item) -> str:
    call_id = f', "call_id": {quoted(call.call_id)}' if call.call_id else ""
    return f'{{"kind": {quoted(Kind.TOOL_RESULT)}{call_id}, "text": {quoted(NO_RESULT)}}}'
