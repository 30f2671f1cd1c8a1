"""Where memory is cut: never through a pair, never through what is still open."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextlab.core import Item, Kind
from contextlab.core.projection import pair_up
from contextlab.core.summarising.cut import Entries, open_part, safe_cut, turn_boundary, whole_pairs
from tests.core.memories import random_memory
from tests.core.plugins import examples


def items_of(notation: str) -> list[Item]:
    """`u1 a2 k3 r3 z4`: user, assistant, call, result of the call of that number, reasoning."""
    kinds = {
        "u": Kind.USER,
        "a": Kind.ASSISTANT,
        "k": Kind.TOOL_CALL,
        "r": Kind.TOOL_RESULT,
        "z": Kind.REASONING,
    }
    return [
        Item(name, kinds[name[0]], "text", call_id=name[1:] if name[0] in "kr" else None)
        for name in notation.split()
    ]


def test_parallel_calls_stay_together() -> None:
    """A cut between two results of one batch moves before the batch."""
    entries = Entries(items_of("u1 k1 k2 r1 r2 a3 u2"))
    assert [whole_pairs(entries, cut) for cut in range(8)] == [0, 1, 1, 1, 1, 5, 6, 7]


def test_reasoning_goes_with_what_it_led_to() -> None:
    """A cut between reasoning and its call moves before the reasoning."""
    assert whole_pairs(Entries(items_of("u1 z1 k1 r1")), 2) == 1


def test_an_unanswered_prompt_is_open() -> None:
    """Everything from an unanswered prompt on stays."""
    assert open_part(Entries(items_of("u1 a1 u2 k1 r1"))) == 2


def test_results_that_nobody_read_are_open() -> None:
    """Calls and results after the last answer stay."""
    assert open_part(Entries(items_of("u1 a1 k1 r1 k2 r2"))) == 2
    assert open_part(Entries(items_of("u1 k1 r1 a1"))) == 4


def test_without_any_answer_only_the_last_calls_are_unread() -> None:
    """A later call shows that the results before it were read."""
    assert open_part(Entries(items_of("k1 r1 k2 k3 r2 r3"))) == 2


@examples(100)
@given(st.integers(0, 10**6), st.integers(0, 40))
def test_a_safe_cut_separates_nothing(seed: int, wanted: int) -> None:
    """No pair of the source has one side before a safe cut and one behind it, and the cut never moves forward."""
    entries = Entries(random_memory(seed))
    cut = safe_cut(entries, turn_boundary(entries, min(wanted, len(entries))))
    index = entries.start(cut)
    assert cut <= wanted
    for one, other in enumerate(pair_up(entries.items)):
        assert other < 0 or (one < index) == (other < index)


@examples(100)
@given(st.integers(0, 10**6), st.integers(0, 40))
def test_looking_only_behind_a_cut_finds_what_all_pairs_show(seed: int, wanted: int) -> None:
    """The cut by what stands behind it is the cut by all pairs of memory, also where ids are used again."""
    items = random_memory(seed)
    for number, item in enumerate(items):
        if item.call_id and seed % 3 == 0:
            item.call_id = f"c{number % 3}"
    entries, cut = Entries(items), min(wanted, len(Entries(items)))
    places, slow = entries.places(), cut
    while 0 < slow < len(entries):
        calls = [
            places[call]
            for call, result in enumerate(pair_up(items))
            if result > call and places[result] >= slow
        ]
        moved = min([slow, *calls])
        while moved > 0 and whole_pairs(Entries(items[: entries.start(moved + 1)]), moved) != moved:
            moved -= 1
        if moved == slow:
            break
        slow = moved
    assert whole_pairs(entries, cut) == slow
