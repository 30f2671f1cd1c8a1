"""The block for a new session: the best observations that fit, never more than the budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextlab.core.memory_keeping.injection import Stored, Wanted, inject, rank
from contextlab.core.memory_keeping.observations import Observation


def _stored(*texts: str) -> list[Stored]:
    return [
        Stored(str(number), Observation("change", title=text, files_modified=[f"src/{number}.py"]))
        for number, text in enumerate(texts)
    ]


def test_what_is_wanted_comes_first() -> None:
    """An old observation about the wanted file or words outranks a new one about something else; CJK too."""
    stored = _stored("the login port is 8443", "ログインの制限時間を変えた", "colours", "fonts")
    assert next(one.id for one in rank(stored, Wanted("which port does the login use"))) == "0"
    assert next(one.id for one in rank(stored, Wanted("制限時間"))) == "1"
    assert next(one.id for one in rank(stored, Wanted(files=("/home/me/src/2.py",)))) == "2"
    assert next(one.id for one in rank(stored, Wanted())) == "3"
    assert next(one.id for one in rank(stored, Wanted("fonts"), chosen={"1"})) == "1"


@given(st.lists(st.text(max_size=200), max_size=12), st.integers(-5, 300))
def test_the_block_keeps_to_its_budget(texts: list[str], budget: int) -> None:
    """The block is never larger than what was given for it, and names what did not fit."""
    found = inject(_stored(*texts), budget)
    assert found.tokens <= max(0, budget)
    assert sorted([*found.used, *found.left_out], key=int) == [str(number) for number in range(len(texts))]
    assert bool(found.text) == bool(found.used)
