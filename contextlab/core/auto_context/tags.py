"""The tag that says where a replacement's originals are kept.

Written as `<!-- CONTEXT_OFFLOAD: uuid=ID -->`, always as the last thing of a text. Read in every form that is around:
with or without the colon, and as `<context_offload uuid="ID"/>` with or without quotes.
"""

from __future__ import annotations

import re

FORM = "<!-- CONTEXT_OFFLOAD: uuid={} -->"
_TAG = re.compile(
    r"<!--\s*CONTEXT_OFFLOAD:?\s+uuid\s*=\s*[\"']?(?P<a>[^\s\"'<>]+?)[\"']?\s*-->"
    r"|<context_offload\s+uuid\s*=\s*[\"']?(?P<b>[^\s\"'<>]+?)[\"']?\s*/?>",
    re.IGNORECASE,
)
_LONGEST = 1000
"""A text's end that is searched for a tag."""


def tag(offload_id: str) -> str:
    """The tag of an offload."""
    return FORM.format(offload_id)


def tagged(text: str, offload_id: str) -> str:
    """A text with the tag at its end."""
    return f"{text}\n{tag(offload_id)}"


def offload_ids(text: str) -> list[str]:
    """The ids of all tags in a text, in order."""
    return [_id(found) for found in _TAG.finditer(text)]


def offload_of(text: str) -> str | None:
    """The id in the tag that ends a text; None for a text that stands for itself."""
    found = _closing(text)
    return None if found is None else _id(found)


def body(text: str) -> str:
    """A text without the tag that ends it."""
    found = _closing(text)
    return text if found is None else text.rstrip()[: -len(found.group())].removesuffix("\n")


def without_tags(text: str) -> str:
    """A text without any tag: what a model repeats of them names nothing that it may name."""
    return _TAG.sub("", text).strip()


def _closing(text: str) -> re.Match[str] | None:
    if not text.endswith((">", " ", "\n", "\r", "\t")):
        return None
    end = text[-_LONGEST:].rstrip()
    return next((found for found in _TAG.finditer(end) if found.end() == len(end)), None)


def _id(found: re.Match[str]) -> str:
    return str(found["a"] or found["b"])
