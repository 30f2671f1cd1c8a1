"""A model's answer about a turn: read forgivingly, never with a wrong thing stored, never for long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core.memory_keeping.batches import PREVIEW, Fate, judged
from contextlab.core.memory_keeping.replies import MOST_BLOCKS, read_reply

PIECES = [
    "<observation>", "</observation>", "<summary>", "</summary>", "<skip_summary", "/>", "<title>", "</title>",
    "<facts>", "<fact>", "</fact>", "</facts>", "<concepts><concept>", "</concept></concepts>", "```", "```xml\n",
    "words", " ", "\0", "\ud800", "事実", "reason=\"x\"",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_answer_is_read(text: str) -> None:
    """Whatever a model answers, it becomes observations that say something, a summary, a skip, or is counted."""
    batch = judged(text)
    assert all(one.says_something for one in batch.observations)
    if batch.fate == Fate.STORED:
        assert bool(batch.observations) != (batch.summary is not None)
    elif batch.fate == Fate.DISCARDED:
        assert batch.preview == text.strip()[:PREVIEW]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<skip_summary reason='nothing new'/>", "nothing new"),
        ("<skip_summary>nothing new</skip_summary>", "nothing new"),
        ('```xml\n<skip_summary reason="nothing new"></skip_summary>\n```', "nothing new"),
        ("<skip_summary>", None),
    ],
)
def test_a_skip_in_any_form_is_a_skip(text: str, reason: str | None) -> None:
    """A model may say in several ways that there is nothing to note."""
    reply = read_reply(text)
    assert (reply.valid, reply.skipped, reply.skip_reason) == (True, True, reason)


def test_a_hostile_answer_takes_no_time() -> None:
    """A megabyte of tags that never close is read once, and there is a limit to what one answer brings."""
    assert not read_reply("<observation>" * 80_000).valid
    assert not read_reply("<observation><title>" * 40_000).valid
    many = read_reply("<observation><title>t</title></observation>" * 5_000)
    assert len(many.observations) == MOST_BLOCKS
