"""Automatic context compression: six strategies in order, the first that changes something ends the call.

| step    | rule                                                                                                    |
|---------|---------------------------------------------------------------------------------------------------------|
| due     | msg_threshold messages or max_token x token_ratio estimated tokens are reached (both inclusive)          |
| forced  | a person's wish does not look at the thresholds                                                          |
| order   | tool_runs, protected_large, large, previous_rounds, current_large, current_round                         |
| passes  | one strategy a call; up to max_passes of them one after the other while it stays due                      |
| gain    | each change by itself: what does not get smaller is undone (core/auto_context/work.py)                    |
| result  | memory, originals to be put aside and events together; the caller commits all of them or none            |
| failure | an error of the model is raised, whatever was done before it is gone                                     |
| noted   | still over a threshold, an unread result that was folded                                                 |

The memory's own summary, if it has one, stays. What the strategies do is told at the head of their files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

from contextlab.core.auto_context.estimate import text_tokens, tokens_of
from contextlab.core.auto_context.messages import View
from contextlab.core.auto_context.options import AutoContextOptions, read_auto_context
from contextlab.core.auto_context.strategy import run_first
from contextlab.core.auto_context.work import Work
from contextlab.core.compaction import CompactResult, Decision, Deps, Outcome, Snapshot
from contextlab.core.items import Verdict
from contextlab.core.summarising.file_tracking import cumulative, files_of
from contextlab.core.summarising.outcomes import BELOW, NOTHING, compaction_report, fate_kept, nothing_done


@dataclass(slots=True, frozen=True)
class AutoContext:
    """The compression of AgentScope, without its faults unless in reference mode."""

    kind: ClassVar[str] = "auto_context"
    needs_model: ClassVar[bool] = True
    options: AutoContextOptions = field(default_factory=AutoContextOptions)

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Read the options; raises PolicyError."""
        return cls(read_auto_context(options, mode, "compaction"))

    @property
    def mode(self) -> str:
        """`safe` or `reference`."""
        return self.options.mode

    def should_compact(self, snapshot: Snapshot) -> Decision:
        """Due from either threshold on."""
        return is_due(View.of(snapshot.items), self.options, snapshot.summary)

    def compact(self, snapshot: Snapshot, deps: Deps) -> Outcome:
        """Compress if it is due or forced; raises ModelError."""
        if not deps.force and not self.should_compact(snapshot).due:
            return nothing_done(BELOW, snapshot, deps)
        work = Work.start(snapshot, self.options, deps)
        self.run(work)
        return outcome_of(work) if work.events else nothing_done(NOTHING, snapshot, deps)

    def run(self, work: Work) -> None:
        """Let strategies work on a copy; raises ModelError."""
        for number in range(self.options.max_passes):
            if number > 0 and not is_due(work.view, self.options, work.snapshot.summary).due:
                break
            if not run_first(work):
                break


POLICY = AutoContext


def is_due(view: View, options: AutoContextOptions, summary: str | None = None) -> Decision:
    """Whether a threshold is reached, with the figures of the one that is (of the tokens when none is)."""
    rule = f"messages >= {options.msg_threshold:,} or estimated tokens >= {options.token_threshold:,}"
    messages = view.seen_by_model()
    if messages >= options.msg_threshold:
        return Decision(True, rule, messages, options.msg_threshold)
    tokens = tokens_of(view.messages) + text_tokens(len(summary or ""))
    return Decision(tokens >= options.token_threshold, rule, tokens, options.token_threshold)


def outcome_of(work: Work) -> Outcome:
    """What a finished compression came to."""
    given = work.snapshot
    old = {item.id for item in given.items}
    covered = tuple(item.id for item in given.items if _verdict(work, item.id) == Verdict.SUMMARISED)
    gone = frozenset(covered)
    files = cumulative(given.last_result, files_of(item for item in given.items if item.id in gone))
    result = CompactResult(
        summary="\n\n".join(work.texts),
        read_files=files.read,
        modified_files=files.modified,
        method="model" if work.written else "mechanical",
        strategy="+".join(dict.fromkeys(work.strategies)),
        usage=work.usage,
        raw_reply="\n\n".join(one.raw for one in work.written) or None,
    )
    memory = Snapshot(tuple(work.view.items()), given.summary, result, given.version)
    report = compaction_report(given, memory, len(covered), work.deps.count)
    report.offloaded_items = sum(_verdict(work, name) == Verdict.OFFLOADED for name in old)
    report.notes = [*work.notes, *_still_due(work)]
    result.report = report
    fates = {item.id: work.fates.get(item.id) or fate_kept(item, work.deps) for item in given.items}
    return Outcome(result, "", memory, fates, covered, work.offloads, work.events)


def _verdict(work: Work, name: str) -> Verdict | None:
    fate = work.fates.get(name)
    return None if fate is None else fate.verdict


def _still_due(work: Work) -> list[str]:
    decision = is_due(work.view, work.options, work.snapshot.summary)
    return [f"still due: {decision.estimate:,} of {decision.rule}"] if decision.due else []
