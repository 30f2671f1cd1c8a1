"""Memory as a window of turns over a summary that grows: the coordinator's rule for an agent's own memory.

| what      | rule                                                                                                  |
|-----------|-------------------------------------------------------------------------------------------------------|
| protected | the last `keep_recent_turns` turns, at least the current one; system items and pins, with their pairs |
| waiting   | a turn with a call that has no result yet stays whole, wherever it stands                             |
| covered   | everything else; what lies inside completed tool turns is dropped first                               |
|           | (`compact_completed_tool_turns`)                                                                      |
| how       | `compressor` gets the summary so far and what is covered now, never what was covered before           |
| due       | by itself: more than `max_pending_turns` turns stand in memory outside the summary                    |
| nothing   | no turn to cover: no call, no result                                                                  |

What is covered leaves memory, so the snapshot itself is the state: it holds no covered item, and its summary is what
the next compaction goes on from. A compressor that fails is raised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from contextlab.core.budget import Mode
from contextlab.core.compaction import CompactResult, Compressor, Decision, Deps, Outcome, Snapshot
from contextlab.core.compressors.model_summary import ModelSummary
from contextlab.core.documents.options import Options, read_mode
from contextlab.core.errors import EmptySummary
from contextlab.core.items import Item, Kind, Reason, Verdict
from contextlab.core.measuring.figures import Figures
from contextlab.core.measuring.memory_size import count_turns
from contextlab.core.projection import Fate, pair_up
from contextlab.core.summarising.compressing import Metered, as_text, copies, needs_model, read_compressor
from contextlab.core.summarising.file_tracking import cumulative, files_of
from contextlab.core.summarising.outcomes import NOTHING, nothing_done, pinned_ids, replaced_by_summary
from contextlab.core.turns import Turn, split_turns

FOLDED = Fate(Verdict.DROPPED, Reason.TOOL_TURN_COMPACTED)
_OPTIONS = ("keep_recent_turns", "max_pending_turns", "compact_completed_tool_turns", "compressor")


@dataclass(frozen=True)
class IncrementalWindow:
    """Covers old turns by a growing summary."""

    kind: ClassVar[str] = "incremental_window"
    needs_model: ClassVar[bool] = True
    """With the compressor that it has by default; see `__post_init__`."""
    keep_recent_turns: int = 2
    max_pending_turns: int = 10
    compact_completed_tool_turns: bool = True
    compressor: Compressor = field(default_factory=ModelSummary)
    mode: Mode = "safe"

    def __post_init__(self) -> None:
        """Say of this one whether it needs a model: that depends on its compressor."""
        object.__setattr__(self, "needs_model", needs_model(self.compressor))

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Read the options; raises PolicyError."""
        given = Options(options, _OPTIONS, "compaction")
        compressor = options.get("compressor", {"kind": ModelSummary.kind})
        return cls(
            given.number("keep_recent_turns", 2),
            given.number("max_pending_turns", 10, least=1),
            given.switch("compact_completed_tool_turns", True),
            read_compressor(compressor, mode, given.place("compressor")),
            read_mode(mode),
        )

    def should_compact(self, snapshot: Snapshot) -> Decision:
        """Due when more turns than `max_pending_turns` stand outside the summary."""
        return self._judge(count_turns(snapshot.items))

    def judge(self, figures: Figures) -> Decision:
        """The same by figures alone."""
        return self._judge(figures.turns)

    def _judge(self, turns: int) -> Decision:
        rule = f"pending turns > {self.max_pending_turns:,}"
        return Decision(turns > self.max_pending_turns, rule, turns, self.max_pending_turns)

    def compact(self, snapshot: Snapshot, deps: Deps) -> Outcome:
        """Cover old turns; raises what the compressor raises, and EmptySummary."""
        material, folded = self._choose(snapshot.items, deps)
        if not material:
            return nothing_done(NOTHING, snapshot, deps)
        result = self._result(snapshot, material, [*material, *folded], deps)
        inside = {item.id for item in folded}
        outcome = replaced_by_summary(snapshot, {item.id for item in material} | inside, result, deps)
        outcome.fates |= dict.fromkeys(inside, FOLDED)
        if result.report is not None:
            result.report.summarised_items -= len(inside)
            result.report.dropped_items += len(inside)
        return outcome

    def _choose(self, items: Sequence[Item], deps: Deps) -> tuple[list[Item], list[Item]]:
        """What goes to the compressor, and what is only left out, both in order."""
        head, turns = split_turns(items)
        old = turns[: -max(1, self.keep_recent_turns)]
        chosen: set[int] = {index for message in head for index in message}
        left = set(chosen)
        for turn in old:
            if not turn.waits():
                chosen |= set(turn.indices())
                left |= set(self._left(turn))
        pins = pinned_ids(items, deps)
        chosen = _whole_pairs(items, {index for index in chosen if items[index].id not in pins})
        material = [items[index] for index in sorted(chosen & left)]
        return material, [items[index] for index in sorted(chosen - left)]

    def _left(self, turn: Turn) -> list[int]:
        if self.compact_completed_tool_turns and turn.has_tools():
            return turn.folded(self.mode == "safe")
        return turn.indices()

    def _result(
        self, snapshot: Snapshot, material: Sequence[Item], leaving: Sequence[Item], deps: Deps
    ) -> CompactResult:
        metered = Metered(deps.model) if deps.model is not None else None
        earlier = [Item("earlier-summary", Kind.SUMMARY, snapshot.summary)] if snapshot.summary else []
        made = self.compressor.compress([*earlier, *copies(material)], replace(deps, model=metered))
        summary = as_text(made)
        if not summary.strip():
            raise EmptySummary("The compressor gave nothing back.")
        files = cumulative(snapshot.last_result, files_of(leaving, self.mode))
        result = CompactResult(summary=summary, read_files=files.read, modified_files=files.modified)
        result.strategy = self.compressor.kind
        if metered is not None and metered.replies:
            result.method, result.usage = "model", metered.usage
            result.raw_reply = metered.replies[-1].text
        return result


POLICY = IncrementalWindow


def _whole_pairs(items: Sequence[Item], chosen: set[int]) -> set[int]:
    """Without the one of each pair whose other one is not chosen."""
    split = {
        index
        for index, other in enumerate(pair_up(items))
        if other >= 0 and (other in chosen) != (index in chosen)
    }
    return chosen - split
