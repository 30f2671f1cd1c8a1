"""Facts that are figures in a sentence, with what stands around them.

| written                                                       | kind      | subject             |
|---------------------------------------------------------------|-----------|---------------------|
| port 8443, ports 80, 8443 端口, ポート 8443                    | port      |                     |
| max_retries = 3, `ttl` is 1800, timeout: 30 s                 | setting   | the name            |
| Python 3.12, v2.3.0, version 1.4                              | version   | the word before it  |
| 3 attempts, 1,800 s, 1.9 million rows, 5 %, 三次, three tries  | quantity  | its dimension       |
| batch size 500, limit of 100                                  | quantity  | the noun before it  |
| exit code 1, HTTP 503                                         | quantity  | exit, status        |
| 2026-11-16, 16 Nov 2026                                       | quantity  | date                |

A bare figure says nothing that could be compared, and is no fact. No pattern can look back over a text: all have
bounded lengths, and a run of more than 15 figures is skipped as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from contextlab.core.audit.extract.dates import date_at, month_date
from contextlab.core.audit.extract.found import Found
from contextlab.core.audit.extract.measures import NEXT, name_before, unit_behind, word_before
from contextlab.core.audit.extract.numerals import numerals
from contextlab.core.audit.kinds import PORT, QUANTITY, SETTING, VERSION
from contextlab.core.audit.language.normalise import (
    MULTIPLIERS,
    canonical,
    number,
    shown,
    unit,
    version,
)
from contextlab.core.audit.language.subjects import around
from contextlab.core.audit.language.words import stem

_RUN = re.compile(r"\d[\d.,_]*+")
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.,/#@\\-])[vV]?(\d{1,15}(?:[.,_]\d{1,9}){0,5})(?![\d/\\])"
    r"(?:[ -]?([A-Za-zµ%％]{1,16})(?![A-Za-z0-9_]))?"
)
_JOINED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,/#@\\-")
"""Signs right before figures that are part of another word."""
_MANY = 4000
"""Figures of one text that are looked at."""
_UNIT_WORD = re.compile(r"[ -]?[A-Za-z]")
_BEHIND_PORT = re.compile(r" ?(?:号|番)?(?:端口|ポート|ports?\b)", re.I)
_PORT = re.compile(
    r"(?:\bports?(?: number)?|端口号?|ポート(?:番号)?)[^\w\d]{0,3}"
    r"(?:(?:is|to|on|at|was|changed to|为|是|は|を|改为)[ `*]{0,3})?\Z",
    re.I,
)
_AND_PORT = re.compile(r"(?:\bports?) \d{2,5}(?:, ?\d{2,5}){0,6}(?:,? (?:and|or) |, ?)\Z", re.I)
_EXIT = re.compile(
    r"(?:\bexit(?:ed)?|\brc|\breturned|退出码|終了コード)(?: with)?(?: code| status)?[ :=]{0,3}\Z", re.I
)
_STATUS = re.compile(r"(?:\bHTTP(?:/\d\.\d)?|\bstatus(?: code)?|状态码|ステータス)[ :=]{0,3}\Z", re.I)
_NOUN = re.compile(r"([A-Za-z]{3,20}(?: [A-Za-z]{3,20})?) \Z")
_PRODUCT = re.compile(
    r"([A-Za-z][A-Za-z+#-]{1,30})(?:[ -]?(?:version|v|ver\.?|版本|バージョン))?[ ]?\Z", re.I
)
_FROM = re.compile(r"\b(?:from|was|instead of|not|von|从|由|statt)[ `*]{1,3}\Z", re.I)
_FROM_ENDS = ("from", "was", "of", "not", "von", "从", "由", "statt")
_ONWARDS = re.compile(r"[^.\n]{0,24}?(?:\bto\b|→|->|\bnow\b|改|到)")
_MINE = re.compile(r"[_.]|[a-z][A-Z]|\A[A-Z][A-Z0-9_]{2,}\Z")
_SUFFIX = re.compile(
    r"(?:_|\b|(?<=[a-z]))(seconds|secs?|millis|ms|minutes|mins?|hours|days|bytes|kb|mb|gb|percent)\Z", re.I
)
_SHORT = {"secs": "sec", "millis": "ms", "mins": "min"}


def number_facts(text: str, hints: int = 0) -> list[Found]:
    """The figures of a text that say something; numbers in words where its `hints` (lexicon.py) let expect them."""
    found: list[Found] = []
    for match in islice(_numbers(text), _MANY):
        if match.group(2) is None and _says_nothing(text, match.start(), match.end()):
            continue
        if (fact := _read(text, match)) is not None:
            found.append(fact)
    for dimension, value, start, end in islice(numerals(text, hints), _MANY // 10) if hints else ():
        before = text[max(0, start - 24) : start]
        found.append(_quantity(text, dimension, value, text[start:end], start, end, before))
    return found


def _numbers(text: str) -> Iterator[re.Match[str]]:
    """The figures that stand on their own: they begin where a run of figures does, or with a v before it."""
    for run in _RUN.finditer(text):
        at = run.start()
        before = text[at - 1 : at]
        if before in _JOINED:
            if before not in "vV":
                continue
            at -= 1
        if (match := _NUMBER.match(text, at)) is not None:
            yield match


def _says_nothing(text: str, start: int, end: int) -> bool:
    """Most figures are the number of a list's entry, or stand without a unit behind words that name no value."""
    behind = text[end : end + 2]
    if behind[:1] in (".", ")") and behind[1:] in ("", " ", "\n", "*"):
        line = text[max(0, start - 12) : start].rpartition("\n")[2]
        if len(line) < 12 and not line.strip(" *#>-"):
            return True
    if end - start > 4 or not text.isascii() or text[start] in "vV" or behind[:1] in ("-", "%"):
        return False
    before = text[max(0, start - 24) : start].rstrip(" `\"'*(#")
    if not before or before[-1] in ".,;!?)]}|\n+-/<&0123456789":
        return "port" not in before and not _UNIT_WORD.match(text, end)
    return False


