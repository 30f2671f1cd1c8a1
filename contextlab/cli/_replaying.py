"""Sessions of a file replayed for the command line: their steps with reports, and the items of one step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from contextlab.cli._reading import Counting, Read, read
from contextlab.core.assembler import Assembler
from contextlab.core.items import IN_CONTEXT, KINDS, Injected, Item, Kind, Reason, Verdict
from contextlab.core.measuring.tokens import TokenCounter
from contextlab.core.measuring.window import limit_of
from contextlab.core.policy import Policy
from contextlab.core.projecting.stand_ins import REASONING_CLEARED, cleared_text
from contextlab.core.recorded import RecordedReplayer
from contextlab.core.replayer import Replayer
from contextlab.core.replaying.results import StepResult
from contextlab.core.report import Report
from contextlab.core.spans import Painted, verdicts_at
from contextlab.core.timeline import (
    FLAG_ERROR,
    FLAG_NO_RESULT_NEEDED,
    FLAG_OPENS_TURN,
    UNKNOWN,
    ItemRow,
    Timeline,
)
from contextlab.importers.base import Source

REPORT_KEYS = (
    "source_items", "projected_items", "dropped_items", "pinned_items", "cleared_items", "reasoning_cleared_items",
    "offloaded_items", "summarised_items", "source_entries", "projected_entries", "dropped_entries", "source_chars",
    "projected_chars", "source_tokens", "projected_tokens", "token_source", "calibrated_tokens", "band",
    "reported_input_tokens", "item_limit_applied", "character_limit_applied", "token_limit_applied", "over_budget",
    "source_faults", "notes", "hidden_tokens", "finding",
)  # fmt: skip
"""What a report says on the command line, in this order."""


@dataclass(slots=True)
class Session:
    """A session as it is replayed: its rows folded, with the names of its items."""

    assembler: Assembler
    ids: list[str] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)
    texts: list[str] | None = None
    """Kept only where they are read: by policies, and for summaries and observations."""
    injected: dict[int, Injected] = field(default_factory=dict)
    """Why an item is not a person's prompt, by position."""

    @property
    def name(self) -> str:
        """The session's own id."""
        return self.assembler.meta.native_id


def sessions_of(source: Source, counter: TokenCounter | None, keep_texts: bool) -> list[Session]:
    """The sessions of a file, with their tokens counted where there is a counter. Raises UnreadableFile."""
    names: dict[str, tuple[list[str], list[str], list[str]]] = {}
    injected: dict[str, dict[int, Injected]] = {}
    counting = None if counter is None else Counting(counter)

    def note(key: str, row: ItemRow) -> None:
        ids, entries, texts = names.setdefault(key, ([], [], []))
        ids.append(row.event.id)
        entries.append(row.event.entry)
        if keep_texts:
            texts.append(row.event.text)
        if row.event.injected is not None:
            injected.setdefault(key, {})[row.position] = row.event.injected
        if counting is not None:
            counting.add(key, row)

    made: Read = read(source, note)
    if counting is not None:
        counting.fill(made.sessions)
    found = []
    for key, assembler in made.sessions.items():
        ids, entries, texts = names.get(key, ([], [], []))
        kept = texts if keep_texts else None
        found.append(Session(assembler, ids, entries, kept, injected.get(key, {})))
    return found


def item_at(session: Session, at: int) -> Item:
    """The item at a position; the session's texts must have been kept."""
    timeline, texts = session.assembler.timeline, session.texts or []
    flags, counted = timeline.flags[at], timeline.tokens[at]
    return Item(
        id=session.ids[at],
        kind=KINDS[timeline.kinds[at]],
        text=texts[at],
        entry=session.entries[at],
        tool=_tool(timeline, at),
        call_id=timeline.call_id(at),
        chars=timeline.chars[at],
        tokens=None if counted == UNKNOWN else counted,
        injected=session.injected.get(at),
        opens_turn=bool(flags & FLAG_OPENS_TURN),
        needs_result=not flags & FLAG_NO_RESULT_NEEDED,
        error=True if flags & FLAG_ERROR else None,
    )


