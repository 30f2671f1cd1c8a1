"""What every state store and every offload store must do, whatever it keeps things in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from contextlab.core.items import Injected, Item, Kind, LiveItem, Media
from contextlab.core.offload import Offload, OffloadStore
from contextlab.core.state import MOST, CompressionState, StateStore

NASTY = 'tab\t, NUL \0, a lone surrogate \ud83d, a letter of another alphabet 漢, "quotes", </transcript>'
ITEMS = (
    Item("u", Kind.USER, NASTY, injected=Injected.SYNTHETIC),
    Item("c", Kind.TOOL_CALL, '{"a": 1}', "m", "run", "id-1", tokens=3, pinned=True, needs_result=False),
    Item("r", Kind.TOOL_RESULT, "", "m2", None, "id-1", chars=7, media=(Media("image", "image/png", 9), Media("file"))),
    LiveItem("t", Kind.REASONING, "hm", provider_id="rs_1", secret="sig\nwith a line"),
    LiveItem("e", Kind.TOOL_RESULT, NASTY, call_id="id-2", error=True),
)  # fmt: skip


def state(version: int, **more: Any) -> CompressionState:
    """A state with everything in it."""
    given = {"compression_version": version, "covered_until": "r", "summary": ITEMS, "covered_tokens": MOST}
    return CompressionState(version=version, covered_turns=2, **(given | more))


def check_state_store(store: StateStore, name: str) -> None:
    """Compare-and-set: created with 0, a stale write is refused and changes nothing, the right version is accepted."""
    assert store.load(name) is None
    assert not store.save(name, state(5), 4)
    assert store.load(name) is None
    assert store.save(name, state(1), 0)
    assert not store.save(name, state(2), 0)
    assert store.load(name) == state(1)
    assert store.save(name, state(2, covered_until=None), 1)
    assert not store.save(name, state(9), 1)
    assert store.load(name) == state(2, covered_until=None)
    assert store.load(f"{name}, another one") is None


def check_arguments(store: StateStore) -> None:
    """Calls that can only be a mistake raise ValueError."""
    nothing: Any = None
    for name, what, expected in (
        ("c", nothing, 0),
        ("c", state(1), -1),
        ("c", state(-1), 0),
        (" ", state(1), 0),
        ("c" * 256, state(1), 0),
        ("c\0", state(1), 0),
    ):
        with pytest.raises(ValueError, match=r"\S"):
            store.save(name, what, expected)
    with pytest.raises(ValueError, match=r"\S"):
        store.load("")


def winners(stores: list[StateStore], name: str, expected: int, done: Callable[[], None]) -> int:
    """How many of several saves at once, each through a store of its own, are accepted."""
    together = threading.Barrier(len(stores))
    results: list[object] = []

    def save(store: StateStore) -> None:
        try:
            together.wait(20)
            results.append(store.save(name, state(expected + 1), expected))
        except Exception as error:
            results.append(error)
        finally:
            done()

    threads = [threading.Thread(target=save, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(results) <= {True, False}, results
    return results.count(True)


def check_offload_store(store: OffloadStore) -> None:
    """What is put is got, an id is put anew, cleared ones and unknown ones are empty."""
    assert store.get("x") == ()
    store.put(Offload("x", ITEMS, "large"))
    store.put(Offload("y", ITEMS[:1]))
    assert store.get("x") == ITEMS
    store.put(Offload("x", ITEMS[1:]))
    assert store.get("x") == ITEMS[1:]
    store.clear("x")
    store.clear("never there")
    assert (store.get("x"), store.get("y")) == ((), ITEMS[:1])
