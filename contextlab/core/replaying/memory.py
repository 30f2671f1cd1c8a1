"""The memory of a replay that compacts: what the tape brought in, without what compactions took out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from contextlab.core.compaction import Deps, Outcome, Snapshot
from contextlab.core.items import IN_CONTEXT, LEFT_OUT, Item, Verdict
from contextlab.core.memory import AgentMemory
from contextlab.core.offload import InMemoryOffloadStore
from contextlab.core.policy import Policy
from contextlab.core.projection import Fate
from contextlab.core.replaying.no_model import NoModel
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.stepwise import Texts, item_of
from contextlab.core.replaying.tape import Tape
from contextlab.core.session import AgentSession


class Memory:
    """The memory of a replay: what the tape brought in, without what compactions took out."""

    def __init__(self, sizes: Sizes, policy: Policy, texts: Texts | None) -> None:
        """Empty. `texts` is what compaction policies read."""
        self.sizes = sizes
        self.texts = texts
        self.covered: dict[int, Verdict] = {}
        """Positions that a compaction took out, with what became of them."""
        self.shortened: dict[int, Fate] = {}
        self.model = NoModel()
        deps = Deps(model=self.model, count=sizes.count, offloads=InMemoryOffloadStore(), new_id=_Ids())
        self.session = AgentSession(
            policy=policy.compaction,
            trigger=policy.trigger,
            deps=deps,
            memory=AgentMemory(mode=policy.mode),
            mode=policy.mode,
            require_gain=policy.require_gain,
        )
        self._entered = 0

    @property
    def items(self) -> Sequence[Item]:
        """The items without the summary."""
        return self.session.memory.items

    def follow(self, tape: Tape) -> None:
        """Take in what the tape brought; where the log took something out or back in, that too."""
        if tape.moved:
            self._rebuild(tape.present())
        else:
            self.session.memory.add(*map(self.item, tape.alive[self._entered : tape.size]))
        self._entered = tape.size

    def begin(
        self, memory: Snapshot, covered: Mapping[int, Verdict], alive: Sequence[int], seen: int
    ) -> None:
        """Start from a memory made elsewhere, that had seen the positions below `seen`; what came since follows."""
        self.covered = dict(covered)
        self._entered = len(alive)
        self.session.restore(memory)
        self.session.memory.add(*(self.item(place) for place in alive if place >= seen))

    def leave(self, alive: Sequence[int]) -> None:
        """Let go what the log took out between the moment at which the memory was made and now."""
        here = set(alive)
        if any(item.id.isdecimal() and int(item.id) not in here for item in self.items):
            self._rebuild(alive)

    def item(self, position: int) -> Item:
        """An item with its size, whether counted or estimated."""
        return replace(item_of(self.sizes.timeline, position, self.texts), tokens=self.sizes.tokens[position])

    def take(self, outcome: Outcome) -> tuple[int, int]:
        """Note what a compaction did; returns how many items it summarised, and how many it shortened."""
        summarised = shortened = 0
        for name, fate in outcome.fates.items():
            if not name.isdecimal():
                continue
            if fate.verdict in LEFT_OUT:
                self.covered[int(name)] = fate.verdict
                summarised += fate.verdict == Verdict.SUMMARISED
            elif fate.verdict in IN_CONTEXT and fate.verdict not in (Verdict.KEPT, Verdict.PINNED):
                self.shortened[int(name)] = fate
                shortened += 1
        return summarised, shortened

    def fate(self, position: int, fate: Fate) -> Fate:
        """An item's fate after projection: what a compaction shortened is not simply kept."""
        kept = fate.verdict in (Verdict.KEPT, Verdict.PINNED)
        return self.shortened.get(position, fate) if kept else fate

    def _rebuild(self, alive: Sequence[int]) -> None:
        """Memory after a rewind or a cleared context: a summary goes with the last item that it stands for."""
        memory = self.session.memory.snapshot()
        here = set(alive)
        self.covered = {place: verdict for place, verdict in self.covered.items() if place in here}
        kept = {item.id: item for item in memory.items}
        made = [item for item in memory.items if not item.id.isdecimal()]
        log = [kept.get(str(place)) or self.item(place) for place in alive if place not in self.covered]
        if not self.covered:
            memory, made = Snapshot(), []
        self.session.restore(replace(memory, items=(*made, *log)))


class _Ids:
    """Ids for what a compaction makes: the same replay gives the same ones."""

    def __init__(self) -> None:
        self._made = 0

    def __call__(self, what: str) -> str:
        self._made += 1
        return f"{what}-{self._made}"
