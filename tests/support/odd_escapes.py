"""A log whose calls have arguments with JSON escapes that no text can hold once they are decoded."""

from __future__ import annotations

import json

ARGUMENTS = [
    r'{"command": "printf \ud83d \u0000 | xxd"}',
    r'{"path": "src/\ud83d\u0000.py", "content": "x"}',
    json.dumps(r'{"command": "echo \udc00", "\ud83d": ["\u0000"]}'),
    '{"command": "printf \ud83d", "path": "src/\ud83d.py"}',
]
TOOLS = ["Bash", "Write", "Bash", "read"]


def chat_log(rounds: int = 12) -> str:
    """An OpenAI chat."""
    messages: list[dict[str, object]] = []
    for number in range(rounds):
        name, kind = f"call-{number}", number % len(TOOLS)
        function = {"name": TOOLS[kind], "arguments": ARGUMENTS[kind]}
        messages += [
            {"role": "user", "content": f"Do part {number} of it. " + "Take care. " * 30},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": name, "type": "function", "function": function}],
            },
            {
                "role": "tool",
                "tool_call_id": name,
                "content": "" if kind == 1 else "Exit code: 1\nerror: bad",
            },
            {"role": "assistant", "content": f"Part {number} is done. " + "It went well. " * 30},
        ]
    return json.dumps({"messages": messages})