def _read(text: str, match: re.Match[str]) -> Found | None:
    start, told = match.start(), match.group(1)
    end = match.end(1)
    if match.end() == end + 0 and end < len(text) and text[end] == "-" and len(told) == 4:
        return date_at(text, start)
    before = text[max(0, start - 72) : start]
    before = before[before.rfind("\n") + 1 :]
    if match.group(0)[0] in "vV" or told.count(".") > 1:
        return _version(text, before, start, end, told, strong=False)
    amount = number(told.rstrip(",."))
    if amount is None:
        return None
    if (dated := month_date(text, before, start, end, told)) is not None:
        return dated
    special = _special(text, before, start, end, told, match.group(2))
    if special is not None:
        return special
    return _measured(text, before, match, amount)


def _special(text: str, before: str, start: int, end: int, told: str, word: str | None) -> Found | None:
    """Ports, exit codes, HTTP statuses, versions of two parts; `word` stands behind."""
    whole = told.isdigit()
    if whole and 2 <= len(told) <= 5:
        low = before[-48:].lower()
        ported = ("port" in low or "ポート" in low or "端口" in low) and (
            _PORT.search(low) or _AND_PORT.search(low)
        )
        may_be_behind = word is None or word[:4].lower() == "port"
        if ported or (may_be_behind and _BEHIND_PORT.match(text, end)):
            stale = _is_stale(text, before, end)
            words = around(text, start, end)
            return Found(PORT, "", told, f"port {told}", start, end, False, float(told), words, stale)
        if len(told) == 3 and _STATUS.search(before[-24:]):
            return _quantity(text, "status", float(told), f"HTTP {told}", start, end, before)
    exits = "xit" in before[-28:] or "码" in before[-8:] or "コード" in before[-8:]
    if whole and len(told) <= 3 and exits and _EXIT.search(before[-32:]):
        return _quantity(text, "exit", float(told), f"exit code {told}", start, end, before)
    if told.count(".") == 1 and (product := _PRODUCT.search(before[-40:])):
        name = product.group(1)
        if "version" in product.group(0).lower() or (name[0].isupper() and stem(name) and unit(name) is None):
            following = text[end : end + 2]
            if not following[:1].isalpha() and not (following[:1] == " " and _unit_follows(text, end)):
                return _version(text, before, start, end, told, strong=name[0].isupper())
    return None


