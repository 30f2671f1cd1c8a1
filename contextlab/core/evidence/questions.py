"""Questions that nobody answered: of the assistant at the end, of the person where no answer follows."""

from __future__ import annotations

from contextlab.core.compaction import Line
from contextlab.core.evidence.record import Record, spoken
from contextlab.core.evidence.words import sentences, short
from contextlab.core.items import Item

ASSISTANT, USER = "The assistant asks: ", "The user asks: "
WIDTH = 240
_MARKS = ("?", "？")


def open_questions(record: Record, earlier: list[Line]) -> list[Line]:
    """Those still open at the end of memory; earlier ones stay until the other side has said something."""
    talk = [(item, spoken(item)) for item in record.talk()]
    sides = {mine for _, mine in talk}
    answered = tuple(ASSISTANT if mine else USER for mine in sides)
    lines = [line for line in earlier if not line.text.startswith(answered)]
    for item, mine in _last_words(talk):
        lines += _questions(item, USER if mine else ASSISTANT)
    return lines + _asked_by_tool(record)


def _last_words(talk: list[tuple[Item, bool]]) -> list[tuple[Item, bool]]:
    """What the side said that spoke last, since the other side had spoken."""
    start = len(talk)
    while start > 0 and talk[start - 1][1] == talk[-1][1]:
        start -= 1
    return talk[start:]


def _questions(item: Item, who: str) -> list[Line]:
    found = [one for one in sentences(item.text, 400) if one.endswith(_MARKS)]
    return [Line(who + short(one, WIDTH), (item.id,)) for one in found[-3:]]


def _asked_by_tool(record: Record) -> list[Line]:
    """Questions put by a tool for it that has no result yet."""
    lines: list[Line] = []
    for call in record.calls:
        asked = call.arguments.get("questions")
        if call.result is not None or not isinstance(asked, list):
            continue
        words = [one.get("question") for one in asked if isinstance(one, dict)]
        lines += [
            Line(ASSISTANT + short(one, WIDTH), call.ids) for one in words if isinstance(one, str) and one
        ]
    return lines
