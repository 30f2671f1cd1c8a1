"""Texts as people wrote them: without what tools wrap around, in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 100_000
"""Characters of a text that are looked at."""

_OPENED = re.compile(
    r"<(system-reminder|environment_context|user_instructions|permissions|INSTRUCTIONS|task-notification|"
    r"command-name|command-message|local-command-[a-z]+|ide_[a-z_]+|local_command_[a-z]+)\b[^<>]{0,200}>"
)
_ARGUMENTS = re.compile(r"</?command-args>")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_BULLET = re.compile(r"^(?:[-*+•>#]|\d{1,3}[.)])\s+")
_MARKS = re.compile(r"\A(?:[#>*+•-]+\s+)+")
_SPACE = re.compile(r"\s+")


def plain(text: str) -> str:
    """A text without the blocks that a tool put around a person's words."""
    text = text[:LONGEST]
    parts: list[str] = []
    start, unclosed = 0, set()
    for found in _OPENED.finditer(text):
        name = found.group(1)
        if found.start() < start or name in unclosed:
            continue
        end = text.find(f"</{name}>", found.end())
        if end < 0:
            unclosed.add(name)
            continue
        parts.append(text[start : found.start()])
        start = end + len(name) + 3
    parts.append(text[start:])
    return _ARGUMENTS.sub("", "".join(parts)).strip()


def prose(text: str) -> str:
    """The same without fenced code."""
    return "\n".join(plain(text).split("```")[::2])


def sentences(text: str, longest: int = 600) -> Iterator[str]:
    """The sentences of a text's prose, without the bullets before them; those that are longer are no sentences."""
    for part in _SENTENCE.split(prose(text)):
        sentence = _BULLET.sub("", part.strip()).strip()
        if sentence and len(sentence) <= longest:
            yield sentence


def short(text: str, width: int) -> str:
    """A text on one line, cut with a mark that says so."""
    line = _SPACE.sub(" ", text[: 4 * width + 80]).strip()
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def unmarked(text: str) -> str:
    """A text without the marks of a heading or a list that it begins with."""
    return _MARKS.sub("", text)


def same(text: str) -> str:
    """What two texts have in common that say the same: letters and figures."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())
