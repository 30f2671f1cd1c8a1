"""Whether a sentence says what must, may or must not be done, in English, German, Chinese or Japanese.

The words are many because a summary puts a rule in its own words: "off limits", "stays as it is", "the user wants".
"""

from __future__ import annotations

import re

_WORDS = frozenset(
    """
    must never not no only always keep kept keeps avoid without forbid forbids forbidden prohibit
    prohibits prohibited untouched unchanged frozen freeze leave require requires required constraint
    constraints rule rules prefer prefers preference preferences stay stays stick don doesn cannot won
    mustn shouldn should shall exclusively mandatory ask asked asks approve approved approval confirm
    confirmed confirmation permission limited restrict restricts restricted may insist insists want wants
    readonly nicht nie niemals nur kein keine keinen immer muss müssen darf dürfen verboten bleib bleibt
    bleiben unverändert unberührt
    """.split()
)
_PHRASES = (
    "n't", "n’t", "off limits", "off-limits", "read-only", "as-is", "as is", "as it is", "left alone", "hands off",
    "instead of", "off the table", "at most", "at least",
)  # fmt: skip
_LETTERS = re.compile(r"[a-zà-öø-ÿ]+")
_EASTERN = re.compile(
    "[不勿禁别必须須只仅得]|保持|保留|一律|始终|ない|ません|なし|禁止|必ず|のみ|だけ|まま|維持|絶対|決して|ずに|べき|こと"
)


def gives_order(sentence: str) -> bool:
    """Whether it does."""
    low = sentence.lower()
    if not _WORDS.isdisjoint(_LETTERS.findall(low)) or any(phrase in low for phrase in _PHRASES):
        return True
    return not low.isascii() and _EASTERN.search(low) is not None
