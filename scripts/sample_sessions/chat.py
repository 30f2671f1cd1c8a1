"""The short sample: a support agent's messages as the OpenAI chat API takes them, without usage."""

# ruff: noqa: E501  (what was said stands on one line)

from __future__ import annotations

import json
from typing import Any

SYSTEM = """You are the support agent of Larkline Ferries. You may look up bookings and rebook passengers, never refund without
the customer's words "please refund". Policy: a cancelled crossing can be moved to any crossing of the same week free of
charge. Cabins are not guaranteed after a change. Answer in the customer's language, shortly."""


def _call(call_id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def chat_files() -> dict[str, str]:
    """One list of messages."""
    booking = {
        "code": "LK-40713",
        "passengers": 3,
        "vehicle": "car, 4.6 m",
        "crossing": "Harwick-Sollund, Fri 20 Nov 18:30",
        "state": "crossing cancelled (wind)",
        "cabin": "4-berth, outside",
        "paid": "EUR 318.40",
    }
    crossings = [
        {"id": "HS-2111-0700", "leaves": "Sat 21 Nov 07:00", "car_metres": 31, "cabins": 0},
        {"id": "HS-2111-1830", "leaves": "Sat 21 Nov 18:30", "car_metres": 4, "cabins": 2},
        {"id": "HS-2211-0700", "leaves": "Sun 22 Nov 07:00", "car_metres": 58, "cabins": 11},
    ]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": SYSTEM},
        {
            "role": "user",
            "content": "Our ferry tomorrow evening was cancelled. Booking LK-40713, three of us with a car and a dog. "
            "We need to be in Sollund by Saturday night. Can you move us?",
        },
        _call("call_b1", "get_booking", {"code": "LK-40713"}),
        {"role": "tool", "tool_call_id": "call_b1", "content": json.dumps(booking)},
        _call(
            "call_b2",
            "find_crossings",
            {"route": "Harwick-Sollund", "from": "2026-11-21", "to": "2026-11-22", "car_metres": 4.6},
        ),
        {"role": "tool", "tool_call_id": "call_b2", "content": json.dumps(crossings)},
        {
            "role": "assistant",
            "content": "I'm sorry about the cancellation. On Saturday there is room for your car at 07:00 (no cabin "
            "left); the 18:30 has only 4 metres of car deck, yours needs 4.6. Shall I move you to 07:00?",
        },
        {"role": "user", "content": "Yes please, 07:00. The dog may stay with us on deck?"},
        _call("call_b3", "rebook", {"code": "LK-40713", "crossing": "HS-2111-0700", "cabin": False}),
        {
            "role": "tool",
            "tool_call_id": "call_b3",
            "content": json.dumps({"ok": True, "code": "LK-40713", "crossing": "HS-2111-0700"}),
        },
        {
            "role": "assistant",
            "content": "Done: LK-40713 leaves on Saturday 21 November at 07:00, at no charge. Be at the gate by 06:15. "
            "Dogs may stay with you on the open deck and in the pet lounge on deck 7, on a lead.",
        },
    ]
    return {"openai-chat/ferry-rebooking.json": json.dumps(messages, indent=1, ensure_ascii=False) + "\n"}
