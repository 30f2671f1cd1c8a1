"""What a value is about: the content words of the clause that it stands in."""

from __future__ import annotations

import re

from contextlab.core.audit.language.words import content

BEFORE, BEHIND = 90, 60
"""Characters on either side that are looked at, at most."""
_HARD = re.compile(r"[\n。；;！!?？.](?:(?<!\.)|(?= ))")


def around(text: str, start: int, end: int) -> frozenset[str]:
    """The content words around a place, within its sentence."""
    before = text[max(0, start - BEFORE) : start]
    behind = text[end : end + BEHIND]
    begin = 0
    for cut in _HARD.finditer(before):
        begin = cut.end()
    stop = _HARD.search(behind)
    return content(f"{before[begin:]} {behind[: stop.start()] if stop else behind}")
