"""A live agent of this process, shown in a ContextLab server while it works. Standard library only.

    mirror = LiveMirror("http://127.0.0.1:8000", name="fix the tests")
    mirror.attach(session)                  # a contextlab.core.AgentSession
    ...
    mirror.close()

| what                     | how                                                                                      |
|--------------------------|------------------------------------------------------------------------------------------|
| items, steps, decisions  | are sent as they happen, by a thread of its own: the agent never waits for the server     |
| compactions of the agent | are told with what they kept, so that the live view's memory is the agent's               |
| compact now on the page  | is taken over before one of the agent's next steps, where all that it summarised stands   |
| the server is away       | what happens waits in a queue of bounded length; what does not fit is dropped and counted |
"""

from __future__ import annotations

import json
import queue
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from contextlab.core import AgentSession, LiveItem, Snapshot
from contextlab.core.agent.auto_compaction import COOL_DOWN, USELESS
from contextlab.core.agent.session_events import EventKind, SessionEvent
from contextlab.core.items import Item, Kind
from contextlab.core.measuring.memory_size import snapshot_tokens
from contextlab.core.replaying.decisions import FAILED, MADE, NOOP, NOT_DUE, PAUSED

MOST_WAITING = 10_000
BATCH = 200
PAUSES = (0.2, 1.0, 5.0)
"""Seconds between attempts while the server is away; the last one again and again."""
_SERVERS = ("compaction", "trigger", "require_gain")


