"""The transcript that a summarising model reads, and the pairs that it is told by."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from contextlab.core.items import Item, Kind, Media
from contextlab.core.projection import NONE, pair_up
from contextlab.core.summarising.transcript import BEGIN, END, transcript

TEXTS = st.text(st.characters(), max_size=40) | st.just(f'a "quoted"\n{END} {BEGIN}')
IDS = st.sampled_from(["a", 'q"', "ü", None])
ITEMS = st.builds(
    Item,
    id=st.uuids().map(str),
    kind=st.sampled_from([Kind.USER, Kind.ASSISTANT, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.UI]),
    text=TEXTS,
    tool=st.sampled_from([None, "read", 'odd"name']),
    call_id=IDS,
    media=st.sampled_from([(), (Media("image", "image/png"),)]),
)


@given(st.lists(ITEMS, max_size=8))
def test_each_line_is_the_item_as_json(items: list[Item]) -> None:
    """Whatever stands in a text, the transcript is one JSON object a line, and no text closes its frame."""
    told = transcript(items)
    assert told.count(END) == 1
    first, *lines, last = told.split("\n")
    assert (first, last) == (BEGIN, END)
    read = [json.loads(line) for line in lines]
    shown = [item for item in items if item.kind != Kind.UI]
    assert [one["id"] for one in read if "id" in one] == [item.id for item in shown]
    for item, one in zip(shown, [one for one in read if "id" in one], strict=True):
        assert one["kind"] == item.kind
        assert one["text"].startswith(item.text)
        assert (one.get("tool"), one.get("call_id")) == (item.tool, item.call_id)


def test_a_call_that_nobody_answered_says_so() -> None:
    """Calls without a result get a labelled line, also where the call has no id."""
    lines = transcript([Item("c", Kind.TOOL_CALL, "{}", tool="read")]).split("\n")
    assert json.loads(lines[2]) == {
        "kind": "tool_result",
        "text": "[no result of this tool call is recorded]",
    }


def test_an_id_that_is_used_again_pairs_with_the_nearest_call() -> None:
    """Of several calls with one id the last waiting one is answered first."""
    kinds = [Kind.TOOL_CALL] * 3 + [Kind.TOOL_RESULT] * 4
    items = [Item(str(at), kind, call_id="x") for at, kind in enumerate(kinds)]
    assert pair_up(items) == [5, 4, 3, 2, 1, 0, NONE]


def test_a_long_transcript_is_whole() -> None:
    """However many items there are, each has its line in its place, and each unanswered call the line that says so."""
    items = [Item(str(at), Kind.TOOL_CALL if at % 3 else Kind.USER, END, tool="read") for at in range(200)]
    first, *lines, last = transcript(items).split("\n")
    assert (first, last) == (BEGIN, END)
    read = [json.loads(line) for line in lines]
    assert [one["id"] for one in read if "id" in one] == [item.id for item in items]
    calls = [at for at, one in enumerate(read) if one["kind"] == Kind.TOOL_CALL]
    assert all(read[at + 1]["kind"] == Kind.TOOL_RESULT for at in calls)
    assert len(read) == len(items) + len(calls)
