"""One session of a file while it is read: its events in their order, with what must wait for the next step.

The parts of a step are given out as they come. What stands behind a step (results, prompts, notes) waits until the
next step begins, because more chunks of the same answer may follow it in the file and belong before it.
"""

from __future__ import annotations

from collections.abc import Callable

from contextlab.core.events import (
    Cleared,
    Compaction,
    Event,
    ItemEvent,
    Note,
    Place,
    SessionStart,
    StepEvent,
    TurnStart,
    Usage,
)
from contextlab.core.items import Injected, Kind, Reason, Verdict
from contextlab.core.texts import clean
from contextlab.importers.claude_code.ids import IdMap, digest
from contextlab.importers.claude_code.queued import Queue
from contextlab.importers.claude_code.records import Tokens
from contextlab.importers.claude_code.tree import Tree
from contextlab.importers.lines import parse_text

Emit = Callable[[tuple[str, Event]], None]

TITLE_RANKS = {"prompt": 1, "summary": 2, "ai": 3, "custom": 4}
"""Which title wins; among equals the later."""

PARTS = 1 << 12
"""More content parts than one record has, to keep node and part in one number."""

TASKS_KEPT = 1000
"""Tasks of subagents that are remembered until their logs begin."""

MOST_TOKENS = 2**53
"""A figure above it is no token count."""


