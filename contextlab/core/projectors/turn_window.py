"""The newest turns, whole: a view of memory that always begins with a person's message and never cuts a turn.

| step | rule                                                                                | reason in the fates   |
|------|-------------------------------------------------------------------------------------|-----------------------|
| 1    | what only the person saw is out; so is what stands before the first turn            | ui_only, orphan_prefix |
| 2    | the last `max_attached_turns` turns are attached                                    | max_turns             |
| 3    | the last `compression_keep_recent_turns` of them, at least the current one, are     |                       |
|      | protected; the older ones are compressible                                          |                       |
| 4    | `compact_completed_tool_turns`: compressible turns with tools and an answer become  | tool_turn_compacted   |
|      | question and answer                                                                 |                       |
| 5    | `context_compressor`: what step 4 left becomes a summary, if every compressible     | summarised, compacted |
|      | turn is completed. A compressor that fails, or whose answer no provider would take, |                       |
|      | aborts: nothing else is sent in its place                                           |                       |
| 6    | while there are more than `max_attached_messages`, the oldest unit goes: the summary | max_messages         |
|      | first, then whole turns. The newest unit stays, whatever its size                   |                       |
| 7    | safe mode: system items and pins stay, a pin with its turn's question; pairs are    | system, pinned ...    |
|      | guarded                                                                             |                       |

System items and summaries that stand in memory are no messages: they take no place and stay. What a turn is, stands in
core/turns.py; what a compressor may answer, in core/summarising/compressing.py. Without `deps` (replay) a compressor
that needs a model is not asked, and the report says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.budget import Budget, Mode
from contextlab.core.compaction import Compressor, Deps
from contextlab.core.documents.options import Options, read_mode
from contextlab.core.projecting.window_sheet import WindowSheet
from contextlab.core.projection import Projection, Source
from contextlab.core.summarising.compressing import needs_model, read_compressor

_OPTIONS = (
    "max_attached_turns",
    "max_attached_messages",
    "compact_completed_tool_turns",
    "compression_keep_recent_turns",
    "context_compressor",
    "pair_guard",
)


@dataclass(slots=True, frozen=True)
class TurnWindow:
    """The newest turns whole, older tool turns folded to question and answer.

    Raises ValueError for limits that leave nothing.
    """

    kind: ClassVar[str] = "turn_window"
    max_attached_turns: int = 10
    max_attached_messages: int = 100
    """Entries, at most; a single turn may exceed it."""
    compact_completed_tool_turns: bool = True
    compression_keep_recent_turns: int = 2
    context_compressor: Compressor | None = None
    deps: Deps | None = None
    """What the compressor may use; None in replay, where no model is asked."""
    mode: Mode = "safe"
    pair_guard: bool = True

    def __post_init__(self) -> None:
        """Refuse limits that leave nothing."""
        if self.max_attached_turns <= 0 or self.max_attached_messages <= 0:
            raise ValueError("max_attached_turns and max_attached_messages must be positive")
        if self.compression_keep_recent_turns < 0:
            raise ValueError("compression_keep_recent_turns must not be negative")

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Make one from a policy document's options; raises PolicyError."""
        given = Options(options, _OPTIONS, "projector")
        compressor = options.get("context_compressor")
        place = given.place("context_compressor")
        return cls(
            max_attached_turns=given.number("max_attached_turns", 10, least=1),
            max_attached_messages=given.number("max_attached_messages", 100, least=1),
            compact_completed_tool_turns=given.switch("compact_completed_tool_turns", True),
            compression_keep_recent_turns=given.number("compression_keep_recent_turns", 2),
            context_compressor=None if compressor is None else read_compressor(compressor, mode, place),
            mode=read_mode(mode),
            pair_guard=given.switch("pair_guard", True),
        )

    def project(self, source: Source) -> Projection:
        """The window; raises what the compressor raises, EmptySummary and InvalidProjection."""
        budget = Budget(mode=self.mode, pair_guard=self.pair_guard)
        sheet = WindowSheet(source, budget, self.max_attached_turns, self.compression_keep_recent_turns)
        if self.compact_completed_tool_turns:
            sheet.fold()
        if self.context_compressor is not None:
            self._summarise(sheet, self.context_compressor)
        sheet.cap(self.max_attached_messages)
        return sheet.finish()

    def _summarise(self, sheet: WindowSheet, compressor: Compressor) -> None:
        if not sheet.old:
            return
        if not all(unit.turn.completed(self.mode == "safe") for unit in sheet.old):
            sheet.note("summary not made: an old turn is not completed")
        elif self.deps is None and needs_model(compressor):
            sheet.note(f"summary not made: {compressor.kind} needs a model")
        else:
            made = compressor.compress(sheet.compressible(), self.deps or Deps())
            sheet.put_summary(made, compressor.kind)


PROJECTOR = TurnWindow
