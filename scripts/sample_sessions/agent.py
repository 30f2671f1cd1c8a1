"""The hand that plays a story into a transcript: prompts, steps, boundaries, a subagent."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from scripts.sample_sessions.project import Call, Project
from scripts.sample_sessions.writer import Transcript


def picture() -> str:
    """A small screenshot-like PNG (a list of jobs, one of them red), as base64."""
    width, height = 240, 96
    rows = []
    for y in range(height):
        row = bytearray()
        for x in range(width):
            inside = y % 16 in range(3, 13)
            red = 48 <= y < 64
            if inside and x in range(8, 18):
                row += b"\xd1\x24\x2f" if red else b"\x2d\xa4\x4e"
            elif inside and x in range(26, 150 + (y // 16) * 11):
                row += b"\x57\x60\x6a" if y % 3 else b"\xf6\xf8\xfa"
            else:
                row += b"\xff\xff\xff" if inside else b"\xf6\xf8\xfa"
        rows.append(b"\x00" + bytes(row))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows), 9)), (b"IEND", b""))
    data = b"\x89PNG\r\n\x1a\n"
    for name, body in chunks:
        data += struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    return base64.b64encode(data).decode()


@dataclass(slots=True)
class Agent:
    """Plays one side of a session: what the person says and what the model does."""

    log: Transcript
    project: Project
    results: list[str] = field(default_factory=list)
    """Ids of the calls answered since the last compaction, oldest first."""
    times: dict[str, datetime] = field(default_factory=dict)
    """When the subagent and the summariser were sent off."""

    def prompt(self, text: str, image: str | None = None) -> None:
        """A new turn."""
        if self.log.steps:
            self._end_of_turn()
        self.log.user(text, image)

    def step(self, thinking: str, text: str, *calls: Call) -> None:
        """One model call and the results of its tool calls."""
        ids = self.log.answer(thinking, text, [(call.name, call.arguments) for call in calls])
        for call_id, call in zip(ids, calls, strict=True):
            if call.name == "Bash":
                self._progress(call_id, {"type": "bash_progress", "output": "", "elapsedTimeSeconds": 3})
            self.log.result(call_id, call.result, call.error, call.extra)
            self.results.append(call_id)

    def queued(self, text: str) -> None:
        """Something typed while the model worked, delivered before its next call."""
        for operation in ("enqueue", "remove"):
            record: dict[str, Any] = {"type": "queue-operation", "operation": operation}
            record |= {"timestamp": self.log.clock.tick(1, 9), "sessionId": self.log.session}
            self.log.write(record | ({"content": text} if operation == "enqueue" else {}))
        self.log.context.add("queued", text)

    def micro(self, how_many: int) -> None:
        """A micro-compaction clears the oldest results."""
        chosen, self.results = self.results[:how_many], self.results[how_many:]
        before = self.log.context.cached
        saved = self.log.context.clear(chosen)
        figures = {"trigger": "auto", "preTokens": before, "tokensSaved": saved, "compactedToolIds": chosen}
        self.log.record(
            "system",
            subtype="microcompact_boundary",
            content="Context microcompacted",
            isMeta=False,
            level="info",
            microcompactMetadata=figures | {"clearedAttachmentUUIDs": []},
        )

    def compact(self, summary: str, hidden_rise: int) -> int:
        """An automatic compaction; returns the tokens before it."""
        context = self.log.context
        before = context.hidden + sum(piece.size for piece in context.pieces)
        last, self.log.parent = self.log.parent, None
        self.times["compact"] = self.log.clock.now
        self.log.clock.tick(60, 90)
        self.log.record(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            isMeta=False,
            level="info",
            logicalParentUuid=last,
            compactMetadata={"trigger": "auto", "preTokens": before},
        )
        context.pieces.clear()
        context.hidden += hidden_rise
        context.cached = context.system
        context.add("summary", summary)
        self.results.clear()
        message = {"role": "user", "content": summary}
        self.log.record("user", message=message, isVisibleInTranscriptOnly=True, isCompactSummary=True)
        return before

    def task(
        self, thinking: str, text: str, prompt: str, title: str, report: str, child: str, spent: int
    ) -> str:
        """A subagent is sent off and comes back; returns the id of the call."""
        arguments = {"description": title, "prompt": prompt, "subagent_type": "Explore"}
        (call_id,) = self.log.answer(thinking, text, [("Task", arguments)])
        self.times["task"] = self.log.clock.now
        self._progress(call_id, {"type": "agent_progress", "prompt": prompt, "agentId": child})
        extra = {"status": "completed", "prompt": prompt, "agentId": child, "totalTokens": spent}
        self.log.result(call_id, report, extra=extra | {"totalToolUseCount": 6, "totalDurationMs": 48211})
        self.results.append(call_id)
        return call_id

    def finish(self) -> None:
        """The last turn ends."""
        self._end_of_turn()

    def _progress(self, call_id: str, data: dict[str, Any]) -> None:
        self.log.record(
            "progress", data=data, toolUseID=f"progress-{len(self.log.lines)}", parentToolUseID=call_id
        )

    def _end_of_turn(self) -> None:
        milliseconds = self.log.rng.randint(40_000, 900_000)
        self.log.record("system", subtype="turn_duration", durationMs=milliseconds, isMeta=False)
        snapshot: dict[str, Any] = {
            "messageId": self.log.parent,
            "trackedFileBackups": {},
            "timestamp": self.log.clock.tick(0.1, 1),
        }
        message = {"type": "file-history-snapshot", "messageId": self.log.parent}
        self.log.write(message | {"snapshot": snapshot, "isSnapshotUpdate": False})
