"""What a model says a session came to: read forgivingly, rendered in one order.

| a reply                                  | becomes                                                       |
|------------------------------------------|---------------------------------------------------------------|
| JSON object, fenced or between prose     | from the first { to the last }, else the first one that is whole |
| a scalar where a list belongs            | a list of one                                                 |
| null or blank entries                    | left out                                                      |
| an entry `{"text": ..., "items": [ids]}` | a line with the items that support it                         |
| unknown keys                             | ignored                                                       |
| an object that says nothing we know      | its own text as the summary, sections empty                   |
| an object that says nothing at all       | an empty summary                                              |
| anything else                            | the whole text as the summary, sections empty, `degraded`     |

Reading never raises, whatever the text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from contextlab.core.compaction import Line, Sections
from contextlab.core.texts import clean

READ_AS: dict[str, str] = {
    "completed": "completed",
    "pending": "pending",
    "decisions": "decisions",
    "errors": "failed_commands",
    "failed_commands": "failed_commands",
    "testResults": "test_results",
    "test_results": "test_results",
    "openQuestions": "open_questions",
    "open_questions": "open_questions",
    "userConfirmations": "user_confirmations",
    "user_confirmations": "user_confirmations",
}
"""Section by the key a model uses. What a model cannot know by itself (changed artifacts, the sandbox) is not read from
its answer. What it says that a person confirmed is a claim: committing/claims.py tells which of them nobody made."""

MOST_BRACES = 20
"""Braces of an answer that are looked at for the beginning of an object."""
HEADINGS: dict[str, str] = {
    "completed": "Progress",
    "pending": "Pending",
    "decisions": "Key Decisions",
    "changed_artifacts": "Changed Artifacts",
    "failed_commands": "Errors",
    "test_results": "Test Results",
    "user_confirmations": "User Confirmations",
    "sandbox_state": "Sandbox State",
    "open_questions": "Open Questions",
}
"""Lists by field, in the order in which they are rendered; the goal stands before them."""


@dataclass(slots=True)
class Reading:
    """A reply as it was understood."""

    sections: Sections = field(default_factory=Sections)
    summary: str = ""
    """The text for memory: the rendered sections, or the reply itself."""
    degraded: bool = False
    """Whether the reply was no JSON object, so that its text is all there is."""


def read_reply(text: str) -> Reading:
    """Understand a model's reply as far as possible; never raises."""
    text = clean(text)
    found, raw = _json_object(text)
    if found is None:
        return Reading(summary=text.strip(), degraded=True)
    sections = Sections(goal=_goal(found.get("goal")))
    for key, name in READ_AS.items():
        getattr(sections, name).extend(_lines(found.get(key)))
    said = render_sections(sections) or (raw if any(map(_lines, found.values())) else "")
    return Reading(sections, said)


def render_sections(sections: Sections) -> str:
    """The sections under their headings, empty ones left out; an empty text when all are."""
    parts = [f"## Goal\n{_no_heading(sections.goal)}"] if sections.goal else []
    for name, heading in HEADINGS.items():
        lines: list[Line] = getattr(sections, name)
        if lines:
            parts.append(f"## {heading}\n" + "\n".join(f"- {indented(line.text)}" for line in lines))
    return "\n\n".join(parts)


def is_empty(sections: Sections) -> bool:
    """Whether nothing at all was said."""
    return not render_sections(sections)


def joined(first: Sections, second: Sections) -> Sections:
    """Both, the second's lines behind the first's; the first goal that is given."""
    both = Sections(goal=first.goal or second.goal)
    for name in HEADINGS:
        getattr(both, name).extend([*getattr(first, name), *getattr(second, name)])
    return both


def keep_known_items(sections: Sections, known: frozenset[str]) -> None:
    """Drop references to items that there are not: a model may make ids up."""
    for name in HEADINGS:
        lines: list[Line] = getattr(sections, name)
        lines[:] = [Line(line.text, tuple(item for item in line.items if item in known)) for line in lines]


def indented(text: str) -> str:
    """A text whose further lines stand under its first: none can be taken for a heading or for another's words."""
    return "\n  ".join(text.splitlines())


def _json_object(text: str) -> tuple[dict[str, Any] | None, str]:
    start, end = text.find("{"), text.rfind("}")
    raw = text[start : end + 1] if 0 <= start < end else ""
    try:
        found = json.loads(raw) if raw else None
    except (ValueError, RecursionError):
        return _first_whole(text)
    return (found if isinstance(found, dict) else None), raw


def _first_whole(text: str) -> tuple[dict[str, Any] | None, str]:
    """The first object that is whole and has a key that is asked for, among braces of prose."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(MOST_BRACES):
        if start < 0:
            break
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and (READ_AS.keys() | {"goal"}) & found.keys():
            return found, text[start:end]
        start = text.find("{", start + 1)
    return None, ""


def _goal(value: Any) -> str | None:
    return "; ".join(line.text for line in _lines(value)) or None


def _lines(value: Any) -> list[Line]:
    values = value if isinstance(value, list) else [value]
    return [line for one in values if (line := _line(one)).text]


def _line(value: Any) -> Line:
    if isinstance(value, dict) and "text" in value:
        items = value.get("items")
        ids = tuple(item for item in items if isinstance(item, str)) if isinstance(items, list) else ()
        return Line(_text(value["text"]), ids)
    return Line(_text(value))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return clean(value).strip()  # again: JSON may have held as an escape what no text can hold
    try:
        return clean(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except (ValueError, RecursionError):
        return ""


def _no_heading(text: str) -> str:
    """A text that stands below a heading without a mark before it: its first line is none either."""
    return ("  " if text.startswith("#") else "") + indented(text)
