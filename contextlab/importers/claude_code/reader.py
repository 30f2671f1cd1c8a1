"""A Claude Code transcript read once, from the first line to the last: each record to its handler."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from contextlab.core.events import Cleared, Event, FileReport, ItemEvent, Link, Note, SessionStart
from contextlab.core.items import Kind, Reason, Verdict
from contextlab.core.texts import clean
from contextlab.importers.claude_code.ids import IdMap, bounded, made_up_id
from contextlab.importers.claude_code.records import BadShape, Line, plain
from contextlab.importers.claude_code.thread import Thread
from contextlab.importers.claude_code.threads import Threads
from contextlab.importers.claude_code.tree import NONE
from contextlab.importers.lines import Record, warn
from contextlab.importers.streams import Source

TITLES_KEPT = 500

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AGENT_FILE = re.compile(
    r"(?:(?:.*/)?([^/]+)/subagents/(?:.*/)?|(?:.*/)?)agent-([^/]+?)\.jsonl(?:\.zst|\.gz)?"
)

Out = Callable[[tuple[str, Event]], None]


class Reader:
    """The sessions of one file and where its records went."""

    def __init__(self, source: Source, report: FileReport, out: Out) -> None:
        self.source = source
        self.report = report
        self.out = out
        self.main: Thread | None = None
        self.base = ""
        """Id of the main session of the whole run, of which a subagent's file is a part."""
        self.threads = Threads(out)
        self.nodes = IdMap()
        """uuid -> number of its thread << 32 | node."""
        self.titles: dict[str, str] = {}
        """Titles whose leaf has not been seen; most belong to other files."""
        self._made_up: dict[str, int] = {}
        self._side: Thread | None = None
        matched = _AGENT_FILE.fullmatch(_path_of(source))
        self._path_parent: str | None = matched[1] if matched else None
        self._path_agent: str | None = matched[2] if matched else None

    # Sessions ---------------------------------------------------------------------------------------------

    def main_thread(self, line: Line) -> Thread:
        """The file's own session; the first record that needs it begins it."""
        if self.main is None:
            self.main = self._begin_main(line)
        return self.main

    def thread_of(self, line: Line) -> Thread:
        """The session a record of the tree belongs to."""
        main = self.main_thread(line)
        if not line.sidechain or main.role is not None:
            return main
        found = self.nodes.get(line.parent) if isinstance(line.parent, str) else None
        if found is not None:
            thread = self.threads[found >> 32]
            return thread if thread is not main else self._begin_side(line, found & 0xFFFFFFFF)
        if line.parent is None or self._side is None:
            return self._begin_side(line, None)
        return self._side

    @property
    def in_subfolder(self) -> bool:
        """Whether the log lies in a subagents folder."""
        return self._path_parent is not None

    def child_key(self, agent: str) -> str:
        """native_id of a subagent's session."""
        return f"{self.base}/agent-{bounded(agent)}"

    def link(self, thread: Thread, agent: str, call: str, name: str | None = None) -> None:
        """A call of this session started a subagent; told once."""
        self._link(thread, self.child_key(agent), call, name)

    def link_side(self, thread: Thread, prompt: str) -> None:
        """An inline subagent begins: the call that gave it this task, if the log has it, started it."""
        if self.main is not None and (task := self.main.take_task(prompt)) is not None:
            call, name = task
            thread.tell(SessionStart(thread.key, agent=name, parent_call_id=call))
            self._link(self.main, thread.key, call, name)

    def _link(self, thread: Thread, child: str, call: str, name: str | None) -> None:
        if child not in thread.linked:
            thread.linked.add(child)
            thread.tell(Link(child, call, name))

    def summary_title(self, title: str, leaf: str | None) -> None:
        """A title record: it names this session if its leaf is here, now or later; mostly it is another file's."""
        if leaf is None:
            return
        leaf = bounded(leaf)
        if self.nodes.get(leaf) is not None and self.main is not None:
            self.main.name(title, "summary")
        elif len(self.titles) < TITLES_KEPT:
            self.titles[leaf] = title

    def finish(self) -> None:
        """The file ends: what waits is given out. A file without any message is still a session."""
        if self.main is None and self.report.records:
            self.main_thread(Line())
        self.threads.finish()

    def _begin_main(self, line: Line) -> Thread:
        stem = Path(self.source.name.replace("\\", "/")).name.split(".")[0] or "session"
        agent = self._path_agent or (line.agent if line.sidechain else None)
        start = SessionStart(
            "", project=_text(line.cwd), branch=_text(line.branch), version=_text(line.version)
        )
        start.started_at = _text(line.timestamp)
        if agent is None:
            self.base = key = stem if _UUID.fullmatch(stem) else bounded(line.session or stem)
            copied = self._forked_from(line)
            start.forked_from = copied if copied != key else None
        else:
            self.base = bounded(self._path_parent or line.session or stem)
            key = self.child_key(agent)
            start.parent = self.base
            start.role = "compaction" if agent.startswith("acompact") else "subagent"
            start.agent, start.parent_call_id = self._companion()
        start.native_id = key
        return self._begin(Thread(key, self.out, start.role), start)

    def _begin(self, thread: Thread, start: SessionStart) -> Thread:
        thread.version = start.version
        self.threads.add(thread)
        thread.tell(start)
        return thread

    def _begin_side(self, line: Line, anchor: int | None) -> Thread:
        main = self.main_thread(line)
        root = bounded(line.uuid or f"line-{self.report.lines}")
        key = self.child_key(line.agent) if line.agent else f"{self.base}/side-{root}"
        if (known := self.threads.newest(key)) is not None:
            self._side = known
            return known
        start = SessionStart(
            key, project=_text(line.cwd), branch=_text(line.branch), version=_text(line.version)
        )
        start.started_at, start.parent, start.role = _text(line.timestamp), main.key, "subagent"
        self._side = thread = self._begin(Thread(key, self.out, "subagent"), start)
        thread.anchor = anchor
        self.threads.rest()
        return thread

    def _forked_from(self, line: Line) -> str | None:
        origin = plain(line.forked_from)
        if isinstance(origin, dict) and isinstance(origin.get("sessionId"), str):
            return bounded(origin["sessionId"])
        # The name of a file is its session's id: records of another session in it were copied.
        return bounded(line.session) if line.session and _UUID.fullmatch(line.session) else None

    def _companion(self) -> tuple[str | None, str | None]:
        """Agent type and starting call from the `.meta.json` beside a subagent's log."""
        for path in self._companions():
            try:
                with path.open("rb") as stream:
                    value = json.loads(stream.read(1 << 20))
            except (OSError, *BadShape):
                continue
            if isinstance(value, dict):
                calls = (value.get(key) for key in ("toolUseId", "toolUseID", "tool_use_id"))
                call = next((call for call in calls if isinstance(call, str)), None)
                kind = value.get("agentType")
                return clean(kind) if isinstance(kind, str) else None, bounded(call) if call else None
        return None, None

    def _companions(self) -> list[Path]:
        named = self.source.companions.items()
        paths = [path for name, path in sorted(named) if name.endswith(".meta.json")]
        if not paths and self.source.path is not None:
            paths = [self.source.path.parent / f"agent-{self._path_agent}.meta.json"]
        return paths

    # The tree ---------------------------------------------------------------------------------------------

    def identity(self, line: Line, record: Record) -> str | None:
        """The record's uuid (made from its bytes where it has none); None when the record was read before."""
        if line.uuid:
            uuid = bounded(line.uuid)
            if self.nodes.get(uuid) is not None:
                self.report.duplicates += 1
                return None
            return uuid
        return made_up_id(record.raw, self._made_up)

    def enter(
        self,
        thread: Thread,
        line: Line,
        record: Record,
        uuid: str,
        group: int = NONE,
        result: bool = False,
        root: bool = False,
    ) -> int:
        """The record takes its place in its thread's tree; returns its node.

        With `root` a record that says it has no parent begins an epoch: what stood before was cleared.
        """
        self._notice(thread, line, record)
        parent = self._parent(thread, line, record)
        if root and line.parent is None and len(thread.tree):
            self._clear(thread, line, record, uuid)
            parent = NONE
        node = thread.tree.add(uuid, parent, group, result)
        self.nodes.set(uuid, thread.number << 32 | node)
        thread.last_node = node
        if self.titles and uuid in self.titles:
            self.main_thread(line).name(self.titles.pop(uuid), "summary")
        return node

    def _parent(self, thread: Thread, line: Line, record: Record) -> int:
        if not isinstance(line.parent, str):
            return thread.last_node
        found = self.nodes.get(bounded(line.parent))
        if found is None:
            # A summariser's log holds loose ends only: one word about it is enough.
            if line.type != "progress" and not (thread.role == "compaction" and len(thread.tree)):
                thread.note("missing_parent", bounded(line.parent), record.place, line.timestamp)
                warn(
                    self.report, f"line {record.line}: the record before it (its parent) is not in this file"
                )
            return thread.last_node
        number, node = found >> 32, found & 0xFFFFFFFF
        if number == thread.number:
            return node
        if thread is self.main and (anchor := self.threads[number].anchor) is not None:
            return anchor
        return thread.last_node

    def _clear(self, thread: Thread, line: Line, record: Record, uuid: str) -> None:
        thread.begin_epoch([])
        if thread.has_items:
            verdict, reason = Verdict.DROPPED, Reason.CONTEXT_CLEARED
            event = Cleared(uuid, (), verdict, reason, line.timestamp, record.place, all_before=True)
            thread.tell(event)

    def _notice(self, thread: Thread, line: Line, record: Record) -> None:
        """Notes on what a reader should know at this place: a new version, a clock that went back."""
        if line.version and line.version != thread.version:
            if thread.version is not None:
                self.restart(thread, f"new version {clean(line.version)}", record, line.timestamp)
            thread.version = line.version
        ts, last = line.timestamp, thread.last_ts
        if ts is None:
            return
        if last is not None and ts < last and (back := _seconds(last, ts)):
            thread.add(Note("clock", f"the time goes back by {back} s", record.place, ts, back))
        thread.last_ts = ts

    def restart(self, thread: Thread, text: str, record: Record, ts: str | None) -> None:
        """Say that the client began anew here, once until something happens."""
        if thread.has_items and not thread.restarted:
            thread.note("restart", text, record.place, ts)
            thread.restarted = True


def _path_of(source: Source) -> str:
    """The longest path known, for what folders tell about parents."""
    if "/" in source.relative:
        return source.relative
    return source.path.as_posix() if source.path is not None else source.name.replace("\\", "/")


def _text(text: str | None) -> str | None:
    return clean(text) if text is not None else None


def _seconds(later: str, earlier: str) -> int | None:
    try:
        return int((datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def count(counts: dict[str, int], name: str) -> None:
    """One more of that name."""
    counts[name] = counts.get(name, 0) + 1


def ui_item(name: str, text: str, label: str, line: Line, record: Record) -> ItemEvent:
    """Something shown to the person only."""
    return ItemEvent(name, Kind.UI, text, name, line.timestamp, record.place, label=label)
