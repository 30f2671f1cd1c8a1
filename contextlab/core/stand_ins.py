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
