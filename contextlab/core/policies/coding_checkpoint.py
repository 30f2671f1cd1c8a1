"""A coding agent's checkpoint: old results shrink first; then a model writes a checkpoint, and falls back step by step.

| step       | rule                                                                                                |
|------------|-----------------------------------------------------------------------------------------------------|
| due        | more tokens than window - reserve (a person's request does not ask)                                 |
| micro      | old results become previews (micro_compaction.py); enough if memory then fits                       |
| checkpoint | history and the beginning of a split turn are summarised, `keep_recent_tokens` stay (checkpoint.py)  |
| too long   | the oldest quarter of what the model reads is left out, at a message, at most three times           |
| fallback   | then, or on another error if there is an earlier checkpoint, a summary without a model; else raise  |
| aggressive | still too large: what stayed is folded into the checkpoint too, except what is open or pinned       |

Strategies: tool-result-micro, checkpoint, checkpoint-delta (an earlier one goes on), aggressive-...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from contextlab.core.budget import Mode
from contextlab.core.compaction import CompactResult, Decision, Deps, Outcome, Snapshot
from contextlab.core.documents.options import Options, read_mode
from contextlab.core.errors import CompactError
from contextlab.core.items import Item, Kind, Reason, Verdict
from contextlab.core.policies.llm_summary import read_result
from contextlab.core.projection import Fate
from contextlab.core.sections import joined
from contextlab.core.summarising.asking import SHORT, added, ask, is_too_long, summary_request
from contextlab.core.summarising.checkpoint import Plan, plan
from contextlab.core.summarising.cut import Entries, open_part, whole_pairs, whole_pairs_after
from contextlab.core.summarising.file_tracking import Files, cumulative, files_of
from contextlab.core.summarising.local_summary import local_summary
from contextlab.core.summarising.micro_compaction import coding_size, micro_compact, total
from contextlab.core.summarising.outcomes import (
    BELOW,
    NOTHING,
    compaction_report,
    nothing_done,
    pinned_ids,
    replaced_by_summary,
)
from contextlab.core.summarising.transcript import LONGEST

RETRIES = 3
MICRO = "tool-result-micro"
SHORTENED = Fate(Verdict.CLEARED, Reason.PREVIEWED)
OPTIONS = (
    "auto",
    "window_tokens",
    "reserve_tokens",
    "keep_recent_tokens",
    "summary_output_tokens",
    "micro",
    "micro_keep",
    "micro_max_tokens",
)


@dataclass(slots=True, frozen=True)
class CodingCheckpoint:
    """Micro-compaction, then checkpoints."""

    kind: ClassVar[str] = "coding_checkpoint"
    needs_model: ClassVar[bool] = True
    auto: bool = True
    window_tokens: int = 128_000
    reserve_tokens: int = 16_384
    keep_recent_tokens: int = 20_000
    summary_output_tokens: int = 400
    micro: bool = True
    micro_keep: int = 3
    micro_max_tokens: int = 1_200
    mode: Mode = "safe"

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Read the options; raises PolicyError."""
        given = Options(options, OPTIONS, "compaction")
        return cls(
            given.switch("auto", True),
            given.number("window_tokens", 128_000, least=1),
            given.number("reserve_tokens", 16_384),
            given.number("keep_recent_tokens", 20_000),
            given.number("summary_output_tokens", 400, least=1),
            given.switch("micro", True),
            given.number("micro_keep", 3),
            given.number("micro_max_tokens", 1_200),
            read_mode(mode),
        )

    @property
    def target(self) -> int:
        """Tokens that memory may have."""
        return max(0, self.window_tokens - self.reserve_tokens)

    def should_compact(self, snapshot: Snapshot) -> Decision:
        """Due when memory leaves less than the reserve of the window."""
        size = coding_size(snapshot)
        return Decision(
            self.auto and size > self.target, f"estimated tokens > {self.target:,}", size, self.target
        )

    def compact(self, snapshot: Snapshot, deps: Deps) -> Outcome:
        """Shrink memory; raises ModelError where there is no earlier checkpoint to fall back on."""
        if not deps.force:
            if coding_size(snapshot) <= self.target:
                return nothing_done(BELOW, snapshot, deps)
            if self.micro and (outcome := self._micro(snapshot, deps)) is not None:
                return outcome
        planned = plan(snapshot.items, self.keep_recent_tokens, self.mode)
        pins = set() if self.mode == "reference" else pinned_ids(snapshot.items, deps)
        run = _Checkpoint(self, snapshot, deps, pins)
        if not run.unpinned(planned.covered):
            return nothing_done(NOTHING, snapshot, deps)
        return run.finish(planned)

    def _micro(self, snapshot: Snapshot, deps: Deps) -> Outcome | None:
        """The outcome of micro-compaction, None where it does not bring memory under the target."""
        target = self.target - (len(snapshot.summary or "") + 3) // 4
        done = micro_compact(
            snapshot.items,
            keep=self.micro_keep,
            max_tokens=self.micro_max_tokens,
            target=target,
            pinned=deps.pins,
        )
        if done is None or done.tokens_after > target:
            return None
        outcome = nothing_done("", snapshot, deps)
        outcome.fates |= dict.fromkeys(done.compacted, SHORTENED)
        earlier = snapshot.last_result or CompactResult()
        result = replace(earlier, summary=snapshot.summary or "", method="mechanical", strategy=MICRO)
        result = replace(result, usage=None, raw_reply=None)
        outcome.memory = Snapshot(done.items, snapshot.summary, result, snapshot.version)
        result.report = compaction_report(snapshot, outcome.memory, 0, deps.count)
        result.report.cleared_items = len(done.compacted)
        outcome.result = result
        return outcome


