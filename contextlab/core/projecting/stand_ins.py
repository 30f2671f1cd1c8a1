"""The wording of everything that stands in for something else in a context."""

from __future__ import annotations

from contextlab.core.items import Reason

REASONING_CLEARED = "[reasoning cleared]"
LOG_CLEARED = "[Old tool result content cleared]"
"""What Claude Code puts in the place of a result that it clears."""


MICRO_PREFIX = "[tool result compacted to save context]"
MICRO_PREVIEW = 240
"""Characters of a result that AI4J's coding layer leaves to be seen."""


def cleared_text(reason: str | None, tool: str | None, call_id: str | None, text: str | None = None) -> str:
    """What stands in the place of a cleared tool result; without its text only the mark of a preview."""
    if reason == Reason.MICRO_COMPACTED:
        return LOG_CLEARED
    if reason == Reason.PREVIEWED:
        return MICRO_PREFIX if text is None else previewed(call_id, text)
    return result_cleared(tool, call_id)


def previewed(call_id: str | None, text: str) -> str:
    """A mark, the call's id and the beginning of the text on one line."""
    line = " ".join(text.split())
    preview = line if len(line) <= MICRO_PREVIEW else line[:MICRO_PREVIEW] + "..."
    return f"{MICRO_PREFIX}\ncall_id: {call_id}\npreview: {preview}"


def result_cleared(tool: str | None, call_id: str | None) -> str:
    """The placeholder of a cleared tool result: names the tool and the call as far as they are known."""
    if not call_id:
        return "[tool result cleared]"
    return f"[tool result cleared: {tool}({call_id})]" if tool else f"[tool result cleared: {call_id}]"


NO_RESULT = "[no result of this tool call is recorded]"
EARLIER_CONTEXT = "[earlier context is not part of this copy]"
SUMMARY = "[summary of the conversation so far]"


def orphan_result(call_id: str | None) -> str:
    """The label of a result whose call is not in the context."""
    return f"[result of a tool call that is not in this context: {call_id or 'unknown call'}]"


def provider_call(tool: str | None) -> str:
    """The label of a call that the provider answered by itself."""
    return f"[{tool or 'tool'} call, answered by the provider]"


def attachment(kind: str, mime: str | None) -> str:
    """The label of an image or a file whose bytes are not in the text."""
    return f"[{kind}: {mime}]" if mime else f"[{kind}]"
