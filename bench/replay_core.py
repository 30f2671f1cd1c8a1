"""Core replay: 100,000 items at every step, alone, without a database.

    python -m bench.replay_core [--items 100000] [--runs 3]

Prints CPU seconds for the built-in policies and the recorded view, the growth exponent from a tenth of the items
to all of them (1 = linear), and checks on a small session that the fast replay equals projecting each step alone.
Exits with 1 when one takes more than SECONDS (for 100,000 items; some LONGEST) or grows faster than EXPONENT.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time

from contextlab.core import BUILTINS, RecordedReplayer, Replayer, builtin, parse_policy, verdicts_at
from contextlab.core.assembler import Assembler
from contextlab.core.events import ItemEvent, SessionStart, StepEvent, TurnStart, Usage
from contextlab.core.items import Kind
from contextlab.core.policy import Policy
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.stepwise import Stepwise
from contextlab.core.timeline import Timeline

SECONDS = 2.0
"""About one CPU second is the aim; twice that is allowed for, machines differ."""
EXPONENT = 1.1
MORE = {
    "all limits": {
        "kind": "type_aware",
        "max_items": 400,
        "max_tokens": 60_000,
        "max_recent_tool_results": 5,
    },
    "characters": {"kind": "type_aware", "max_approx_chars": 200_000, "max_recent_tool_results": 5},
}
"""Measured as well: several limits at once, and the character limit, which leaves gaps."""
COMPACTS = {
    "never due": {"compaction": {"kind": "rule_based"}, "trigger": {"kind": "never"}},
    "large enough": {
        "compaction": {"kind": "llm_summary"},
        "trigger": {"kind": "tokens", "min_tokens": 10**9},
    },
}
"""Policies that compact, but not here: they are to cost what their projection does."""
LONGEST = {"all limits": 3.0, "characters": 12.0}
"""Where more than SECONDS is allowed for."""
STEEPEST = {"characters": 1.15}
"""Where more than EXPONENT is: the longer a log, the more islands lie behind its gaps."""


def session(items: int, seed: int = 7) -> Timeline:
    """A session like those of coding agents: turns of some steps, mostly one call and its result a step."""
    roll = random.Random(seed)
    made = Assembler(SessionStart("bench"))
    step = calls = 0
    while len(made.timeline) < items:
        made.feed(TurnStart(f"t{step}"))
        made.feed(ItemEvent(f"u{step}", Kind.USER, "x" * roll.randrange(400), f"u{step}", opens_turn=True))
        for _ in range(roll.randrange(1, 8)):
            step += 1
            name, entry = f"s{step}", f"m{step}"
            made.feed(StepEvent(name, model="claude-opus-4-5"))
            if roll.random() < 0.4:
                made.feed(ItemEvent(f"z{step}", Kind.REASONING, "x" * roll.randrange(1_000), entry))
            new = range(calls + 1, calls + 1 + roll.choice((0, 1, 1, 1, 2)))
            calls += len(new)
            for call in new:
                made.feed(
                    ItemEvent(
                        f"c{call}",
                        Kind.TOOL_CALL,
                        "x" * roll.randrange(200),
                        entry,
                        tool="Read",
                        call_id=f"k{call}",
                    )
                )
            if not new:
                made.feed(ItemEvent(f"a{step}", Kind.ASSISTANT, "x" * roll.randrange(1_000), entry))
            made.feed(Usage(name, input=1_000 * step))
            for call in new:
                text = "x" * min(60_000, int(roll.paretovariate(1) * 100))
                made.feed(ItemEvent(f"r{call}", Kind.TOOL_RESULT, text, f"r{call}", call_id=f"k{call}"))
    return made.timeline


def seconds(timeline: Timeline, policy: Policy | None, runs: int) -> tuple[float, int]:
    """CPU seconds of the fastest of some runs, and the number of spans."""
    best, spans = math.inf, 0
    for _ in range(runs):
        start = time.process_time()
        replayer = RecordedReplayer(timeline) if policy is None else Replayer(timeline, policy)
        for _ in replayer.run():
            pass
        spans = len(replayer.spans())
        best = min(best, time.process_time() - start)
    return best, spans


def check(timeline: Timeline, policy: Policy) -> None:
    """Raise unless replay equals projecting each step alone."""
    slow = Stepwise(Sizes(timeline), policy.projector)
    fast = Replayer(timeline, policy)
    for (step, report), result in zip(slow.run(), fast.run(), strict=True):
        if report != result.report:
            raise AssertionError(f"{policy.name}: reports differ at step {step.number}")
    one, other = slow.writer.spans(), fast.spans()
    for step in timeline.steps[:: max(1, len(timeline.steps) // 20)]:
        places = range(step.upto)
        if verdicts_at(one, step.number, places) != verdicts_at(other, step.number, places):
            raise AssertionError(f"{policy.name}: fates differ at step {step.number}")


def policies() -> dict[str, Policy | None]:
    """What is measured, by name; None = recorded."""
    more = {name: {"projector": options} for name, options in MORE.items()} | COMPACTS
    read = {name: parse_policy({"version": 1, "name": name, **options}) for name, options in more.items()}
    return {**{name: builtin(name) for name in BUILTINS}, **read, "recorded": None}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.replay_core", description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    sample, small, large = session(1_500), session(asked.items // 10), session(asked.items)
    print(f"{len(large):,} items, {len(large.steps):,} steps; CPU seconds, fastest of {asked.runs} runs")
    passed = True
    for name, policy in policies().items():
        if policy is not None:
            check(sample, policy)
        before, (after, spans) = seconds(small, policy, asked.runs)[0], seconds(large, policy, asked.runs)
        exponent = math.log(after / before) / math.log(len(large) / len(small))
        ok = after <= LONGEST.get(name, SECONDS) and exponent <= STEEPEST.get(name, EXPONENT)
        passed = passed and ok
        figures = f"{after:7.2f} s   exponent {exponent:4.2f}   {spans / len(large):4.2f} spans/item"
        print(f"{name:14} {figures}{'' if ok else '   MISSED'}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
