"""Items as text that a summarising model reads: one JSON object a line, framed as data.

What tools were given and gave back is shortened in the middle where it is longer than `most`; what people and the model
said is not. Memory keeps all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from json import JSONEncoder

from contextlab.core.items import KINDS, Item, Kind
from contextlab.core.projecting.stand_ins import NO_RESULT, attachment
from contextlab.core.projection import NONE, pair_up

BEGIN, END = "<transcript>", "</transcript>"
LONGEST = 20_000
"""Characters of one call's arguments or one result, about 5,000 tokens."""
STRETCH = 32
"""Lines that are written at once: so few that a processor's cache holds them while they are."""
_SHORTENED = (Kind.TOOL_CALL, Kind.TOOL_RESULT)
_NAMES = {kind: str(kind.value) for kind in KINDS}
_encoder = JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))

Line = dict[str, str]
WriteLines = Callable[[Sequence[Line]], str]
"""Writes objects as JSON without blanks, each with a line end behind it; letters other than control characters, quote
and backslash as they are. `write_lines` does it with the standard library; who has a faster way puts it into `Deps`."""


def transcript(items: Sequence[Item], most: int = LONGEST, write: WriteLines | None = None) -> str:
    """The items between two marks. A call that was never answered gets a labelled line that says so."""
    return "".join(transcript_parts(items, most, write))


def transcript_parts(
    items: Sequence[Item], most: int = LONGEST, write: WriteLines | None = None
) -> Iterator[str]:
    """The transcript in parts, for who puts it into a longer text: many megabytes are copied only once then."""
    write = write or write_lines
    yield f"{BEGIN}\n"
    lines: list[Line] = []
    ui, call = Kind.UI, Kind.TOOL_CALL
    for item, partner in zip(items, pair_up(items), strict=True):
        kind = item.kind
        if kind == ui:
            continue
        text = item.text
        if (len(text) > most and kind in _SHORTENED) or item.media:
            text = _shown(item, most)
        line = {"id": item.id, "kind": _NAMES[kind]}
        if item.tool:
            line["tool"] = item.tool
        if item.call_id:
            line["call_id"] = item.call_id
        line["text"] = text
        lines.append(line)
        if len(lines) >= STRETCH:
            yield _unclosed(write(lines))
            lines = []
        if partner == NONE and kind == call and item.needs_result:
            lines.append(_unanswered(item))
    yield _unclosed(write(lines))
    yield END


def _unclosed(lines: str) -> str:
    """A text cannot close the frame: the slash of a closing mark is written as an escape, which JSON allows."""
    return lines.replace(END, END.replace("/", "\\/"))


def write_lines(lines: Sequence[Line]) -> str:
    """The lines as `WriteLines` says, by one call of the encoder: one for each of thousands takes twice as long.

    Inside of a text a quote has its backslash, so that no text can look like the end of one object and the first key
    of the next; each of ours begins with `id` or `kind`.
    """
    if not lines:
        return ""
    told = _encoder.encode(lines)[1:-1] + "\n"
    return told.replace('},{"id":"', '}\n{"id":"').replace('},{"kind":"', '}\n{"kind":"')


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


def _shown(item: Item, most: int) -> str:
    """The item's text, what is longer than is shown of calls and results shortened, and its attachments."""
    text = item.text
    if len(text) > most and item.kind in _SHORTENED:
        text = shortened(text, most)
    return "\n".join([text, *(attachment(one.type, one.mime) for one in item.media)])


def _unanswered(call: Item) -> Line:
    line = {"kind": _NAMES[Kind.TOOL_RESULT]}
    if call.call_id:
        line["call_id"] = call.call_id
    return {**line, "text": NO_RESULT}
