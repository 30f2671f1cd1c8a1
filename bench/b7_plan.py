"""B7, the planning of a compaction: is it due, where is the safe cut, what goes and what stays.

Against the same part of LangChain's SummarizationMiddleware (counting, deciding, cutting, partitioning; 20 messages
stay), and beside it the whole of both with a model that takes no time: there the prompt's text decides, in which we
write ids, calls and the rest of each item as JSON, and track the files that the calls name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bench import gen_chat
from bench.against_langchain import exponent, ours, theirs
from bench.measure import note
from bench.places import langchain
from bench.report import Figure, Report, median_ratio
from contextlab.core.compaction import Deps, Snapshot
from contextlab.core.items import Item
from contextlab.core.measuring.memory_size import snapshot_starts
from contextlab.core.policies.llm_summary import LlmSummary
from contextlab.core.registry import TRIGGERS
from contextlab.core.summarising.cut import Entries
from contextlab.core.summarising.outcomes import pinned_ids
from contextlab.core.testing import ScriptedModel

KEPT = 20
TARGET = 5.0
LINEAR = 1.05
"""Aimed at; memory that does not fit a processor's cache is slower to walk through, so the gate is a little higher."""
LINEAR_GATE = 1.2


def measure(report: Report, pairs: int, sizes: list[int], compared: int) -> None:
    """Add B7's planning figures; both sides do `compared` messages."""
    plans = []
    for size in sizes:
        note(f"planning over {size:,} messages")
        plans.append(ours(_plan(_memory(size)), 9))
    growth = exponent(sizes, plans)
    report.facts["B7 seconds"] = dict(zip(map(str, sizes), plans, strict=True))
    name = f"planning grows from {sizes[0]:,} to {sizes[-1]:,} messages"
    report.figures.append(Figure("B7", name, growth, "exponent", LINEAR, LINEAR_GATE))
    python = langchain()
    if isinstance(python, str):
        report.skipped.append(f"B7 against LangChain: {python}")
        return
    snapshot = _memory(compared)
    works = {"plan": (_plan(snapshot), TARGET), "compact": (_compact(snapshot), None)}
    for what, (work, target) in works.items():
        mine, peer = [], []
        for number in range(1, pairs + 1):
            note(f"{what}, {compared:,} messages, pair {number} of {pairs}")
            mine.append(ours(work, 5))
            peer.append(theirs(python, what, compared))
        report.facts[f"B7 {what}"] = {"messages": compared, "ours": mine, "theirs": peer}
        gate = None if target is None else target / 2
        ratio = median_ratio(mine, peer)
        report.figures.append(
            Figure("B7", f"{what}, {compared:,} messages: theirs / ours", ratio, "x", target, gate, "higher")
        )


def _memory(size: int) -> Snapshot:
    return Snapshot(tuple(gen_chat.items(gen_chat.messages(size))))


def _plan(snapshot: Snapshot) -> Callable[[], tuple[list[Item], tuple[Item, ...]]]:
    policy, deps = LlmSummary(max_items=KEPT), Deps()
    trigger = TRIGGERS.get("tokens").from_options({"min_tokens": 1}, "safe")

    def work() -> tuple[list[Item], tuple[Item, ...]]:
        memory = replace(snapshot)  # of which nothing is known yet
        assert trigger.decide(memory, deps).due
        entries = Entries(memory.items, snapshot_starts(memory))
        end = entries.start(policy.cut(entries))
        pins = pinned_ids(memory.items, deps)
        return [item for item in memory.items[:end] if item.id not in pins], memory.items[end:]

    return work


def _compact(snapshot: Snapshot) -> Callable[[], bool]:
    policy = LlmSummary(max_items=KEPT)
    return lambda: policy.compact(replace(snapshot), Deps(model=ScriptedModel(['{"goal": "g"}']))).compacted
