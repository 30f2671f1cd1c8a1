"""What a value is about: the content words of the clause that it stands in."""

from __future__ import annotations

import re

from contextlab.core.audit.language.words import content

BEFORE, BEHIND = 90, 60
"""Characters on either side that are looked at, at most."""
_HARD = re.compile(r"[\n。；;！!?？]|\.(?= )")
_NAMES = re.compile(r"[_./:@-]")


def around(text: str, start: int, end: int) -> frozenset[str]:
    """The content words around a place, within its sentence; names are taken apart."""
    before = text[max(0, start - BEFORE) : start]
    begin = max((cut.end() for cut in _HARD.finditer(before)), default=0)
    behind = text[end : end + BEHIND]
    stop = _HARD.search(behind)
    clause = before[begin:] + " " + (behind[: stop.start()] if stop else behind)
    return content(_NAMES.sub(" ", clause))
