"""What stands right before and behind a number: the name that it is given to, the unit that it counts."""

from __future__ import annotations

import re

from contextlab.core.audit.language.normalise import MULTIPLIERS, UNITS, unit

NEXT = re.compile(r"[ -]([A-Za-z]{1,16})\b")
_EAST = re.compile(
    r" ?(毫秒|ミリ秒|微秒|秒|分钟|分間|分鐘|分|小时|小時|時間|天|日間|周|週間|次|回|行|条|件|个|個|人|名|页|"
    r"ページ|台|"
    r"核|列|批|步|"
    r"字节|バイト|字符|文字|テスト|リクエスト|メッセージ|トークン|円|元|[万萬億亿千])"
)
_JOINTS = (
    "defaults to", "set to", "is now", "was set to", "equals", "stays at", "stays", "is", "of", "to", "at", "was", "be",
)  # fmt: skip
_SIGNS = (":=", "==", "=>", "->", "=", ":", "→", "设为", "改为", "为", "是", "は", "を", "に")
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OF_NAMES = f"{_LETTERS}0123456789_.-"
_GIVING = _SIGNS + _JOINTS
NO_NOUN = frozenset(
    "the and for with about over under than only after before from into least most some all these those takes took "
    "has have had are were was step phase line lines page section chapter item option part point case number figure "
    "table".split()
)


def unit_behind(text: str, match: re.Match[str]) -> tuple[str, float, int]:
    """Dimension, factor and end of the unit behind a number; no dimension where there is none."""
    word, end, factor = match.group(2), match.end(), 1.0
    if word is None:
        east = _EAST.match(text, match.end(1)) if not text.isascii() else None
        if east is None:
            return "", 1.0, 0
        if (times := MULTIPLIERS.get(east.group(1))) is not None:
            again = _EAST.match(text, east.end())
            dimension, more = UNITS[again.group(1)] if again and again.group(1) in UNITS else ("", 1.0)
            return dimension, times * more, again.end() if again else east.end()
        dimension, factor = UNITS.get(east.group(1), ("", 1.0))
        return dimension, factor, east.end()
    if (times := MULTIPLIERS.get(word if word == "m" else word.lower())) is not None and word != "m":
        factor = times
        following = NEXT.match(text, end)
        if following is None:
            return ("", factor, end) if word.lower() not in ("k", "m") else ("amount", factor, end)
        word, end = following.group(1), following.end()
    for _ in range(3):
        if (known := unit(word)) is not None:
            return known[0], known[1] * factor, end
        if len(word) < 3 or word.lower() in NO_NOUN or (following := NEXT.match(text, end)) is None:
            break
        word, end = following.group(1), following.end()
    return ("amount", factor, match.end()) if factor > 1 else ("", 1.0, 0)


def word_before(before: str) -> str:
    """The letters before a blank at the end of a text, in lower case; empty where something else stands there."""
    if before[-1:] != " ":
        return ""
    return before[len(before[:-1].rstrip(_LETTERS)) : -1].lower()


def name_before(before: str) -> str:
    """The name that a value is given to (ttl = 30, `ttl` is 30, ttl: 30, ttl of 30), empty where there is none."""
    left = before.rstrip(" `\"'*")
    if not left.endswith(_GIVING):
        return ""
    for sign in _SIGNS:
        if left.endswith(sign):
            return _last_name(left[: -len(sign)])
    for joint in _JOINTS:
        if left.endswith(joint) and left[-len(joint) - 1 : -len(joint)] in (" ", "`", '"'):
            return _last_name(left[: -len(joint)])
    return ""


def _last_name(text: str) -> str:
    text = text.rstrip(" `\"'*])")[-64:]
    at = len(text.rstrip(_OF_NAMES))
    name = text[at:].strip(".-")
    return name if len(name) > 1 and not name[0].isdigit() else ""