POLICY = CodingCheckpoint


@dataclass(slots=True)
class _Checkpoint:
    """One checkpoint in the making."""

    policy: CodingCheckpoint
    snapshot: Snapshot
    deps: Deps
    pins: set[str]
    fallback: bool = False
    unread: int = 0
    """Oldest items that no model read, since the prompt would have been too long."""

    def unpinned(self, items: Sequence[Item]) -> list[Item]:
        """What may go: no pin, and nothing that only the person saw, of which no context is freed."""
        return [item for item in items if item.id not in self.pins and item.kind != Kind.UI]

    def finish(self, planned: Plan) -> Outcome:
        """The checkpoint, the aggressive one where it is still too large."""
        covered = self.unpinned(planned.covered)
        result = self._summarise(planned)
        result.strategy = "checkpoint-delta" if self.snapshot.summary else "checkpoint"
        gone = {item.id for item in covered}
        kept = [item for item in self.snapshot.items if item.id not in gone]
        if self._size(kept, result) > self.policy.target and (folded := self._foldable(planned.kept)):
            strategy = f"aggressive-{result.strategy}"
            result = self._over(folded, result)
            result.strategy = strategy
            covered += folded
        outcome = replaced_by_summary(self.snapshot, {item.id for item in covered}, result, self.deps)
        self._note(outcome)
        return outcome

    def _size(self, kept: Sequence[Item], result: CompactResult) -> int:
        return total(kept) + (len(result.summary) + 3) // 4

    def _note(self, outcome: Outcome) -> None:
        assert outcome.result is not None
        assert outcome.memory is not None
        report = outcome.result.report
        assert report is not None
        if self.fallback:
            part = "a part of " if outcome.result.method == "model" else ""
            report.notes.append(f"no model wrote {part}this checkpoint: it failed")
        if self.unread:
            report.notes.append(
                f"the model did not read the {self.unread} oldest items: the prompt was too long"
            )
        if coding_size(outcome.memory) > self.policy.target:
            report.over_budget = True

    def _summarise(self, planned: Plan) -> CompactResult:
        """History, then the beginning of the split turn, in a call each."""
        history, prefix = self.unpinned(planned.history), self.unpinned(planned.turn_prefix)
        if not history:
            return self._call(prefix, self.snapshot)
        result = self._call(history, self.snapshot)
        if not prefix:
            return result
        begun = self._call(prefix, Snapshot(last_result=result))
        summary = f"{result.summary}\n\n# The current turn so far\n{begun.summary}"
        return replace(_together(result, begun), summary=summary)

    def _over(self, folded: list[Item], result: CompactResult) -> CompactResult:
        """One more checkpoint that goes on from the first; a model's replaces it, rules add to it."""
        more = self._call(folded, Snapshot(summary=result.summary, last_result=result))
        both = _together(result, more)
        return replace(both, sections=more.sections) if more.method == "model" else both

    def _foldable(self, kept: Sequence[Item]) -> list[Item]:
        """What may be folded of the entries that stayed."""
        end = len(kept)
        if self.policy.mode != "reference":
            entries = Entries(kept)
            end = entries.start(whole_pairs(entries, open_part(entries)))
        return self.unpinned(kept[:end])

    def _call(self, items: list[Item], earlier: Snapshot) -> CompactResult:
        """A summary by the model, by rules where that is allowed."""
        files = cumulative(earlier.last_result, files_of(items, self.policy.mode))
        try:
            return self._ask(items, earlier, files)
        except CompactError as error:
            if not is_too_long(error) and not (self.snapshot.summary or earlier.summary):
                raise
        self.fallback = True
        return local_summary(earlier, items, files, "")

    def _ask(self, items: list[Item], earlier: Snapshot, files: Files) -> CompactResult:
        read: Sequence[Item] = items
        for left in range(RETRIES, -1, -1):
            most = LONGEST if left == RETRIES else SHORT
            messages = summary_request(read, earlier.summary, files, self.deps, most)
            try:
                reply = ask(messages, self.deps, max_output_tokens=self.policy.summary_output_tokens)
            except CompactError as error:
                shorter = without_oldest_quarter(read)
                if not is_too_long(error) or not left or not shorter:
                    raise
                read = shorter
                continue
            self.unread += len(items) - len(read)
            return read_result(reply, items, files)
        raise AssertionError("the last try answers or raises")


def _together(first: CompactResult, second: CompactResult) -> CompactResult:
    """Two summaries as one result with the text of the second: what either says, and all that models were paid for."""
    replies = [one.raw_reply for one in (first, second) if one.raw_reply]
    return replace(
        second,
        sections=joined(first.sections, second.sections),
        method="model" if "model" in (first.method, second.method) else second.method,
        usage=added(first.usage, second.usage),
        raw_reply="\n\n".join(replies) or None,
        notes=list(dict.fromkeys([*first.notes, *second.notes])),
    )


def without_oldest_quarter(items: Sequence[Item]) -> Sequence[Item]:
    """The items without the oldest quarter of their entries, cut where no pair is split; empty when nothing is left."""
    entries = Entries(items)
    place = whole_pairs_after(entries, max(1, len(entries) // 4))
    return items[entries.start(place) :]
