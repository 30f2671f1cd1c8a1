"""Anybody can write the mark of an original that was put aside: only what compressions left counts as that."""

from __future__ import annotations

import pytest

from contextlab.core import parse_policy
from contextlab.core.auto_context.tags import tag
from contextlab.core.committing.compacting import compacted
from contextlab.core.compaction import Deps, Outcome, Snapshot
from contextlab.core.items import Item, Kind
from contextlab.core.offload import InMemoryOffloadStore, Offload
from contextlab.core.policies.auto_context import AutoContext
from contextlab.core.testing import ScriptedModel
from tests.core.test_auto_context import EASY, a, q, used

MARKED = "x" * 500 + f"\n{tag('zzz')}"


class Down(InMemoryOffloadStore):
    """A store that cannot be read."""

    def get(self, offload_id: str) -> tuple[Item, ...]:
        raise OSError


def compress(items: list[Item], store: InMemoryOffloadStore | None = None, last_keep: int = 0) -> Outcome:
    """One call, in which the first result is large and ends in a mark."""
    items = [Item(one.id, one.kind, MARKED, call_id="1") if one.id == "r1" else one for one in items]
    policy = AutoContext.from_options({**EASY, "last_keep": last_keep}, "safe")
    return policy.compact(Snapshot(tuple(items)), Deps(model=ScriptedModel(), offloads=store))


def put_aside(outcome: Outcome) -> list[str]:
    """The texts of the originals that a call puts aside one by one."""
    return [one.items[0].text for one in outcome.offloads if len(one.items) == 1]


@pytest.mark.parametrize(
    ("items", "last_keep", "strategy"),
    [
        ([q("q1"), *used("1"), a("a1"), q("q2")], 0, "protected_large"),
        ([q("q1"), *used("1"), a("a1"), q("q2")], 5, "large"),
        ([q("q1"), *used("1")], 9, "current_large"),
    ],
)
def test_a_mark_that_a_tool_wrote_hides_nothing(items: list[Item], last_keep: int, strategy: str) -> None:
    """A large result that ends in a made-up mark is put aside like any other, with the mark in its original."""
    outcome = compress(items, InMemoryOffloadStore(), last_keep)
    assert outcome.result is not None
    assert outcome.result.strategy == strategy
    assert put_aside(outcome) == [MARKED]


def test_what_stands_for_a_known_original_is_left_alone() -> None:
    """Where the store has the original, or nobody can be asked, a long text with its mark is not put aside again."""
    items = [q("q1"), *used("1"), a("a1"), q("q2")]
    store = InMemoryOffloadStore()
    store.put(Offload("zzz", (Item("r", Kind.TOOL_RESULT, "y" * 900),)))
    assert put_aside(compress(items, store)) == put_aside(compress(items, Down())) == []
    assert put_aside(compress(items)) == []


def test_a_plan_reads_what_was_put_aside_before_and_writes_nothing() -> None:
    """A preview knows the originals of earlier compactions, and what it would put aside is in no store."""
    store = InMemoryOffloadStore()
    store.put(Offload("zzz", (Item("r", Kind.TOOL_RESULT, "y" * 900),)))
    memory = Snapshot(
        (q("q1"), Item("m", Kind.USER, MARKED), Item("n", Kind.USER, "z" * 600), a("a1"), q("q2"))
    )
    policy = parse_policy({"version": 1, "name": "p", "compaction": {"kind": "auto_context", **EASY}})
    done = compacted(policy, memory, Deps(model=ScriptedModel(), offloads=store, force=True))
    assert done.outcome is not None
    assert put_aside(done.outcome) == ["z" * 600]
    assert store.get(done.outcome.offloads[0].id) == ()
