"""How a replay goes on where a policy that needs a model is due: from a stored result, or as far as none is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from contextlab.core.items import LEFT_OUT
from contextlab.core.policy import Policy
from contextlab.core.replaying.continued import Beginning, Continued
from contextlab.core.replaying.fires import Fire
from contextlab.core.replaying.memory import Memory
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.stepwise import Texts
from contextlab.core.timeline import Step

Stored = Callable[[int], Beginning | None]
"""The memory of a compaction that was made before a step with the same policy on the same memory; None without one."""


@dataclass(slots=True, frozen=True)
class Resuming:
    """What the replay of a policy that needs a model goes on with; see watched.GoOn."""

    sizes: Sizes
    policy: Policy
    texts: Texts | None
    stored: Stored | None = None

    def __call__(self, fire: Fire, step: Step, alive: Sequence[int]) -> Continued | None:
        """The rest of the replay; None where a model is needed."""
        found = self.stored(step.number) if self.stored is not None else None
        found = found or self._without_model(step, alive)
        if found is None:
            return None
        return Continued(self.sizes, self.policy, self.texts, replace(found, due=fire))

    def _without_model(self, step: Step, alive: Sequence[int]) -> Beginning | None:
        """The memory after the policy's own work, where it asked no model for it."""
        if self.texts is None:
            return None
        memory = Memory(self.sizes, self.policy, self.texts)
        memory.session.memory.add(*map(memory.item, alive))
        done = memory.session.auto.run()
        if memory.model.asked or done is None or not done.compacted or done.outcome is None:
            return None
        memory.take(done.outcome)
        left_out = {
            int(name): (fate.verdict, fate.reason)
            for name, fate in done.outcome.fates.items()
            if fate.verdict in LEFT_OUT and name.isdecimal()
        }
        return Beginning(
            step.number, step.upto, memory.session.snapshot(), "", left_out, done.tokens_before,
            shortened=memory.shortened,
        )  # fmt: skip
