"""A memory as a hand-over in Markdown: the summary, then the newest items, for a person or another agent.

What anybody said is quoted, what tools were given and gave back is fenced: no text can pass for a heading of it.
"""

from __future__ import annotations

from contextlab.core.compaction import Snapshot
from contextlab.core.items import Item, Kind

_HEADS = {
    Kind.SYSTEM: "System",
    Kind.USER: "User",
    Kind.ASSISTANT: "Assistant",
    Kind.TOOL_CALL: "Call",
    Kind.TOOL_RESULT: "Result",
    Kind.SUMMARY: "Summary",
}


def as_markdown(title: str, snapshot: Snapshot) -> str:
    """The memory, reasoning left out."""
    parts = [f"# Hand-over: {' '.join(title.split())}"]
    if snapshot.summary and snapshot.summary.strip():
        parts.append(f"## What happened so far\n\n{_quoted(snapshot.summary.strip())}")
    shown = [_part(item) for item in snapshot.items if item.kind in _HEADS]
    if shown:
        parts += ["## What stands in memory word for word", *shown]
    return "\n\n".join(parts) + "\n"


def _part(item: Item) -> str:
    tool = " ".join((item.tool or "").replace("`", "'").split())
    head = f"### {_HEADS[item.kind]}" + (f" `{tool}`" if tool else "")
    if item.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT):
        return f"{head}\n\n{_fenced(item.text)}"
    return f"{head}\n\n{_quoted(item.text)}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _fenced(text: str) -> str:
    """In a fence that the text cannot close."""
    longest = run = 0
    for letter in text:
        run = run + 1 if letter == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
