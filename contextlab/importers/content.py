"""Content parts as OpenAI's two wire formats write them: what a part says and what is attached to it."""

from __future__ import annotations

from typing import Any

from contextlab.core.items import Media
from contextlab.importers.values import json_text, mapping, media, optional, sequence, text

Part = tuple[str, tuple[Media, ...]]
"""The text of a content part and its pictures, sounds and files (never decoded)."""


def parts_of(content: Any) -> list[Part]:
    """The parts of a message's content: a text is one part, nothing is none, unknown parts become JSON text."""
    if content is None:
        return []
    if isinstance(content, list):
        return [_part(part) for part in content]
    return [(json_text(content), ())]


def joined(parts: list[Part]) -> Part:
    """Several parts as one: texts on lines of their own, attachments together."""
    words = "\n".join(words for words, _ in parts if words)
    return words, tuple(one for _, attached in parts for one in attached)


def _part(part: Any) -> Part:
    if not isinstance(part, dict):
        return json_text(part), ()
    kind = text(part.get("type"))
    for family in ("image", "audio", "file", "video"):
        if family in kind:
            return "", (_attachment(family, part),)
    for name in ("text", "refusal", "content"):
        if isinstance(part.get(name), str):
            return text(part[name]), ()
    return json_text(part), ()


_SOURCES = ("url", "data", "file_data", "file_url", "image_url", "audio_url", "video_url", "file_id", "image")


def _attachment(family: str, part: dict[str, Any]) -> Media:
    """The picture, sound or file of a part: the address stands in it, or in an object of the part's own name."""
    inner = next((mapping(value) for value in part.values() if isinstance(value, dict)), {})
    address = next(
        (place[name] for place in (part, inner) for name in _SOURCES if optional(place.get(name))), None
    )
    found = media("file" if family == "video" else family, address)
    form = optional(inner.get("format")) or optional(part.get("format"))
    if found.mime is None and form is not None:
        return Media(found.type, f"{family}/{form}", found.size)
    return found


def texts(parts: Any) -> str:
    """The texts of a list of parts on lines of their own (summaries of reasoning)."""
    return joined([_part(part) for part in sequence(parts)])[0]
