"""What a number may be compared with."""

from __future__ import annotations

import re
from functools import lru_cache

from contextlab.core.audit.extract.found import Found
from contextlab.core.audit.kinds import PORT, SETTING
from contextlab.core.audit.language.normalise import unit
from contextlab.core.audit.language.words import stem
from contextlab.core.audit.results import FactKind

_NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@lru_cache(maxsize=8192)
def dimensions_of(kind: FactKind, subject: str, told: str) -> tuple[str, ...]:
    """What a number may be compared with: ports with ports, a quantity with its dimension, a setting with its name
    and with what the words of its name count (max_retries with attempts)."""
    if kind == PORT:
        return ("port",)
    if kind != SETTING:
        return (subject,)
    names = [word for word in _NAME_PARTS.findall(told.partition("=")[0]) if len(word) > 1]
    if any(word.lower() == "port" for word in names):
        return (subject, "port")
    counted = [known[0] for word in names if (known := unit(word)) is not None]
    return tuple(
        dict.fromkeys([subject, *counted, *(f"n:{one}" for word in names[-1:] if (one := stem(word)))])
    )


def dimensions(found: Found) -> tuple[str, ...]:
    """The same of what was found."""
    return dimensions_of(found.kind, found.subject, found.shown)
