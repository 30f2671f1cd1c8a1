"""What is done and what is still to do: from to-do and plan tools, ticked lists, commits, and announced next steps.

| source              | rule                                                                                          |
|---------------------|-----------------------------------------------------------------------------------------------|
| a tool with a list  | the list is the state of all its entries; what was pending before and is not in it, is gone |
| a tool for one task | creates or updates it; its id is in the result where the call does not name it                 |
| a ticked list       | `- [x]`, `- [ ]`, a tick before a line: each line updates the entry that says the same         |
| a commit            | is done                                                                                       |
| "next steps:"       | the list under such words in the newest answer is pending, where no tool keeps a plan          |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from contextlab.core.compaction import Line
from contextlab.core.evidence.commands import runs
from contextlab.core.evidence.record import Call, Record
from contextlab.core.evidence.words import prose, same, short
from contextlab.core.items import Item, Kind

WIDTH = 240
UNDER_WAY = " (in progress)"
COMMITTED = "Committed: "

_LISTS = ("todos", "plan", "tasks", "task_list", "todo_list", "items", "steps", "todoList")
_TEXTS = ("content", "step", "title", "subject", "task", "text", "description", "name")
_STATES = ("status", "state", "completed", "done")
_DONE = {"completed", "complete", "done", "finished", "closed", "true", "x"}
_DOING = {"in_progress", "in-progress", "inprogress", "doing", "active", "running", "started", "current"}
_GONE = {"cancelled", "canceled", "deleted", "removed", "skipped", "abandoned"}
_CREATED = re.compile(r"#?\b([\w-]{1,40})\b(?= created)|[Tt]ask #?([\w-]{1,40})")
_BOX = re.compile(r"^\s{0,12}(?:[-*+]|\d{1,3}[.)])\s+\[( |x|X|✓|✔)\]\s+(\S.*)$")
_TICK = re.compile(r"^\s{0,12}(?:[-*+]\s+|\d{1,3}[.)]\s+)?(✅|☑️?|✔️?|⬜|☐|🔲|◻️?)\s*(\S.*)$")
_OPEN_TICKS = "⬜☐🔲◻"
_NEXT = re.compile(
    r"^\W*(?:next steps?|remaining(?: work| tasks| steps)?|still (?:to do|open|missing)|to-?do|what'?s left|"
    r"下一步|接下来|待办|剩余(?:工作|任务)?|次のステップ|残り(?:の作業)?|今後|nächste schritte|offen)\W*$",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"^\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s+(\S.*)$")
_COMMIT = re.compile(r"^\[[^\]\n]{1,120} [0-9a-f]{7,40}\] (.+)$", re.MULTILINE)


@dataclass(slots=True, frozen=True)
class Task:
    """An entry of a plan. `state`: done, doing or open."""

    text: str
    state: str
    items: tuple[str, ...]
    listed: bool = False
    """Whether a tool's list holds it."""


