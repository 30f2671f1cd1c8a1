"""A model's answer about a turn or a session: XML, read forgivingly, without an XML parser.

| the answer                                  | becomes                                                               |
|---------------------------------------------|-----------------------------------------------------------------------|
| one fenced block                            | what stands in the fence                                              |
| a skip tag anywhere                         | skipped, with its reason or None; nothing else is read                |
| first of <observation, <summary             | decides the kind; the other kind is not read                          |
| <observation>...</observation>              | an observation: values trimmed, blank = None, entities as written     |
| no type / an unknown one                    | the first configured type / kept as emitted                           |
| a concept                                   | cut at the first colon; empty ones and the type's echo go             |
| nothing said (a subtitle or files alone)    | left out; none left = invalid                                         |
| <summary>                                   | the first block; all main fields empty = invalid                      |
| a root with attributes, prose, nothing      | invalid                                                               |

Tags are found by plain search, never by a pattern that could be made to run for long; what is not closed is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from contextlab.core.memory_keeping.observations import SUMMARY_FIELDS, TYPES, Observation, SessionSummary

SKIP = "<skip_summary"
MOST_BLOCKS = 200
"""Observations of one answer that are read."""
_REASON = re.compile(r"""\breason\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_FENCE_OPENS = re.compile(r"```[\w-]*[ \t]*\n")


class ReplyClass(StrEnum):
    """What a text is before it is read: nothing, XML of ours, or anything else."""

    IDLE = "idle"
    PROSE = "prose"
    XML = "xml"


@dataclass(slots=True)
class Reply:
    """What an answer says. `valid` is false where there is nothing to keep and nothing was skipped on purpose."""

    valid: bool = False
    skipped: bool = False
    skip_reason: str | None = None
    observations: list[Observation] = field(default_factory=list)
    summary: SessionSummary | None = None


def class_of(text: object) -> ReplyClass:
    """The class of an answer."""
    if not isinstance(text, str) or not text.strip():
        return ReplyClass.IDLE
    return (
        ReplyClass.XML if any(tag in text for tag in ("<observation", "<summary", SKIP)) else ReplyClass.PROSE
    )


def read_reply(text: object, types: Sequence[str] = TYPES) -> Reply:
    """Read an answer; never raises. `types` are the configured ones, the first stands for a missing one."""
    if not isinstance(text, str) or not text.strip():
        return Reply()
    body = _unfenced(text.strip())
    if (at := body.find(SKIP)) >= 0:
        return Reply(valid=True, skipped=True, skip_reason=_skip_reason(body, at))
    observation, summary = body.find("<observation"), body.find("<summary")
    if summary >= 0 and (observation < 0 or summary < observation):
        read = _summary(body)
        return Reply(valid=read is not None, summary=read)
    found = [_observation(block, types) for block in _blocks(body, "observation")]
    said = [one for one in found if one.says_something]
    return Reply(valid=bool(said), observations=said)


def _unfenced(text: str) -> str:
    opens = _FENCE_OPENS.match(text)
    if opens is None or not text.endswith("```") or text.count("```") != 2:
        return text
    return text[opens.end() : -3].strip()


def _skip_reason(body: str, at: int) -> str | None:
    """The attribute, else what stands between the tags."""
    end = body.find(">", at)
    head = body[at : end if end >= 0 else at + 2_000]
    if found := _REASON.search(head):
        return (found[1] or found[2] or "").strip() or None
    if end < 0 or head.endswith("/"):
        return None
    close = body.find("</skip_summary>", end)
    return (body[end + 1 : close].strip() or None) if close >= 0 else None


def _observation(block: str, types: Sequence[str]) -> Observation:
    type_ = _value(block, "type") or (types[0] if types else TYPES[0])
    concepts = [concept.partition(":")[0].strip() for concept in _values(block, "concepts", "concept")]
    return Observation(
        type_,
        _value(block, "title"),
        _value(block, "subtitle"),
        _value(block, "narrative"),
        _values(block, "facts", "fact"),
        [concept for concept in concepts if concept and concept != type_],
        _values(block, "files_read", "file"),
        _values(block, "files_modified", "file"),
    )


def _summary(body: str) -> SessionSummary | None:
    block = next(_blocks(body, "summary"), None)
    if block is None:
        return None
    read = SessionSummary(*(_value(block, name) for name in SUMMARY_FIELDS))
    return read if read.says_something else None


def _values(block: str, around: str, each: str) -> list[str]:
    inside = next(_blocks(block, around), "")
    return [value for one in _blocks(inside, each) if (value := one.strip())]


def _value(block: str, name: str) -> str | None:
    return next(_blocks(block, name), "").strip() or None


def _blocks(text: str, name: str) -> Iterator[str]:
    """What stands between each pair of tags, in order."""
    opens, closes, at = f"<{name}>", f"</{name}>", 0
    for _ in range(MOST_BLOCKS):
        start = text.find(opens, at)
        end = text.find(closes, start + len(opens)) if start >= 0 else -1
        if end < 0:
            return
        yield text[start + len(opens) : end]
        at = end + len(closes)
