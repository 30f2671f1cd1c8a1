"""B4: the context of every model call of a session, against LangChain's ways to make one.

| who                     | does at each call                                                                         |
|-------------------------|-------------------------------------------------------------------------------------------|
| we, the view            | 200 entries, 32,000 tokens, 5 results, old reasoning, pairs whole: what the call sees      |
| we, the audit           | the same with a report of every call and the spans of every item, which no peer makes      |
| trim_messages, items    | the newest 200 messages, nothing else: the cheapest                                       |
| trim_messages, tokens   | the newest messages of 32,000 tokens                                                      |
| ClearToolUsesEdit       | all but 5 results cleared                                                                 |

CPU seconds of the work alone: LangChain's messages are made before the clock starts, and so is our timeline (reading
100,000 messages into one is a figure of its own). That what we give for a call is what projecting it alone gives is
checked on a part of the session.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench import gen_chat
from bench.against_langchain import exponent, ours, theirs
from bench.measure import note
from bench.places import langchain
from bench.replay_core import check
from bench.report import Figure, Report, median_ratio
from contextlab.core import Replayer, parse_policy
from contextlab.core.assembler import Assembler
from contextlab.core.events import SessionStart
from contextlab.core.policy import Policy
from contextlab.core.projection import Budgeted
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.swift import Swift
from contextlab.core.timeline import Timeline

LINEAR = 1.1
CHECKED = 1_500
POLICY = {
    "kind": "type_aware",
    "max_items": 200,
    "max_tokens": 32_000,
    "max_recent_tool_results": 5,
    "trim_old_reasoning": True,
}
PEERS: dict[str, tuple[str, float | None, float | None]] = {
    # what: name, aimed at by the view, held by it
    "items": ("trim_messages by items", 50.0, 50.0),
    "tokens": ("trim_messages by tokens", 500.0, 500.0),
    "clear": ("ClearToolUsesEdit", None, None),
}


def measure(report: Report, pairs: int, sizes: list[int], small: int, large: int) -> None:
    """Add B4's figures; `sizes` are for the growth, `small` for slow peers, `large` for the cheapest."""
    policy = parse_policy({"version": 1, "name": "b4", "projector": POLICY})
    check(_timeline(CHECKED), policy)
    works = {"view": _view, "audit": _audit}
    for name, work in works.items():
        spent = []
        for size in sizes:
            note(f"{name}: every call of {size:,} messages")
            spent.append(ours(work(_timeline(size), policy)))
        report.facts[f"B4 {name}"] = dict(zip(map(str, sizes), spent, strict=True))
        what = f"{name} of every call, {sizes[0]:,} to {sizes[-1]:,} messages"
        report.figures += [
            Figure("B4", f"{name} of every call of {sizes[-1]:,} messages", spent[-1], "CPU s", 1.0, 4.0),
            Figure("B4", what, exponent(sizes, spent), "exponent", LINEAR, LINEAR),
        ]
    reading = ours(lambda: _read(gen_chat.messages(sizes[-1])))
    report.figures.append(Figure("B4", f"reading {sizes[-1]:,} messages", reading, "CPU s"))
    _compare(report, policy, pairs, small, large)


def _compare(report: Report, policy: Policy, pairs: int, small: int, large: int) -> None:
    python = langchain()
    if isinstance(python, str):
        report.skipped.append(f"B4 against LangChain: {python}")
        return
    for what, (name, target, gate) in PEERS.items():
        size = large if what == "items" else small
        timeline = _timeline(size)
        spent: dict[str, list[float]] = {"view": [], "audit": [], "theirs": []}
        for number in range(1, pairs + 1):
            note(f"{name}, {size:,} messages, pair {number} of {pairs}")
            spent["view"].append(ours(_view(timeline, policy)))
            spent["audit"].append(ours(_audit(timeline, policy)))
            spent["theirs"].append(theirs(python, what, size))
        report.facts[f"B4 {name}"] = {"messages": size, **spent}
        view, audit = (median_ratio(spent[one], spent["theirs"]) for one in ("view", "audit"))
        label = f"{name}, {size:,} messages: theirs / our"
        report.figures += [
            Figure("B4", f"{label} view", view, "x", target, gate, "higher"),
            Figure("B4", f"{label} audit", audit, "x", None, None, "higher"),
        ]


def _read(chat: list[dict[str, Any]]) -> Timeline:
    assembler = Assembler(SessionStart("b4"))
    assembler.feed_all(gen_chat.events(chat))
    return assembler.timeline


def _timeline(size: int) -> Timeline:
    return _read(gen_chat.messages(size))


def _view(timeline: Timeline, policy: Policy) -> Callable[[], int]:
    """What each call sees, alone."""
    assert isinstance(policy.projector, Budgeted)
    budget = policy.projector.as_budget()
    return lambda: sum(1 for _ in Swift(Sizes(timeline), budget).cuts())


def _audit(timeline: Timeline, policy: Policy) -> Callable[[], int]:
    """The whole replay: reports and spans."""

    def work() -> int:
        replayer = Replayer(timeline, policy)
        return sum(1 for _ in replayer.run()) + len(replayer.spans())

    return work
