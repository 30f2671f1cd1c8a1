"""One of several triggers: the first that is due decides, and its figures are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.compaction import Decision, Deps, Snapshot, Trigger
from contextlab.core.documents.options import Options
from contextlab.core.errors import PolicyError, UnknownNameError
from contextlab.core.measuring.figures import Figures, judge_of


@dataclass(slots=True, frozen=True)
class AnyOfTrigger:
    """Due as soon as one of its triggers is."""

    kind: ClassVar[str] = "any_of"
    triggers: tuple[Trigger, ...] = ()

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Read `triggers`, a list of objects with a kind each; raises PolicyError."""
        listed = Options(options, ("triggers",), "trigger").objects("triggers")
        return cls(tuple(_one(given, mode, f"trigger.triggers[{n}]") for n, given in enumerate(listed)))

    def decide(self, snapshot: Snapshot, deps: Deps) -> Decision:
        """The decision of the first that is due; all rules when none is."""
        rules: list[str] = []
        for trigger in self.triggers:
            decision = trigger.decide(snapshot, deps)
            if decision.due:
                return decision
            rules.append(decision.rule)
        return Decision(False, " or ".join(rules) or "none given")

    def judge(self, figures: Figures) -> Decision | None:
        """The same by figures alone; None where one of its triggers needs more."""
        judges = [judge_of(trigger) for trigger in self.triggers]
        if None in judges:
            return None
        decisions = [decision for judge in judges if judge and (decision := judge(figures))]
        rules = " or ".join(decision.rule for decision in decisions)
        due = next((decision for decision in decisions if decision.due), None)
        return due or Decision(False, rules or "none given")


TRIGGER = AnyOfTrigger


def _one(given: Mapping[str, object], mode: str, place: str) -> Trigger:
    from contextlab.core.registry import TRIGGERS  # it knows of this module

    try:
        plugin = TRIGGERS.get(str(given.get("kind")))
    except UnknownNameError as error:
        raise PolicyError(str(error), f"{place}.kind") from error
    try:
        return plugin.from_options({key: value for key, value in given.items() if key != "kind"}, mode)
    except PolicyError as error:
        message = str(error).removeprefix(f"{error.place}: ")
        raise PolicyError(message, place + error.place.removeprefix("trigger")) from error
