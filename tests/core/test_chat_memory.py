"""The timeline of a conversation: pages back from the newest, writes once and by version, one turn at a time."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core import Item, Kind
from contextlab.core.agent.chat_memory import ChatMessage, InMemoryChatMemory, recent_items
from contextlab.core.errors import SessionBusy

MESSAGES = st.lists(st.sampled_from(["user", "assistant", "ui", "hidden"]), max_size=40)


def message(name: str, kind: str) -> ChatMessage:
    """A message of one item."""
    of = Kind.USER if kind == "hidden" else Kind(kind)
    return ChatMessage(name, (Item(name, of, name),), kind != "hidden")


def memory_of(kinds: list[str]) -> InMemoryChatMemory:
    """A timeline with messages 0, 1, 2 ..."""
    memory = InMemoryChatMemory()
    for number, kind in enumerate(kinds):
        assert memory.add_if_absent(message(str(number), kind))
    return memory


@given(MESSAGES, st.integers(min_value=1, max_value=7))
def test_pages_are_the_timeline(kinds: list[str], count: int) -> None:
    """Pages read one after the other, put together from the last to the first, are all messages in order."""
    memory = memory_of(kinds)
    pages = [memory.get_messages(offset, count) for offset in range(0, len(kinds) + count, count)]
    assert [one.id for page in reversed(pages) for one in page] == [str(n) for n in range(len(kinds))]


@given(MESSAGES, st.integers(min_value=1, max_value=5), st.integers(min_value=1, max_value=7))
def test_enough_is_read_for_a_window(kinds: list[str], turns: int, page: int) -> None:
    """What is read is the end of what a model sees, and holds one prompt more than the window, if there is one."""
    every = [str(n) for n, kind in enumerate(kinds) if kind in ("user", "assistant")]
    read = [item.id for item in recent_items(memory_of(kinds), turns, page)]
    assert read == (every[-len(read) :] if read else [])
    prompts = [name for name in every if kinds[int(name)] == "user"]
    assert set(prompts[-turns - 1 :]) <= set(read)


def test_of_many_writers_one_updates() -> None:
    """An update by version is lost by nobody and won by one."""
    memory = memory_of(["user"])
    results: list[bool] = []
    threads = [
        threading.Thread(target=lambda: results.append(memory.update(message("0", "user"), 0)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored = memory.get_message("0")
    assert stored is not None
    assert (results.count(True), stored.version) == (1, 1)
    assert not memory.update(message("unknown", "user"), 0)


def test_a_busy_session_refuses_a_second_turn() -> None:
    """A turn that was interrupted is taken up again by its id; another one waits until it ends."""
    memory = InMemoryChatMemory()
    memory.begin_turn("t1")
    with pytest.raises(SessionBusy, match="t1"):
        memory.begin_turn("t2")
    memory.end_turn("t2")
    memory.begin_turn("t1")
    memory.end_turn("t1")
    memory.begin_turn("t2")
