"""Texts that can be stored and sent: what JSON lets a text hold, and UTF-8 and databases do not.

Escapes in JSON (`\\ud83d`, `\\u0000`) are harmless until they are decoded: whoever decodes a log's JSON cleans it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

SURROGATES = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """The text as every event carries it: it can be encoded in UTF-8 and has no NUL (U+2400 stands for it)."""
    if "\x00" in text:
        text = text.replace("\x00", "\u2400")
    return text if text.isascii() else encodable(text)


def encodable(text: str) -> str:
    """The text with U+FFFD in the place of each half of a pair of surrogates."""
    # Asking first is cheap for ASCII, where no surrogate can be; encoding is cheaper than a search for one.
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return SURROGATES.sub("\ufffd", text)
    return text


def clean_value(value: Any, cleaned: Callable[[str], str] = encodable) -> Any:
    """A plain JSON value with every text (and key) in it cleaned; by default NUL stays for `clean` to replace."""
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, list):
        return [clean_value(part, cleaned) for part in value]
    if isinstance(value, dict):
        return {clean_value(key, cleaned): clean_value(part, cleaned) for key, part in value.items()}
    return value