class Plan:
    """The state of all entries, by what they say."""

    def __init__(self, completed: Iterable[Line] = (), pending: Iterable[Line] = ()) -> None:
        """Begin with what an earlier summary says."""
        self.tasks: dict[str, Task] = {}
        self._undone: dict[str, None] = {}
        """Keys of what is not done: an agent may tell its list again after each of thousands of tasks."""
        self._by_id: dict[str, str] = {}
        for line in completed:
            self._set(same(line.text), Task(line.text, "done", line.items))
        for line in pending:
            text = line.text.removesuffix(UNDER_WAY)
            state = "doing" if text != line.text else "open"
            self._set(same(text), Task(text, state, line.items))

    def _set(self, key: str, task: Task) -> None:
        self.tasks[key] = task
        if task.state == "done":
            self._undone.pop(key, None)
        else:
            self._undone[key] = None

    def _drop(self, key: str) -> None:
        del self.tasks[key]
        self._undone.pop(key, None)

    def put(self, text: str, state: str, source: str, *, listed: bool = False) -> str:
        """An entry's state from here on; what is done stays done. Returns its key."""
        key = same(text)
        known = self.tasks.get(key)
        if not key or (state == "gone" and known is None):
            return key
        if state == "gone":
            self._drop(key)
        elif known is None:
            self._set(key, Task(short(text, WIDTH), state, (source,), listed))
        elif known.state != state and not (known.state == "done" and not listed):
            items = tuple(dict.fromkeys((*known.items[-3:], source)))
            self._set(key, replace(known, state=state, items=items, listed=known.listed or listed))
        return key

    def replace_list(self, entries: list[tuple[str, str]], source: str) -> None:
        """A whole list: what a list before held as pending, and this one does not, is gone."""
        keys = {same(text) for text, _ in entries}
        shared = bool(keys & self.tasks.keys())
        for key in list(self._undone):
            if key not in keys and (self.tasks[key].listed or (shared and entries)):
                self._drop(key)
        for text, state in entries:
            self.put(text, state, source, listed=True)

    def take(self, call: Call) -> None:
        """What a call says about the plan."""
        source = call.item.id
        for name in _LISTS:
            entries = _entries(call.arguments.get(name))
            if entries is not None:
                self.replace_list(entries, source)
                return
        if "task" in call.tool.lower() or "todo" in call.tool.lower():
            self._one(call, source)

    def _one(self, call: Call, source: str) -> None:
        """A tool that creates or updates a single task."""
        named = call.arguments.get("taskId", call.arguments.get("task_id", call.arguments.get("id")))
        text = call.text("subject", "title", "content")
        state = state_of(call.arguments.get("status"))
        if named is None and text:
            key = self.put(text, state, source, listed=True)
            found = _CREATED.search(call.output[:300])
            if found:
                self._by_id[next(group for group in found.groups() if group)] = key
        elif (key := self._by_id.get(str(named), "")) in self.tasks and "status" in call.arguments:
            self.put(self.tasks[key].text, state, source, listed=True)

    def read(self, item: Item) -> None:
        """The ticked lines of a text."""
        for line in prose(item.text).splitlines():
            if found := _BOX.match(line[:600]):
                self.put(found.group(2), "open" if found.group(1) == " " else "done", item.id)
            elif found := _TICK.match(line[:600]):
                self.put(found.group(2), "open" if found.group(1)[0] in _OPEN_TICKS else "done", item.id)


def progress(record: Record, completed: list[Line], pending: list[Line]) -> tuple[list[Line], list[Line]]:
    """What is done, and what is not, after an earlier summary's account of both."""
    plan = Plan(completed, pending)
    calls = {call.item.id: call for call in record.calls}
    commits = _commits(record)
    for item in record.items:
        if item.kind == Kind.TOOL_CALL:
            plan.take(calls[item.id])
            for text in commits.get(item.id, ()):
                plan.put(COMMITTED + text, "done", item.id)
        elif item.kind in (Kind.USER, Kind.ASSISTANT):
            plan.read(item)
    if not any(task.listed for task in plan.tasks.values()):
        _next_steps(record, plan)
    done = [Line(task.text, task.items) for task in plan.tasks.values() if task.state == "done"]
    left = [task for task in plan.tasks.values() if task.state != "done"]
    return done, [Line(t.text + UNDER_WAY * (t.state == "doing"), t.items) for t in left]


def state_of(value: object) -> str:
    """done, doing, open, or gone."""
    word = str(value).strip().lower()
    if word in _DONE:
        return "done"
    if word in _DOING:
        return "doing"
    return "gone" if word in _GONE else "open"


def _entries(value: Any) -> list[tuple[str, str]] | None:
    """The entries of a list that is a plan, None for any other value."""
    if not isinstance(value, list):
        return None
    found = [entry for one in value if (entry := _entry(one)) is not None]
    return found if len(found) == len(value) else None


def _entry(value: Any) -> tuple[str, str] | None:
    if not isinstance(value, Mapping):
        return None
    text = next((value[name] for name in _TEXTS if isinstance(value.get(name), str) and value[name]), None)
    state = next((value[name] for name in _STATES if name in value), None)
    return None if text is None or state is None else (text, state_of(state))


def _commits(record: Record) -> dict[str, list[str]]:
    """Titles of commits by the call that made them."""
    found: dict[str, list[str]] = {}
    for run in runs(record):
        if "commit" in run.command and not run.failed:
            titles = [short(title, 160) for title in _COMMIT.findall(run.call.output[:4000])]
            found[run.call.item.id] = titles[:5]
    return found


def _next_steps(record: Record, plan: Plan) -> None:
    """The list under "next steps" in the newest answer."""
    answers = [item for item in record.items if item.kind == Kind.ASSISTANT and item.text.strip()]
    if not answers:
        return
    under = False
    for line in prose(answers[-1].text).splitlines():
        if _NEXT.match(line[:80]):
            under = True
        elif under and (found := _ENTRY.match(line[:600])):
            plan.put(found.group(1).strip("* "), "open", answers[-1].id)
        elif line.strip():
            under = False
