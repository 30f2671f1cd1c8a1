"""Previews never tear a visible character apart and are never longer than they may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core.auto_context.preview import CUT, marked_preview, preview

FAMILY = "👨‍👩‍👧‍👦"
WHOLE = [
    "🎉",
    FAMILY,
    "e\u0301",
    "🇩🇪",
    "👍🏽",
    "\r\n",
    "\u1112\u1161\u11ab",
    "ক্ষ"[:2],
    "1️⃣",
    "🏴\U000e0067\U000e007f",
]


@pytest.mark.parametrize("whole", WHOLE)
@pytest.mark.parametrize("limit", range(25))
def test_characters_stay_whole(whole: str, limit: int) -> None:
    """A preview of a repeated character consists of whole ones."""
    seen = preview(whole * 30, limit)
    assert len(seen) <= limit
    assert seen == whole * (len(seen) // len(whole))


def test_a_character_without_end_is_cut_all_the_same() -> None:
    """A thousand accents on one letter do not make a preview empty."""
    assert len(preview("e" + "\u0301" * 1000, 200)) == 200


@given(st.text(st.characters(codec=None), max_size=60), st.integers(0, 70))
def test_any_text_has_a_preview(text: str, limit: int) -> None:
    """It is a beginning of the text, and says whether it is cut."""
    seen = preview(text, limit)
    assert text.startswith(seen)
    assert len(seen) <= limit
    assert marked_preview(text, limit) == (text if len(text) <= limit else seen + CUT)