class LiveMirror:
    """Sends what an AgentSession does. Nothing that goes wrong here reaches the agent."""

    def __init__(
        self,
        address: str,
        *,
        name: str = "",
        project: str = "",
        model: str = "",
        id: str = "",
        policy: Mapping[str, Any] | None = None,
        timeout: float = 10,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        """`id`: the same again goes on in the same session. `policy`: the agent's, of which the server shows the
        projector; it compacts nothing here."""
        shown = {key: value for key, value in (policy or {}).items() if key not in _SERVERS}
        self._wish: dict[str, Any] = {
            "id": id or f"agent-{uuid4().hex}",
            "name": name,
            "project": project,
            "model": model,
        }
        self._wish |= {"policy": shown} if shown else {}
        self._address, self._timeout = address.rstrip("/"), timeout
        self._waiting: queue.Queue[dict[str, Any]] = queue.Queue(most_waiting)
        self._sent: set[str] = set()
        self._session: AgentSession | None = None
        self._known: dict[str, Any] | None = None
        self._version = 1
        self._given: Snapshot | None = None
        """A memory that was made on the server, to be taken over."""
        self._covered: frozenset[str] = frozenset()
        self._delivered: set[str] = set()
        self._came: tuple[str, str] = (NOOP, "")
        """What the compaction before this step came to."""
        self._before: int | None = None
        """Tokens of memory before the compaction that is under way."""
        self._closed = threading.Event()
        self.dropped = 0
        """Events that found no place in the queue."""
        self.problem = ""
        """Why the last attempt failed; empty while all is well."""
        self._thread = threading.Thread(target=self._run, name="live-mirror", daemon=True)
        self._thread.start()

    @property
    def page(self) -> str | None:
        """Where the session is seen; None before the server has answered."""
        return None if self._known is None else f"{self._address}{self._known['page']}?view=live"

    def attach(self, session: AgentSession) -> None:
        """Begin with what stands in memory now."""
        self._session = session
        session.hooks.add(self._told)
        self._items(session.memory.items)

    def close(self, timeout: float = 10) -> None:
        """Send what waits, so many seconds at most, and end."""
        if self._session is not None:
            self._items(self._session.memory.items)
        self._closed.set()
        self._thread.join(timeout)

    # In the agent's thread --------------------------------------------------------------------------------

    def _told(self, event: SessionEvent) -> None:
        session = self._session
        if session is None:
            return
        if event.kind == EventKind.BEFORE_COMPACT and isinstance(event.payload, Snapshot):
            self._items(event.payload.items)
            self._before = snapshot_tokens(event.payload, session.deps.count)
        elif event.kind == EventKind.ON_COMPACT:
            self._came = MADE, ""
            after = session.snapshot()
            self._compacted(after, snapshot_tokens(after, session.deps.count))
        elif event.kind == EventKind.COMPACT_FAILED:
            self._came = FAILED, str(event.payload)
        elif event.kind == EventKind.STEP_START:
            self._items(session.memory.items)
            self._take_over(session)
            self._decided(session)
            self._put({"type": "step", "id": f"step-{session.steps}-{uuid4().hex[:12]}"})
        elif event.kind == EventKind.TURN_END:
            self._items(session.memory.items)

    def _items(self, items: Iterable[Item]) -> None:
        for item in items:
            if item.id not in self._sent:
                self._sent.add(item.id)
                self._put(_line(item))

    def _compacted(self, after: Snapshot, tokens: int) -> None:
        """Memory was replaced by the agent: what is kept, the summary, and behind it what was written anew."""
        name = f"compaction-{uuid4().hex[:12]}"
        keeps = [item.id for item in after.items if item.id in self._sent]
        line: dict[str, Any] = {
            "type": "compaction", "id": name, "keeps": keeps, "trigger": "agent", "pre_tokens": self._before,
            "post_tokens": tokens,
        }  # fmt: skip
        self._put(line | ({"summary": f"{name}-text"} if after.summary else {}))
        if after.summary:
            self._put({"type": "item", "id": f"{name}-text", "kind": "summary", "text": after.summary})
        self._items(after.items)

    def _decided(self, session: AgentSession) -> None:
        decision = session.auto.decided
        came, self._came = self._came, (NOOP, "")
        if session.policy is None or decision is None:
            return
        outcome, reason = came if decision.due else (NOT_DUE, "")
        if session.auto.paused:
            why = USELESS if session.auto.useless.is_open else COOL_DOWN
            outcome, reason = PAUSED, f"{why}: {session.auto.part}" if session.auto.part else why
        self._put(
            {
                "type": "decision", "step": session.steps, "outcome": outcome, "reason": reason,
                "rule": decision.rule, "estimate": decision.estimate, "threshold": decision.threshold,
            }
        )  # fmt: skip

    def _take_over(self, session: AgentSession) -> None:
        """Go on from a memory that a person made on the server, if what it stands for is all still there."""
        given, self._given = self._given, None
        now = session.snapshot()
        here = {item.id: item for item in now.items}
        if given is None or not self._covered <= here.keys():
            return
        kept = [item for item in now.items if item.id not in self._covered]
        made = [item for item in given.items if item.id not in self._sent]
        self._sent.update(item.id for item in made)
        session.restore(Snapshot((*made, *kept), given.summary, None, now.version))

    def _put(self, line: dict[str, Any]) -> None:
        try:
            self._waiting.put_nowait({**line, "ts": datetime.now(UTC).isoformat(timespec="milliseconds")})
        except queue.Full:
            self.dropped += 1

    # In its own thread ------------------------------------------------------------------------------------

    def _run(self) -> None:
        batch: list[dict[str, Any]] = []
        attempt = 0
        while True:
            batch = batch or self._next()
            if not batch:
                if self._closed.is_set():
                    return
                continue
            try:
                self._send(batch)
                batch, attempt, self.problem = [], 0, ""
            except (OSError, ValueError, KeyError, urllib.error.URLError) as error:
                self.problem = f"{type(error).__name__}: {error}"
                if self._closed.wait(PAUSES[min(attempt, len(PAUSES) - 1)]) and attempt:
                    return
                attempt += 1

    def _next(self) -> list[dict[str, Any]]:
        """What waits, for a moment at most."""
        batch: list[dict[str, Any]] = []
        try:
            batch.append(self._waiting.get(timeout=0.1))
            while len(batch) < BATCH:
                batch.append(self._waiting.get_nowait())
        except queue.Empty:
            pass
        return batch

    def _send(self, batch: list[dict[str, Any]]) -> None:
        if self._known is None:
            self._known = self._call("/api/sessions/", self._wish, "application/json")
        lines = "\n".join(json.dumps(line) for line in batch)
        answer = self._call(self._known["events"], lines, "application/x-ndjson")
        refused = {one["line"] for one in answer["skipped"]}
        self._delivered |= {
            line["id"]
            for number, line in enumerate(batch, 1)
            if line["type"] == "item" and number not in refused
        }
        if answer["version"] > self._version:
            self._version = answer["version"]
            if not answer["by_agent"]:
                self._fetch(self._known)

    def _fetch(self, known: dict[str, Any]) -> None:
        """Have a memory ready that was made on the server."""
        memory = self._call(f"{known['memory']}&format=json&peek=1", None, "application/json")
        rows = [row for row in memory["document"] if row["kind"] != Kind.SUMMARY]
        summaries = [row["text"] for row in memory["document"] if row["kind"] == Kind.SUMMARY]
        inside = {row["id"] for row in rows}
        here = {item.id for item in self._session.memory.items} if self._session is not None else set()
        self._covered = frozenset(here & self._delivered - inside)
        self._given = Snapshot(tuple(_item(row) for row in rows), summaries[0] if summaries else None)

    def _call(self, path: str, body: Any, kind: str) -> Any:
        data = None if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
        request = urllib.request.Request(self._address + path, data, {"Content-Type": kind})  # noqa: S310
        with urllib.request.urlopen(request, timeout=self._timeout) as answer:  # noqa: S310
            return json.load(answer)


def _line(item: Item) -> dict[str, Any]:
    known: dict[str, Any] = {"type": "item", "id": item.id, "kind": str(item.kind), "text": item.text}
    optional = {
        "entry": item.entry, "tool": item.tool, "call_id": item.call_id, "error": item.error,
        "injected": item.injected and str(item.injected),
    }  # fmt: skip
    known |= {name: value for name, value in optional.items() if value is not None}
    return known if item.needs_result else known | {"needs_result": False}


def _item(row: Mapping[str, Any]) -> LiveItem:
    entry = row.get("entry") or row["id"]
    return LiveItem(row["id"], Kind(row["kind"]), row["text"], entry, row.get("tool"), row.get("call_id"))
