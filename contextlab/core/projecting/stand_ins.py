"""The wording of everything that stands in for something else in a context."""

from __future__ import annotations

REASONING_CLEARED = "[reasoning cleared]"
LOG_CLEARED = "[Old tool result content cleared]"
"""What Claude Code puts in the place of a result that it clears."""


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
