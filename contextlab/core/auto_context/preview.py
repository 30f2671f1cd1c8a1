"""Previews: the beginning of a text, cut where no visible character is torn apart."""

from __future__ import annotations

import unicodedata

CUT = "..."
"""What marks a preview as cut; it stands behind the preview and is not part of it."""
_JOINER = "\u200d"
_LONGEST = 64
"""A character that is longer than this is cut all the same (accents can be stacked without end)."""


def preview(text: str, limit: int) -> str:
    """The beginning of a text, at most `limit` code points, ending with a whole visible character."""
    if len(text) <= limit:
        return text
    for end in range(limit, max(-1, limit - _LONGEST), -1):
        if end == 0 or not _joined(text, end):
            return text[:end]
    return text[:limit]


def marked_preview(text: str, limit: int) -> str:
    """A preview that says whether it is cut."""
    seen = preview(text, limit)
    return seen if len(seen) == len(text) else seen + CUT


def _joined(text: str, place: int) -> bool:
    """Whether the code points before and behind a place belong to one visible character."""
    before, behind = text[place - 1], text[place]
    if behind < "\u0300" and before not in ("\r", _JOINER):
        return False
    if _extends(behind) or (before == _JOINER and not behind.isspace()):
        return True
    if before == "\r" and behind == "\n":
        return True
    if "\ud800" <= before <= "\udbff" and "\udc00" <= behind <= "\udfff":
        return True
    if _is_flag(before) and _is_flag(behind):
        return _flags_before(text, place) % 2 == 1
    return _is_hangul(before, behind)


def _extends(char: str) -> bool:
    return (
        char == _JOINER
        or unicodedata.category(char) in ("Mn", "Me", "Mc")
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or char in "\u200c\uff9e\uff9f"
    )


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flags_before(text: str, place: int) -> int:
    start = place
    while start > 0 and _is_flag(text[start - 1]):
        start -= 1
    return place - start


def _is_hangul(before: str, behind: str) -> bool:
    """Whether two parts of a Korean syllable meet."""
    leading, vowel = "\u1100" <= before <= "\u115f", "\u1160" <= before <= "\u11a7"
    syllable, trailing = "\uac00" <= before <= "\ud7a3", "\u11a8" <= before <= "\u11ff"
    if leading and ("\u1100" <= behind <= "\u11a7" or "\uac00" <= behind <= "\ud7a3"):
        return True
    if (vowel or (syllable and (ord(before) - 0xAC00) % 28 == 0)) and "\u1160" <= behind <= "\u11ff":
        return True
    return (vowel or syllable or trailing) and "\u11a8" <= behind <= "\u11ff"
