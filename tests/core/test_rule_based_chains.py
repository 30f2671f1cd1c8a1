"""Summaries by rules one after the other: what one of them counted is counted once, however often memory shrinks."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from contextlab.core.committing.compacting import read_result_answer, result_answer
from contextlab.core.compaction import Deps, Sections, Snapshot
from contextlab.core.items import Item, Kind
from contextlab.core.policies.rule_based import RuleBased
from tests.core.plugins import examples
from tests.core.talk import Talk

COUNTED = ("changed_artifacts", "failed_commands", "test_results", "completed")
LAST = Item("last", Kind.USER, "And now?")


def compacted(snapshot: Snapshot, keep: int) -> Snapshot:
    """The memory after a compaction, its result stored and read back; as it was where nothing could go."""
    after = RuleBased(keep_recent=keep).compact(snapshot, Deps()).memory
    if after is None or after.last_result is None:
        return snapshot
    stored = read_result_answer(result_answer(after.last_result), "rules")
    return dataclasses.replace(after, last_result=stored)


def chained(items: Sequence[Item], keeps: Sequence[int]) -> Sections:
    """What is told when the items come bit by bit, with a compaction after each bit, and all of them go in the end."""
    snapshot, size = Snapshot(), len(items) // len(keeps) + 1
    for number, keep in enumerate(keeps):
        snapshot = compacted(grown(snapshot, items[number * size : (number + 1) * size]), keep)
    last = compacted(grown(snapshot, (LAST,)), 1).last_result
    assert last is not None
    return last.sections


def grown(snapshot: Snapshot, items: Sequence[Item]) -> Snapshot:
    """The memory with what came behind it."""
    return dataclasses.replace(snapshot, items=(*snapshot.items, *items))


def random_work(roll: random.Random) -> Talk:
    """Ten turns of an agent that edits the same few files, runs commands and commits."""
    talk = Talk()
    for number in range(40):
        if number % 4 == 0:
            talk.user(f"Go on with part {number}.")
        work(talk, roll, number)
        if number % 3 == 0:
            talk.says("Done so far.")
    return talk.says("All done.")


def work(talk: Talk, roll: random.Random, number: int) -> None:
    """One call of a tool."""
    path, lines, failed = f"src/{roll.choice('abc')}.py", "x\n" * roll.randrange(4), roll.random() < 0.3
    match roll.randrange(6):
        case 0:
            talk.call("Edit", file_path=path, old_string="o", new_string=lines)
        case 1:
            talk.call("Write", file_path=path, content=lines)
        case 2:
            talk.raw("apply_patch", f"*** Begin Patch\n*** Update File: {path}\n+x\n*** End Patch")
        case 3:
            talk.shell(f"make {path}", f"Exit code: {int(failed)}\nerror: bad", failed)
        case 4:
            talk.shell("pytest", f"{number} passed in 0.1s")
        case _:
            talk.shell("git commit", f"[main abcdef1] part {number}")


def test_an_edit_that_stayed_in_memory_is_counted_once() -> None:
    """Ten edits of a file are ten in the summary after two compactions, though five had stayed after the first."""
    talk = Talk()
    for number in range(10):
        talk.user(f"Change part {number} of the file. {'x' * 200}")
        talk.call("Edit", file_path="src/a.py", old_string="a", new_string="b").says("Changed. " + "y" * 200)
    first = compacted(Snapshot(tuple(talk.items)), 20)
    assert first.last_result is not None
    assert [line.text for line in first.last_result.sections.changed_artifacts] == [
        "src/a.py (5 edits, +5 −5 lines)"
    ]
    second = compacted(grown(first, (LAST,)), 1).last_result
    assert second is not None
    assert [line.text for line in second.sections.changed_artifacts] == ["src/a.py (10 edits, +10 −10 lines)"]


@examples(60)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 25), min_size=2, max_size=5))
def test_a_chain_of_summaries_counts_as_one_does(seed: int, keeps: list[int]) -> None:
    """However often memory was compacted on the way, edits, failures, tests and done work are told as at one go."""
    items = random_work(random.Random(seed)).items
    once, often = chained(items, [len(items)]), chained(items, keeps)
    for name in COUNTED:
        told = [sorted(line.text for line in getattr(one, name)) for one in (once, often)]
        assert told[0] == told[1], name