def replayer_of(
    session: Session, policy: Policy | None, counter: TokenCounter | None
) -> Replayer | RecordedReplayer:
    """What replays a session under a policy, or (None) as recorded."""
    count = None if counter is None else counter.count
    timeline = session.assembler.timeline
    if policy is None:
        return RecordedReplayer(timeline, count=count)
    texts = session.texts
    return Replayer(timeline, policy, count=count, texts=None if texts is None else texts.__getitem__)


def step_answer(session: Session, result: StepResult) -> dict[str, Any]:
    """A step as the contract names it."""
    step = result.step
    limit = limit_of(step)
    return {
        "session": session.name,
        "step": step.number,
        "turn": step.turn or None,
        "step_id": step.id,
        "model": step.model,
        "limit": None if limit.disproved else limit.tokens,
        "report": report_answer(result.report),
    }


def report_answer(report: Report) -> dict[str, Any]:
    """A report's figures by name."""
    return {key: getattr(report, key) for key in REPORT_KEYS}


def step_items(
    session: Session, replayer: Replayer | RecordedReplayer, result: StepResult
) -> Iterator[dict[str, Any]]:
    """Every item before a step with its fate there, in order; `in_context` numbers those that the model got."""
    step, timeline = result.step, session.assembler.timeline
    fates = verdicts_at(replayer.spans(), step.number, range(step.upto))
    # Under a policy the log's own summaries replaced nothing.
    summaries = _summaries(session, step.number) if isinstance(replayer, RecordedReplayer) else []
    order = 0
    for position, fate in enumerate(fates):
        seen = _is_seen(fate)
        verdict, reason = fate
        yield {
            "id": session.ids[position],
            "position": position,
            "entry": session.entries[position],
            "kind": str(KINDS[timeline.kinds[position]]),
            "tool": _tool(timeline, position),
            "call_id": timeline.call_id(position),
            "verdict": str(verdict),
            "reason": None if reason is None else str(reason),
            "tokens": _tokens(timeline, position),
            "chars": timeline.chars[position],
            "in_context": order if seen else None,
            "replaced_by": _replaced_by(session, position, fate, summaries),
        }
        order += seen


def _is_seen(fate: Painted) -> bool:
    """Whether anything of the item was sent: reasoning that the provider strips leaves nothing."""
    return fate[0] in IN_CONTEXT and fate[1] != Reason.PROVIDER_STRIPS


def _tool(timeline: Timeline, position: int) -> str | None:
    """A call's tool, and a result's by its call."""
    pair = timeline.pairs[position]
    is_call = timeline.kinds[position] == KINDS.index(Kind.TOOL_CALL)
    return timeline.tools.get(position if is_call else pair)


def _tokens(timeline: Timeline, position: int) -> int:
    counted = timeline.tokens[position]
    return timeline.estimates[position] if counted == UNKNOWN else counted


def _summaries(session: Session, step: int) -> list[tuple[int, int]]:
    """(first position behind, summary's position) of each compaction in force at a step, in order."""
    rows = session.assembler.compactions
    return [(row.upto, row.summary) for row in rows if row.summary is not None and row.at_step <= step]


def _replaced_by(
    session: Session, position: int, fate: Painted, summaries: list[tuple[int, int]]
) -> str | None:
    """What stands in an item's place: the id of the summary, or the words of the placeholder."""
    verdict, reason = fate
    timeline = session.assembler.timeline
    if verdict == Verdict.SUMMARISED:
        summary = next((at for upto, at in summaries if position < upto and at != position), None)
        return None if summary is None else session.ids[summary]
    if verdict == Verdict.REASONING_CLEARED and reason != Reason.PROVIDER_STRIPS:
        return REASONING_CLEARED
    if verdict == Verdict.CLEARED:
        return cleared_text(reason, _tool(timeline, position), timeline.call_id(position))
    return None
