"""A session under everything that can happen to it, with any registered policy, beside a list of all that ever was."""

from __future__ import annotations

import os
from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from contextlab.core import Budget, Item, faults_of
from contextlab.core.compaction import Deps, Outcome, Snapshot
from contextlab.core.errors import CompactError
from contextlab.core.language_model import ModelError
from contextlab.core.memory import SUMMARY_ID
from contextlab.core.offload import InMemoryOffloadStore
from contextlab.core.registry import POLICIES, PROJECTORS
from contextlab.core.session import AgentSession
from contextlab.core.testing import CountingIds, ScriptedModel
from tests.core.memories import random_memory
from tests.core.plugins import EXAMPLES, random_plugin

SEEDS = st.integers(0, 2**32 - 1)
WIRES = ("openai_chat", "openai_responses", "anthropic")
FAILURES = (
    ModelError("timeout", "no answer"),
    ModelError("prompt_too_long", "too long"),
    RuntimeError("boom"),
    " ",
)
GENEROUS = {"auto_context": {"msg_threshold": 6, "last_keep": 3, "min_consecutive_tool_messages": 1,
                             "min_compression_token_threshold": 0, "large_payload_threshold": 60}}  # fmt: skip
"""Options under which a policy has something to do in a short life."""


class Meanwhile(ScriptedModel):
    """A model during whose answers something else happens."""

    happens: Callable[[], None] | None = None

    def complete(self, *args: object, **options: object):  # type: ignore[no-untyped-def]
        if self.happens is not None:
            self.happens()
        return super().complete(*args, **options)  # type: ignore[arg-type]


class LiveSession(RuleBasedStateMachine):
    """Append, pin, unpin, project, step, compact well, badly and slowly, save and restore."""

    def __init__(self) -> None:
        super().__init__()
        self.model, self.number = Meanwhile(), 0
        self.everything: list[str] = []
        self.covered: list[str] = []
        self.pins: dict[str, Item] = {}
        self.store = InMemoryOffloadStore()
        self.saved: tuple[Snapshot, list[str], list[str], dict[str, Item]] | None = None
        self.session = AgentSession()

    @initialize(
        policy=st.sampled_from(POLICIES.names()), projector=st.sampled_from(PROJECTORS.names()), seed=SEEDS
    )
    def start(self, policy: str, projector: str, seed: int) -> None:
        generous = seed % 2 and policy in GENEROUS
        made = (
            POLICIES.get(policy).from_options(GENEROUS[policy], "safe")
            if generous
            else random_plugin("compaction", policy, seed)
        )
        shows = (
            Budget(max_items=9)
            if projector in ("chain", "turn_window")
            else random_plugin("projector", projector, seed)
        )
        deps = Deps(model=self.model, new_id=CountingIds(), offloads=self.store)
        self.session = AgentSession(shows, made, deps=deps)

    @rule(seed=SEEDS)
    def append(self, seed: int) -> None:
        self.number += 1
        for item in random_memory(seed, 2):
            item.id, item.entry = f"{self.number}{item.id}", f"{self.number}{item.entry}"
            item.call_id = item.call_id and f"{self.number}{item.call_id}"
            item.pinned = False
            self.session.add(item)
            self.everything.append(item.id)

    @precondition(lambda self: self.session.memory.items)
    @rule(where=st.floats(0, 1), pinned=st.booleans())
    def pin(self, where: float, pinned: bool) -> None:
        items = self.session.memory.items
        name = items[int(where * (len(items) - 1))].id
        self.session.pin(name, pinned)
        self.pins.pop(name, None)
        if pinned:
            self.pins[name] = next(item for item in self.session.memory.items if item.id == name)

    @rule(wire=st.sampled_from(WIRES))
    def project(self, wire: str) -> None:
        """Looking changes nothing, and what is seen is valid."""
        before, policy = self.session.snapshot(), self.session.policy
        self.session.policy = None
        assert faults_of(self.session.next_context(wire).document, wire) == []
        self.session.policy = policy
        assert self.session.snapshot() == before

    @rule()
    def step(self) -> None:
        compaction = self.session.next_context().compaction
        if compaction is not None and compaction.compacted:
            self._committed(compaction.outcome)

    @rule()
    def compact(self) -> None:
        self._by_hand()

    @rule(answer=st.sampled_from(FAILURES))
    def compact_badly(self, answer: Exception | str) -> None:
        before, kept = self.session.snapshot(), dict(self.store._kept)
        self.model.script = [answer] * 9
        if not self._by_hand():
            assert self.session.snapshot() == before
            assert self.store._kept == kept
        self.model.script = []

    @rule(seed=SEEDS)
    def compact_slowly(self, seed: int) -> None:
        """What is added while the model writes follows behind."""
        late: list[str] = []

        def happens() -> None:
            self.append(seed)
            late.extend(self.everything[len(self.everything) - len(random_memory(seed, 2)) :])

        self.model.happens = happens
        self._by_hand()
        self.model.happens = None
        names = [item.id for item in self.session.memory.items]
        assert names[len(names) - len(late) :] == late

    @precondition(lambda self: self.session.memory.items)
    @rule()
    def pin_meanwhile(self) -> None:
        """A pin that comes while the model writes is kept, whatever it does to the compaction."""
        name = self.session.memory.items[0].id

        def happens() -> None:
            self.session.pin(name)
            self.pins[name] = next(item for item in self.session.memory.items if item.id == name)

        self.model.happens = happens
        self._by_hand()
        self.model.happens = None

    @rule()
    def save(self) -> None:
        self.saved = (self.session.snapshot(), list(self.everything), list(self.covered), dict(self.pins))

    @precondition(lambda self: self.saved is not None)
    @rule()
    def restore(self) -> None:
        assert self.saved is not None
        snapshot, everything, covered, pins = self.saved
        self.everything, self.covered, self.pins = list(everything), list(covered), dict(pins)
        self.session.restore(snapshot)
        assert self.session.last_result == snapshot.last_result

    def _by_hand(self) -> bool:
        try:
            done = self.session.compact(self.session.policy)
        except CompactError:
            return False
        if done.compacted:
            self._committed(done.outcome)
        return done.compacted

    def _committed(self, outcome: Outcome | None) -> None:
        assert outcome is not None
        self.covered += outcome.covered
        for offload in outcome.offloads:
            assert self.store.get(offload.id) == offload.items

    @invariant()
    def each_item_is_kept_or_covered_once(self) -> None:
        stand = [item.id for item in self.session.memory.items] + self.covered
        assert len(stand) == len(set(stand))
        assert set(self.everything) <= set(stand)

    @invariant()
    def what_is_kept_is_in_order(self) -> None:
        known = {name: place for place, name in enumerate(self.everything)}
        places = [known[item.id] for item in self.session.memory.items if item.id in known]
        assert places == sorted(places)

    @invariant()
    def pins_stand_as_they_stood(self) -> None:
        now = {item.id: item for item in self.session.memory.items}
        assert all(now.get(name) == item for name, item in self.pins.items())

    @invariant()
    def there_is_one_summary(self) -> None:
        assert [item.id for item in self.session.memory.prompt_items()].count(SUMMARY_ID) <= 1


LiveSession.TestCase.settings = settings(
    max_examples=int(os.environ.get(EXAMPLES, 60)), stateful_step_count=20, deadline=None
)
TestLiveSession = LiveSession.TestCase
