"""Many random sessions through projection, export and replay, for a long look: not part of the test run.

    python -m bench.many_sessions --sessions 50000 [--first 0] [--replay-every 10]

For each session and budget: pairs whole, pins present, unread results whole, size within the budget or said to be
over, sums equal, copies valid in every provider's format; for every tenth also replay equal to each step alone.
Prints failures by name with their seeds, and how many were checked; exits with 1 when there were any.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from contextlab.core import Item, Kind, Projection, Verdict, project
from contextlab.core.projection import is_answer, is_prompt, last_index, pair_up
from contextlab.core.projectors.type_aware import TypeAwareProjector
from contextlab.core.protocol import ExportItem, export, faults_of
from tests.core.sessions import random_options, random_timeline
from tests.core.test_projection import random_items
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
    replayed = 0
    for seed in range(asked.first, asked.first + asked.sessions):
        items, projector = random_items(seed), TypeAwareProjector.from_options(random_options(seed), "safe")
        case = Case(items, project(items, projector), projector)
        names = [check.__name__ for check in CHECKS if not check(case)]
        if seed % asked.replay_every == 0:
            replayed += 1
            names += [] if replay_is_equal(seed) else ["replay_is_equal"]
        for name in names:
            failed[name] += 1
            if failed[name] <= 5:
                print(f"{name}: seed {seed}")
    print(f"{asked.sessions:,} sessions, {replayed:,} replayed; failures: {dict(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
