"""Retrieved chunks: what fits is in, what is not in is named with its reason."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextlab.core.agent.rag import Chunk, LeftOut, assemble_chunks, remaining_tokens
from tests.core.plugins import examples


def words(text: str) -> int:
    """Tokens for these tests: words."""
    return len(text.split())


CHUNKS = [
    Chunk("a", "one two three"),
    Chunk("b", "w " * 50),
    Chunk("c", "four five"),
    Chunk("d", "one two three"),
]


def test_a_large_chunk_does_not_keep_smaller_ones_out() -> None:
    """What does not fit is left out with what it would have cost; the next ones are still tried."""
    found = assemble_chunks(CHUNKS, 6, count=words)
    assert [chunk.id for chunk in found.chunks] == ["a", "c"]
    assert found.text == "one two three\n\nfour five"
    assert [(one.chunk.id, one.reason, one.tokens, one.room) for one in found.left_out] == [
        ("b", LeftOut.TOO_LARGE, 50, 3),
        ("d", LeftOut.DUPLICATE, None, None),
    ]
    assert found.notes == ["2 chunks, 5 of 6 tokens", "left out: 1 duplicate, 1 too_large"]


def test_rank_may_be_strict() -> None:
    """With stop_at_first nothing stands behind a better chunk that did not fit."""
    found = assemble_chunks(CHUNKS, 6, count=words, stop_at_first=True)
    assert [one.reason for one in found.left_out] == [LeftOut.TOO_LARGE, LeftOut.BEHIND, LeftOut.DUPLICATE]


def test_the_last_chunk_may_be_cut() -> None:
    """With cut_last the room is filled, and the cut is marked and named."""
    found = assemble_chunks(CHUNKS, 10, count=words, cut_last=True)
    assert found.cut == "b"
    assert found.text.endswith(" [...]")
    assert found.tokens <= 10


def test_scores_and_numbers_limit_too() -> None:
    """A chunk below the score, an empty one, and those beyond the number are left out as such."""
    chunks = [Chunk("a", "x", 0.9), Chunk("b", " "), Chunk("c", "y", 0.1), Chunk("d", "z", 0.8)]
    found = assemble_chunks(chunks, 100, count=words, min_score=0.5, max_chunks=1)
    assert [one.reason for one in found.left_out] == [LeftOut.EMPTY, LeftOut.LOW_SCORE, LeftOut.MAX_CHUNKS]


def test_the_room_is_what_history_and_answer_leave() -> None:
    """Nothing is left where history alone fills the window."""
    assert remaining_tokens(1000, 300, 200) == 500
    assert remaining_tokens(1000, 1200) == 0


@examples(80)
@given(st.lists(st.text(max_size=40), max_size=12), st.integers(0, 60), st.booleans(), st.booleans())
def test_it_never_exceeds_the_budget_and_accounts_for_every_chunk(
    texts: list[str], budget: int, stop: bool, cut: bool
) -> None:
    """The text fits, estimated too, and each chunk is in it or named with one reason."""
    chunks = [Chunk(str(number), text, label="L") for number, text in enumerate(texts)]
    found = assemble_chunks(chunks, budget, stop_at_first=stop, cut_last=cut)
    again = (len(found.text.encode("utf-8", "surrogatepass")) + 3) // 4
    assert again <= found.tokens <= budget
    ids = sorted([*(chunk.id for chunk in found.chunks), *(one.chunk.id for one in found.left_out)], key=int)
    assert ids == [chunk.id for chunk in chunks]
