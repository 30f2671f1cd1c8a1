"""The fast writer of a transcript's lines writes what the core's own writer writes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextlab.adapters.json_lines import write_lines
from contextlab.core.summarising import transcript

TEXTS = st.text(st.characters(exclude_categories=())) | st.sampled_from(
    ['},{"id":"', '},{"kind":"', '"}', "\x00\x1f\x7f\u2028", "\ud800 alone", "ä🎉"]
)
KEYS = st.sampled_from([("id", "kind", "tool", "text"), ("id", "kind"), ("kind", "text")])
LINES = st.builds(lambda keys, texts: dict(zip(keys, texts, strict=False)), KEYS, st.tuples(*[TEXTS] * 4))


@given(st.lists(LINES, max_size=6))
def test_a_prompt_is_the_same_with_and_without_the_fast_writer(lines: list[dict[str, str]]) -> None:
    """Whatever stands in the texts, a model reads the same bytes, and one line for each object."""
    told = write_lines(lines)
    assert told == transcript.write_lines(lines)
    assert told.count("\n") == len(lines)