class Thread:
    """The state of one session; `emit` takes its events."""

    __slots__ = (
        "_behind",
        "_boundary",
        "_emit",
        "_held",
        "_step",
        "_tasks",
        "_title_rank",
        "_usage",
        "anchor",
        "answers",
        "attaches",
        "calls",
        "expects_summary",
        "groups",
        "has_items",
        "key",
        "last_node",
        "last_ts",
        "linked",
        "model",
        "number",
        "queue",
        "restarted",
        "role",
        "tree",
        "trigger",
        "turn",
        "version",
    )

    def __init__(self, key: str, emit: Emit, role: str | None = None) -> None:
        self.key = key
        self.role = role
        self.number = 0
        """Its place among the sessions of the file."""
        self.tree = Tree()
        self.anchor: int | None = None
        """For an inline subagent: the node of the file's main session that it branched off from."""
        self.calls: dict[str, int] = {}
        """Call id -> group of the message that holds the call, while it has no result."""
        self.answers: dict[str, int] = {}
        """Call id -> where its result stands (node * PARTS + part), for the results of the current epoch."""
        self._tasks: dict[str, tuple[str, str | None]] = {}
        """Digest of a subagent's task -> the call that gave it and the agent's type."""
        self.linked: set[str] = set()
        self.groups = IdMap()
        """Message id -> group."""
        self.has_items = False
        self.expects_summary = False
        """A compaction began an epoch in which no summary and no step has come yet."""
        self.attaches = False
        """The writing version records queued texts as attachments."""
        self.last_node = -1
        self.last_ts: str | None = None
        self.version: str | None = None
        self.model: str | None = None
        self.turn: str | None = None
        self.trigger: str | None = None
        """What the next prompt's turn is triggered by, where a queue operation told it."""
        self.restarted = False
        self._emit = emit
        self._step: StepEvent | None = None
        self._usage: Usage | None = None
        self._held: list[Event] = []
        self.queue = Queue()
        self._boundary: Compaction | None = None
        self._behind: list[ItemEvent] = []
        self._title_rank = 0

    # Events -----------------------------------------------------------------------------------------------

    def tell(self, event: Event) -> None:
        """Give an event out now."""
        self._emit((self.key, event))

    def add(self, event: Event) -> None:
        """An event that stands behind the open step, in file order."""
        if self._boundary is not None and isinstance(event, (ItemEvent, TurnStart)):
            if isinstance(event, ItemEvent) and (event.injected or event.kind == Kind.UI):
                # What the client attaches may come before the summary, which has to follow its compaction.
                self._behind.append(event)
                return
            self.settle_boundary()
        if isinstance(event, ItemEvent):
            self.restarted = False
            self.has_items = True
        if self._step is None:
            self.tell(event)
        else:
            self._held.append(event)

    def begin_turn(self, uuid: str, ts: str | None, trigger: str) -> None:
        """A turn begins with the item that follows."""
        self._place_queued()
        self.turn = uuid
        self.add(TurnStart(uuid, ts, self.trigger or trigger))
        self.trigger = None

    def begin_step(self, event: StepEvent, node: int) -> None:
        """A model call begins: what waited comes first, then what the call no longer sees, then the call."""
        self.flush()
        self.settle_boundary()
        out, back = self.tree.begin_step(node)
        for nodes, verdict in ((out, Verdict.DROPPED), (back, Verdict.KEPT)):
            if ids := self.tree.item_ids(nodes):
                mark = Cleared(
                    f"{event.id}:{verdict}", ids, verdict, Reason.ABANDONED_BRANCH, event.ts, event.place
                )
                self.tell(mark)
        if event.model is not None and self.model is None:
            self.model = event.model
            self.tell(SessionStart(self.key, model=event.model))
        self._step, self._usage, self.restarted, self.has_items = event, None, False, True
        self.expects_summary = False
        self.tell(event)

    def add_part(self, event: ItemEvent) -> None:
        """A part of a step; one of an earlier step takes its place in file order."""
        if self._step is not None and event.step == self._step.id:
            self.tell(event)
        else:
            self.add(event)

    def add_usage(self, step: str, group: int, tokens: Tokens | None, stopped: bool) -> None:
        """Merge what a chunk reports about its step: inputs are equal on all chunks, the largest output counts."""
        tree = self.tree
        output = _count(tokens.output_tokens) if tokens else None
        if output is not None:
            tree.outputs[group] = max(tree.outputs[group], output)
        tree.finished[group] |= stopped
        usage = Usage(step, partial=not tree.finished[group])
        usage.output = tree.outputs[group] if tree.outputs[group] >= 0 else None
        if tokens is not None:
            usage.input = _count(tokens.input_tokens)
            usage.cache_read = _count(tokens.cache_read_input_tokens)
            usage.cache_write = _count(tokens.cache_creation_input_tokens)
        if self._step is None or step != self._step.id:
            self.add(usage)
        else:
            self._usage = _merged(self._usage, usage)

    def flush(self) -> None:
        """Give out what waits behind the open step, which stays known by its group only."""
        if self._usage is not None and self._usage_known(self._usage):
            self.tell(self._usage)
        self._place_queued()
        self._step = self._usage = None
        held, self._held = self._held, []
        for event in held:
            self.tell(event)

    def finish(self) -> None:
        """The log ends."""
        self.flush()
        self.settle_boundary()

    @property
    def waits(self) -> bool:
        """Whether something is still to be given out when the log ends, if nothing else happens."""
        return self._step is not None or self._boundary is not None or bool(self._held or self._behind)

    # Compactions ------------------------------------------------------------------------------------------

    def begin_epoch(self, keeps: list[int]) -> None:
        """Nothing that stands so far is in the context any more, except the nodes of `keeps`."""
        self.settle_boundary()
        self.flush()
        self.tree.begin_epoch(keeps)
        self.answers = {call: node for call, node in self.answers.items() if node // PARTS in keeps}

    def hold_boundary(self, event: Compaction) -> None:
        """A compaction whose summary, if there is one, comes before anything else that is said."""
        self._boundary = event
        self.expects_summary = True

    def settle_boundary(self, summary: ItemEvent | None = None) -> None:
        """Give out the compaction that waits, its summary, and what came between; a summary alone if none waits."""
        event, self._boundary = self._boundary, None
        behind, self._behind = self._behind, []
        if event is not None:
            event.summary = summary.id if summary else None
            self.tell(event)
        if summary is not None:
            self.expects_summary = False
            self.add(summary)
        for item in behind:
            self.add(item)

    # Titles and tasks ---------------------------------------------------------------------------------

    def name(self, title: str | None, rank: str) -> None:
        """Take a title if it is at least as good as the one known; of the prompts the first names the session."""
        if not title or TITLE_RANKS[rank] < self._title_rank + (rank == "prompt"):
            return
        self._title_rank = TITLE_RANKS[rank]
        origin = "record" if rank in ("ai", "custom") else rank
        self.tell(SessionStart(self.key, title=title, title_origin=origin))

    def remember_task(self, call: str, arguments: str) -> None:
        """A call gives a task to a subagent, which may stand in this very file."""
        try:
            value = parse_text(arguments)
        except ValueError:
            return
        if isinstance(value, dict) and isinstance(value.get("prompt"), str):
            kind = value.get("subagent_type")
            agent = clean(kind) if isinstance(kind, str) else None
            self._tasks[digest(clean(value["prompt"]))] = call, agent
        while len(self._tasks) > TASKS_KEPT:
            del self._tasks[next(iter(self._tasks))]

    def take_task(self, prompt: str) -> tuple[str, str | None] | None:
        """The call (and the agent's type) that gave this task, once."""
        return self._tasks.pop(digest(prompt), None)

    def note(self, code: str, text: str, place: Place | None, ts: str | None = None) -> None:
        """Say something about this place of the session."""
        self.add(Note(code, text, place, ts))

    def deliver(self, text: str, ts: str | None, place: Place, injected: Injected) -> None:
        """A queued text reached the model in the middle of a turn: it stands behind the results."""
        self.queue.deliver(text, ts, place, injected)
        if self._step is None:
            self._place_queued()

    def _place_queued(self) -> None:
        for event in self.queue.release():
            self.add(event)

    @staticmethod
    def _usage_known(usage: Usage) -> bool:
        return any(
            part is not None for part in (usage.input, usage.cache_read, usage.cache_write, usage.output)
        )


def _merged(old: Usage | None, new: Usage) -> Usage:
    """Two reports on one step, the larger of each figure: totals do not depend on how an answer was split."""
    if old is None:
        return new
    for name in ("input", "cache_read", "cache_write", "output"):
        before, now = getattr(old, name), getattr(new, name)
        if now is None or (before is not None and before > now):
            setattr(new, name, before)
    return new


def _count(value: int | None) -> int | None:
    """A token figure, None where the log's is impossible."""
    return value if value is not None and 0 <= value <= MOST_TOKENS else None
