"""Many random sessions through projection, export and replay, for a long look: not part of the test run.

    python -m bench.many_sessions --sessions 50000 [--first 0] [--replay-every 10]

For each session and budget: pairs whole, pins present, unread results whole, size within the budget or said to be
over, sums equal, copies valid in every provider's format; for every tenth also replay equal to each step alone. Then
the same for one of the registered projectors, each in its turn, and what holds of compactions for one of the policies.
Beside it the literal rule (a pinned head and a recent tail, nothing else) on sessions that are valid before: in how
many of those in which a limit took something it tears a call from its result, and in how many ours does.
Prints failures by name with their seeds, and how many were checked; exits with 1 when there were any.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from hypothesis.errors import UnsatisfiedAssumption

from contextlab.core import Budget, Item, Kind, Projection, Verdict, project
from contextlab.core.projection import is_answer, is_prompt, last_index, pair_up
from contextlab.core.projectors.type_aware import TypeAwareProjector
from contextlab.core.protocol import ExportItem, export, faults_of
from contextlab.core.registry import PROJECTORS
from tests.core import test_compaction_invariants, test_every_projector
from tests.core.sessions import random_options, random_timeline
from tests.core.test_every_projector import lacking
from tests.core.test_projection import random_budget, random_items
from tests.core.test_replay import both, fates, projector_for

WIRES = ("openai_chat", "openai_responses", "anthropic")


class Case(NamedTuple):
    """A memory and its projection."""

    items: list[Item]
    one: Projection
    projector: TypeAwareProjector


def copies_are_valid(case: Case) -> bool:
    """Invariants 3 to 6."""
    items, one = case.items, case.one
    shown = {index: item.text for index, item in zip(one.sources, one.items, strict=True)}
    sent = [
        ExportItem(
            item.id, item.kind, shown.get(index) or "text", item.entry, fate.verdict, fate.reason, item.tool,
            item.call_id, injected=item.injected, needs_result=item.needs_result, secret="s" if index % 3 else None,
        )
        for index, (item, fate) in enumerate(zip(items, one.fates, strict=True))
    ]  # fmt: skip
    return all(not faults_of(export(sent, wire).document, wire) for wire in WIRES)


def pairs_are_whole(case: Case) -> bool:
    """Invariant 6 inside the projection itself."""
    items, one, projector = case
    standing, pairs = set(one.sources), pair_up(items)
    return not projector.budget.pair_guard or all(
        (call in standing) == (result in standing) for call, result in enumerate(pairs) if result > call
    )


def pins_stand(case: Case) -> bool:
    """Invariant 7."""
    items, one, projector = case
    if projector.budget.max_items == 0:
        return True
    held = [at for at, item in enumerate(items) if item.pinned or item.kind == Kind.SYSTEM]
    return all(one.fates[at].verdict == Verdict.PINNED and one.sources.count(at) == 1 for at in held)


def unread_is_whole(case: Case) -> bool:
    """Invariant 8."""
    items, one, projector = case
    start, read = last_index(items, is_prompt), last_index(items, is_answer)
    pairs, standing = pair_up(items), set(one.sources)
    unread = [
        at for at in one.sources if items[at].kind == Kind.TOOL_RESULT and pairs[at] > start and at > read
    ]
    return not projector.budget.pair_guard or all(pairs[at] in standing for at in unread)


def size_is_told(case: Case) -> bool:
    """Invariant 9."""
    budget, report = case.projector.budget, case.one.report
    limits = (
        (budget.max_items, report.projected_entries),
        (budget.max_approx_chars, report.projected_chars),
        (budget.max_tokens, report.projected_tokens or 0),
    )
    return report.over_budget == any(limit is not None and size > limit for limit, size in limits)


class Torn:
    """Sessions in which a limit took something, and in which it tore a pair apart."""

    def __init__(self) -> None:
        self.limited = self.torn = 0

    def look(self, items: list[Item], budget: Budget) -> None:
        """Project, and look whether pairs are whole."""
        one = project(items, budget)
        if one.report.dropped_items:
            standing = set(one.sources)
            self.limited += 1
            pairs = [(call, result) for call, result in enumerate(pair_up(items)) if result > call]
            self.torn += any((call in standing) != (result in standing) for call, result in pairs)

    def __str__(self) -> str:
        share = 100 * self.torn / max(1, self.limited)
        return f"{share:.1f} % ({self.torn:,} of {self.limited:,} with a limit that took something)"


def torn_by_both(seed: int, literal: Torn, ours: Torn) -> None:
    """The same limits on the same valid session, by the literal rule and by ours."""
    items = random_items(seed)
    gone = lacking(items)
    items = [item for item in items if item.id not in gone]
    options = random_budget(seed)
    limits = {"max_items": options.max_items, "max_approx_chars": options.max_approx_chars,
              "pinned_prefix_items": options.pinned_prefix_items}  # fmt: skip
    literal.look(items, Budget(**limits, mode="reference"))
    ours.look(items, Budget(**limits))


OF_PROJECTORS = (
    test_every_projector.test_03_to_06_every_copy_is_valid_and_invents_nothing,
    test_every_projector.test_07_pins_stand_as_they_are_once,
    test_every_projector.test_08_unread_results_keep_their_calls,
    test_every_projector.test_09_too_large_is_said,
)
OF_POLICIES = (
    test_compaction_invariants.test_15_what_is_committed_is_valid_and_smaller,
    test_compaction_invariants.test_17_every_item_is_kept_or_covered_and_what_came_meanwhile_follows,
)


def of_the_registered(seed: int) -> list[str]:
    """Names of the properties that do not hold for this seed's projector and policy."""
    names = PROJECTORS.names()
    failed = []
    for property in (*OF_PROJECTORS, *OF_POLICIES):
        given = {"kind": names[seed % len(names)]} if property in OF_PROJECTORS else {}
        try:
            property.hypothesis.inner_test(seed=seed, **given)
        except UnsatisfiedAssumption:
            continue
        except Exception:
            failed.append(property.__name__)
    return failed


