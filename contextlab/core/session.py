"""A live agent's session: memory that compacts itself, and at each step the messages for the model with their report.

    session = AgentSession(Budget(max_tokens=50_000), policy, deps=Deps(model=model))
    with session.turn("fix the tests"):
        context = session.next_context("openai_chat")
        ...                                   # call the model with context.messages
        session.add(Kind.ASSISTANT, "done")

| path       | rule                                                                                                   |
|------------|--------------------------------------------------------------------------------------------------------|
| automatic  | before each step, where the trigger (the policy, without one) is due; a failure is told and swallowed  |
| cool-down  | not again until memory has changed                                                                      |
| breakers   | three failures in a row, or three runs that left memory over the threshold, pause it (auto_compaction)  |
| by hand    | `compact(policy)` raises; memory is as it was then                                                      |
| committing | commit.py: everything or nothing, offloads too; a changed prefix is planned again once, then a conflict|
| turns      | a session in a turn refuses a second one                                                                |

The compaction comes first, then the projection: memory is replaced by the one, looked at by the other.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from contextlab.core.agent.auto_compaction import AutoCompaction
from contextlab.core.agent.live import Compaction, Context, export_items
from contextlab.core.agent.session_events import EventKind, Hook, Hooks
from contextlab.core.budget import Budget, Mode
from contextlab.core.committing.commit import faults_of_outcome, merged, sizes_of, with_open_prompt
from contextlab.core.committing.figures import tell
from contextlab.core.compaction import (
    CompactPolicy,
    CompactResult,
    Deps,
    Outcome,
    Snapshot,
    Trigger,
)
from contextlab.core.errors import (
    CompactError,
    ConcurrentCompression,
    Interrupt,
    InvalidProjection,
    SessionBusy,
)
from contextlab.core.items import Item, Kind, LiveItem
from contextlab.core.measuring.memory_size import without_ui
from contextlab.core.memory import AgentMemory
from contextlab.core.offload import Offload, OffloadStore
from contextlab.core.projecting.draft import source_faults
from contextlab.core.projection import Projector, Source, item_tokens, project
from contextlab.core.projectors.default import DefaultProjector
from contextlab.core.protocol import export, faults_of

NO_POLICY, NO_GAIN = "no_policy", "no_gain"
OWN_ID = "item-"
ATTEMPTS = 2
"""How often a compaction is planned whose prefix others change."""


class AgentSession:
    """Memory, a projector, a compaction policy, and hooks that are told what happens."""

    def __init__(  # everything is passed in, nothing is looked up
        self,
        projector: Projector | Budget | None = None,
        policy: CompactPolicy | None = None,
        *,
        trigger: Trigger | None = None,
        deps: Deps | None = None,
        memory: AgentMemory | None = None,
        hooks: Iterable[Hook] = (),
        mode: Mode = "safe",
        require_gain: bool = True,
        max_failures: int = 3,
        max_useless: int = 3,
        hard_limit: int | None = None,
    ) -> None:
        """`hard_limit`: tokens above which a compaction is tried although the last ones were of no use."""
        if isinstance(projector, Budget):
            # The original projects only where it was given a projector.
            projector = DefaultProjector(projector) if mode == "safe" else None
        self.projector = projector
        self.policy = policy
        self.trigger = trigger
        self.deps = deps or Deps()
        self.memory = memory or AgentMemory(mode=mode)
        self.mode: Mode = mode
        self.require_gain = require_gain
        self.hooks = Hooks(hooks)
        self.steps = 0
        self.auto = AutoCompaction(self, max_failures, max_useless, hard_limit)
        self._added = 0
        self._count(self.memory.items)
        self._lock = threading.RLock()
        self._turn = threading.Lock()
        self._turn_items: list[Item] = []

    @property
    def last_result(self) -> CompactResult | None:
        """What the last compaction came to, also after a restore."""
        return self.memory.last_result

    @property
    def busy(self) -> bool:
        """Whether a turn is under way."""
        return self._turn.locked()

    def add(self, what: Item | Kind | str, text: str = "", **fields: Any) -> Item:
        """Append an item, or one made of a kind, a text and the fields of LiveItem.

        Returns it as it stands in memory: with an id of its own, and counted.
        """
        with self._lock:
            item = self.memory.named(what if isinstance(what, Item) else self._made(Kind(what), text, fields))
            if item.tokens is None and self.deps.count is not None:
                # Once, so that no step counts again, and triggers and reports go by the same figure.
                item = replace(item, tokens=item_tokens(item, self.deps.count))
            self.memory.add(item)
            self._count([item])
            if self.busy:
                self._turn_items.append(item)
        return item

    def pin(self, item_id: str, pinned: bool = True) -> None:
        """Pin an item, so that nothing takes it, or take its pin away; raises LookupError."""
        with self._lock:
            self.memory.pin(item_id, pinned)

    @contextmanager
    def turn(self, prompt: str | None = None) -> Iterator[None]:
        """A turn, opened by a prompt; raises SessionBusy while another is under way."""
        if not self._turn.acquire(blocking=False):
            raise SessionBusy("the session is in a turn; wait for its end")
        try:
            if prompt is not None:
                self.add(Kind.USER, prompt, opens_turn=True)
            yield
        finally:
            said, self._turn_items = tuple(self._turn_items), []
            self._turn.release()
            self.hooks.tell(EventKind.TURN_END, said)

    def next_context(self, format: str = "openai_chat") -> Context:
        """The messages of the next model call: compacted if due, projected, repaired, validated.

        Raises UnknownNameError for a format, InvalidProjection where the messages are none that a provider takes.
        A compaction that fails raises nothing: it stands in `compaction` and in the report's notes.
        """
        compaction = self.auto.run()
        self.steps += 1
        self.hooks.tell(EventKind.STEP_START, self.steps)
        self.hooks.tell(EventKind.BEFORE_TURN, self.steps)
        context = self._context(format)
        context.compaction = compaction
        context.report.notes += self.auto.notes(compaction)
        if self.projector is not None:
            self.hooks.tell(EventKind.MEMORY_COMPRESS, context.report)
        self.hooks.tell(EventKind.BEFORE_MODEL_REQUEST, context.messages)
        self.hooks.tell(EventKind.MODEL_REQUEST, context.messages)
        return context

    def compact(self, policy: CompactPolicy | None, *, require_gain: bool | None = None) -> Compaction:
        """Compact now, whatever the triggers say. No policy, nothing to do; raises CompactError, memory as it was."""
        if policy is None:
            return Compaction("noop", NO_POLICY)
        try:
            done = self.run(policy, force=True, require_gain=require_gain)
        except CompactError as error:
            self.hooks.tell(EventKind.COMPACT_FAILED, str(error))
            raise
        if done.compacted:
            self.auto.close()
        return done

    def snapshot(self) -> Snapshot:
        """Memory as it is, with the last result: all that a restore needs."""
        with self._lock:
            return self.memory.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot."""
        with self._lock:
            self.memory.restore(snapshot)
            self._count(snapshot.items)

    def run(self, policy: CompactPolicy, *, force: bool, require_gain: bool | None = None) -> Compaction:
        """Compact and commit; raises CompactError, whatever the policy raised."""
        deps = replace(self.deps, force=force or self.deps.force)
        self.hooks.tell(EventKind.BEFORE_COMPACT, self.snapshot())
        for _ in range(ATTEMPTS):
            then = self.snapshot()
            outcome = _asked(policy, then, deps)
            if outcome.result is None:
                return Compaction("noop", outcome.reason, outcome)
            if self.mode == "safe":
                outcome = with_open_prompt(then, outcome)
                tell(then, outcome, deps.count)
            if faults := faults_of_outcome(then, outcome, deps, self.mode):
                raise InvalidProjection(faults)
            before, after = sizes_of(then, outcome, deps.count)
            done = Compaction("done", outcome.reason, outcome, None, before, after)
            if after >= before and (self.require_gain if require_gain is None else require_gain):
                return replace(done, state="noop", reason=NO_GAIN)
            if self._commit(then, outcome):
                self.hooks.tell(EventKind.MEMORY_COMPRESS, outcome.result)
                self.hooks.tell(EventKind.ON_COMPACT, outcome.result)
                return done
        raise ConcurrentCompression("what was summarised has been changed meanwhile; memory is as it is")

    def _commit(self, then: Snapshot, outcome: Outcome) -> bool:
        """Swap memory, unless the prefix has changed; originals are put aside first, and taken back if that fails."""
        with self._lock:
            after = merged(self.memory.snapshot(), then, outcome)
            if after is None:
                return False
            _put_all(self.deps.offloads, outcome.offloads)
            try:
                self.memory.restore(after)
            except Exception as error:  # a memory may be a stranger's
                _take_back(self.deps.offloads, outcome.offloads)
                raise CompactError(f"memory could not be replaced: {error}") from error
            return True

    def _context(self, format: str) -> Context:
        with self._lock:
            items = without_ui(self.memory.prompt_items())
        seen = project(items, self.projector, self.deps.count)
        seen.report.source_faults = source_faults(Source.of(items))  # projectors of others may not say
        made = export(export_items(items, seen), format, self.mode)
        if format in ("openai_chat", "openai_responses", "anthropic") and (
            faults := faults_of(made.document, format)
        ):
            raise InvalidProjection(faults)
        return Context(format, made.document, seen.report, seen, made.repairs)

    def _made(self, kind: Kind, text: str, fields: dict[str, Any]) -> LiveItem:
        if "id" not in fields:
            fields["id"] = self._new_id()
        return LiveItem(kind=kind, text=text, **fields)

    def _new_id(self) -> str:
        if self.deps.new_id is not None:
            return self.deps.new_id("item")
        return f"{OWN_ID}{self._added + 1}"

    def _count(self, items: Iterable[Item]) -> None:
        """Ids made here go on from the highest that was seen; where others make them nothing is looked for."""
        if self.deps.new_id is not None:
            return
        numbers = (item.id.removeprefix(OWN_ID) for item in items if item.id.startswith(OWN_ID))
        known = (
            int(number) for number in numbers if number.isascii() and number.isdigit() and len(number) < 19
        )
        self._added = max(self._added, *known, 0)


def _asked(policy: CompactPolicy, snapshot: Snapshot, deps: Deps) -> Outcome:
    """The policy's outcome. A policy may be a stranger's: what it raises becomes a CompactError, None a noop."""
    try:
        answer = cast("Outcome | None", policy.compact(snapshot, deps))
    except (CompactError, Interrupt):
        raise
    except Exception as error:
        raise CompactError(f"the policy {policy.kind!r} failed: {error}") from error
    return Outcome(reason="nothing") if answer is None else answer


def _put_all(store: OffloadStore | None, offloads: list[Offload]) -> None:
    """Put all originals aside, or none."""
    if not offloads:
        return
    if store is None:
        raise CompactError("the policy puts originals aside, but there is no store for them")
    for number, offload in enumerate(offloads, 1):
        try:
            store.put(offload)
        except Exception as error:
            _take_back(store, offloads[:number])
            raise CompactError(f"originals could not be put aside: {error}") from error


def _take_back(store: OffloadStore | None, offloads: list[Offload]) -> None:
    """Forget originals that nothing will point to."""
    if store is not None:
        for offload in offloads:
            store.clear(offload.id)
