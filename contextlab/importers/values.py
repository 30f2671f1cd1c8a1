"""Values of a log as they are needed: checked, cleaned, never trusted. Nothing here raises on strange content."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import msgspec

from contextlab.core.events import FileReport
from contextlab.core.items import Media
from contextlab.core.texts import clean, clean_value
from contextlab.importers.lines import warn

LARGEST = 2**63 - 1
"""Largest count that is believed; databases have no room for more."""

_DATA_URL = re.compile(r"data:([\w.+/-]{1,100})?[;,]")


def text(value: Any) -> str:
    """The value as clean text, empty when it is no text."""
    return clean(value) if isinstance(value, str) else ""


def optional(value: Any) -> str | None:
    """The value as clean text, None when it is no text or an empty one."""
    return clean(value) if isinstance(value, str) and value else None


def count(value: Any) -> int | None:
    """The value as a count: a whole number from 0 to LARGEST; anything else is not known."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST:
        return value
    return None


def warn_of_figures(report: FileReport, usage: Any, line: int | None) -> None:
    """Warn of numbers of tokens that no call can have (below 0, broken, beyond LARGEST): they count as unknown."""
    for name, value in mapping(usage).items():
        if isinstance(value, dict):
            warn_of_figures(report, value, line)
        elif "tokens" in name and isinstance(value, (int, float)) and count(value) is None:
            place = "" if line is None else f"line {line}: "
            warn(report, f"{place}{clean(name)[:80]} is no number of tokens; it is unknown")


def mapping(value: Any) -> dict[str, Any]:
    """The value as an object, an empty one when it is none."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """The value as a list, an empty one when it is none."""
    return value if isinstance(value, list) else []


def json_text(value: Any) -> str:
    """The value as JSON text with all digits of its numbers; a text stays as it is, None is empty."""
    if value is None:
        return ""
    if isinstance(value, str):
        return clean(value)
    try:
        return clean(json.dumps(clean_value(value), ensure_ascii=False))
    except (RecursionError, ValueError):
        return "[a value that cannot be shown as text]"


def digest(*parts: str) -> str:
    """A short name of a content: the same parts give the same 16 characters."""
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:16]


def media(kind: str, url: Any) -> Media:
    """A picture or file from its URL or its data: type and size, never decoded."""
    address = url if isinstance(url, str) else ""
    found = _DATA_URL.match(address[:120])
    if found is None:
        return Media(kind, size=len(address) if address and "://" not in address[:12] else None)
    return Media(kind, mime=found.group(1), size=len(address))


class Occurrences:
    """Ids from names that may come back: the first keeps the name, the nth gets `#n` behind it."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def __call__(self, name: str) -> str:
        """The next id of this name; the same order of names gives the same ids."""
        found = self.peek(name)
        self._seen[name] = self._seen.get(name, 0) + 1
        return found

    def peek(self, name: str) -> str:
        """The id that the next call will give to this name."""
        number = self._seen.get(name, 0) + 1
        return name if number == 1 else f"{name}#{number}"


def head_records(head: bytes, most: int = 20) -> list[Any]:
    """The first records of what may be JSON Lines; lines that are no JSON are left out."""
    found: list[Any] = []
    for line in head.split(b"\n", most)[:most]:
        try:
            found.append(msgspec.json.decode(line.strip(b"\xef\xbb\xbf\r \t\x00")))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
    return found