CHECKS: tuple[Callable[[Case], bool], ...] = (
    copies_are_valid,
    pairs_are_whole,
    pins_stand,
    unread_is_whole,
    size_is_told,
)


def replay_is_equal(seed: int) -> bool:
    """Replay against each step alone."""
    timeline = random_timeline(seed, 10)
    slow, fast = both(timeline, projector_for(seed), None)
    reports = [report for _, report in slow.run()] == [report for _, report in fast.run()]
    return reports and list(fates(timeline, slow.writer.spans())) == list(
        fates(timeline, fast.writer.spans())
    )


def main() -> int:
    """Look at all sessions."""
    parser = argparse.ArgumentParser(prog="python -m bench.many_sessions", description=__doc__)
    parser.add_argument("--sessions", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--replay-every", type=int, default=10)
    asked = parser.parse_args()
    failed: Counter[str] = Counter()
    literal, ours = Torn(), Torn()
    replayed = 0
    for seed in range(asked.first, asked.first + asked.sessions):
        items, projector = random_items(seed), TypeAwareProjector.from_options(random_options(seed), "safe")
        case = Case(items, project(items, projector), projector)
        names = [check.__name__ for check in CHECKS if not check(case)]
        if seed % asked.replay_every == 0:
            replayed += 1
            names += [] if replay_is_equal(seed) else ["replay_is_equal"]
        names += of_the_registered(seed)
        torn_by_both(seed, literal, ours)
        for name in names:
            failed[name] += 1
            if failed[name] <= 5:
                print(f"{name}: seed {seed}")
    print(f"{asked.sessions:,} sessions, {replayed:,} replayed; failures: {dict(failed) or 'none'}")
    print(f"pairs torn apart by the literal rule: {literal}")
    print(f"pairs torn apart by ours: {ours}")
    return 1 if failed or ours.torn else 0


if __name__ == "__main__":
    sys.exit(main())
