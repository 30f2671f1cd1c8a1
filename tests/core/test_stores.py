"""The stores of one process, and the text that all stores write."""

from __future__ import annotations

import pytest

from contextlab.core import Item, Kind, Placeholder
from contextlab.core.codec import UnreadableRecord, dump_items, load_items
from contextlab.core.offload import InMemoryOffloadStore
from contextlab.core.state import InMemoryStateStore, dump_state, load_state
from tests.support import store_contracts as contracts


def test_state_store() -> None:
    """In memory the state is compared and set."""
    contracts.check_state_store(InMemoryStateStore(), "c")
    contracts.check_arguments(InMemoryStateStore())


def test_of_saves_at_once_one_wins() -> None:
    """Threads that share a store lose no update."""
    store = InMemoryStateStore()
    assert contracts.winners([store] * 8, "c", 0, lambda: None) == 1


def test_offload_store() -> None:
    """Originals come back as they were."""
    contracts.check_offload_store(InMemoryOffloadStore())


def test_what_is_read_equals_what_was_written() -> None:
    """Every field of an item survives, a placeholder with its original too, and the text is plain ASCII."""
    stand_in = Placeholder("p", Kind.TOOL_RESULT, "[cleared]", original=contracts.ITEMS[2])
    items = (*contracts.ITEMS, stand_in)
    text = dump_items(items)
    assert text.isascii()
    assert load_items(text) == items
    assert load_items(text.encode()) == items
    assert isinstance(load_items(text)[-1], Placeholder)
    assert load_state(dump_state(contracts.state(3))) == contracts.state(3)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"v":2,"items":[]}',
        '{"v":1}',
        '{"v":1,"items":[{}]}',
        '{"v":1,"items":[{"id":"a","kind":"?"}]}',
    ],
)
def test_what_is_not_ours_is_refused(text: str) -> None:
    """A stored text of something else, or of a later version, is an error of its own."""
    with pytest.raises(UnreadableRecord):
        load_items(text)
    with pytest.raises(UnreadableRecord):
        load_state(text)


def test_defaults_are_not_written() -> None:
    """A plain item costs little."""
    assert dump_items([Item("a", Kind.USER, "hi")]) == (
        '{"v":1,"items":[{"id":"a","kind":"user","text":"hi","entry":"a","chars":2}]}'
    )