def _unit_follows(text: str, end: int) -> bool:
    following = NEXT.match(text, end)
    return following is not None and (
        unit(following.group(1)) is not None or following.group(1) in MULTIPLIERS
    )


def _version(text: str, before: str, start: int, end: int, told: str, strong: bool) -> Found | None:
    if before.endswith(("==", "~=", ">=")):
        return None  # a word of its own
    product = _PRODUCT.search(before[-48:])
    name = product.group(1) if product else ""
    if name and (name[0].isupper() or "_" in name) and stem(name):
        strong, subject = True, canonical(name)
    else:
        subject = ""
    parts = version(told)
    if len(parts) > 3 and all(part.isdigit() and int(part) < 256 for part in parts) and len(parts) == 4:
        return None  # an address
    label = f"{name} {told}" if strong else told
    stale = _is_stale(text, before, end)
    words = around(text, start, end)
    return Found(VERSION, subject, ".".join(parts), label.strip(), start, end, strong, None, words, stale)


def _measured(text: str, before: str, match: re.Match[str], amount: float) -> Found | None:
    """A number with a unit behind it, or a name before it, or both."""
    start, end = match.start(1), match.end(1)
    dimension, factor, stop = unit_behind(text, match)
    name = name_before(before)
    if before[-1:] == ":" and (before[-2:-1].isdigit() or "." in name):
        return None  # 21:40, file:line
    if name and before.endswith(f"{name}:") and ("." in name or end - start > 3):
        return None  # host:port, file:line: these are words
    if name and (_MINE.search(name) or dimension or name.lower() in _COUNTED or unit(name) is not None):
        return _of_name(text, before, name, (start, stop or end), amount, (dimension, factor))
    if dimension:
        told = text[start:stop].strip()
        return _quantity(text, dimension, amount * factor, told, start, stop, before)
    last = word_before(before)
    if last in _COUNTED and amount >= 2 and (noun := _NOUN.search(before[-42:])) is not None:
        told = f"{noun.group(1)} {shown(amount)}"
        return _quantity(text, f"n:{stem(last) or last}", amount, told, start, end, before)
    return None


_COUNTED = frozenset(
    "size limit max maximum minimum min threshold timeout ttl batch depth retries concurrency budget quota cap "
    "capacity interval delay factor ratio offset seed backoff parallelism workers replicas shards pool".split()
)
"""Plain nouns that name a value worth keeping, without a unit."""


def _of_name(
    text: str, before: str, name: str, place: tuple[int, int], amount: float, measure: tuple[str, float]
) -> Found:
    """A setting (its name looks like one), or a quantity named by a plain noun."""
    dimension, factor = measure
    start, end = place
    if not dimension and (suffix := _SUFFIX.search(name)):
        word = suffix.group(1).lower()
        dimension, factor = unit(_SHORT.get(word, word)) or ("", 1.0)
    value = amount * factor
    told = f"{name} = {text[start:end].strip()}"
    if _MINE.search(name):
        last = name.rpartition(".")[2]
        stale, words = _is_stale(text, before, end), around(text, start, end)
        return Found(SETTING, canonical(last), shown(value), told, start, end, True, value, words, stale)
    own = unit(name)
    if not dimension and own is not None and own[0] not in ("time", "size"):
        dimension = own[0]
    return _quantity(
        text,
        dimension or f"n:{stem(name) or name.lower()}",
        value,
        told,
        start,
        end,
        before,
        extra=stem(name),
    )


def _quantity(
    text: str, dimension: str, value: float, told: str, start: int, end: int, before: str, extra: str = ""
) -> Found:
    words = around(text, start, end)
    if extra:
        words |= {extra}
    stale = _is_stale(text, before, end)
    return Found(QUANTITY, dimension, shown(value), told, start, end, False, value, words, stale)


def _is_stale(text: str, before: str, end: int) -> bool:
    """`from 30 to 60`, `was 30, now 60`, `60 instead of 30`, `8443, not 443`: the other one holds."""
    if not before[-16:].rstrip(" `*").lower().endswith(_FROM_ENDS):
        return False
    found = _FROM.search(before[-16:])
    if found is None:
        return False
    word = found.group(0).strip(" `*").lower()
    if word in ("instead of", "not", "statt"):
        return True
    return _ONWARDS.match(text, end, end + 30) is not None
