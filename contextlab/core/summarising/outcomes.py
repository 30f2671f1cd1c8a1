"""What every compaction policy puts together in the end: fates of all items, the figures, the memory after."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import compress, count

from contextlab.core.compaction import CompactResult, Deps, Outcome, Snapshot
from contextlab.core.items import Item, Kind, Reason, Verdict
from contextlab.core.measuring.memory_size import (
    snapshot_chars,
    snapshot_entries,
    snapshot_pairs,
    snapshot_tokens,
)
from contextlab.core.projecting.draft import must_stay
from contextlab.core.projection import KEPT, NONE, Fate, TokenCount, pair_up
from contextlab.core.replaying.faults import shortened
from contextlab.core.report import Report

SUMMARISED = Fate(Verdict.SUMMARISED, Reason.COMPACTED)
NOTHING = "nothing_to_summarise"
BELOW = "below_threshold"


def replaced_by_summary(
    snapshot: Snapshot, covered: Collection[str], result: CompactResult, deps: Deps
) -> Outcome:
    """The outcome in which a summary (`result.summary`) stands for the covered items."""
    names = snapshot.names
    kept = tuple([item for item, name in zip(snapshot.items, names, strict=True) if name not in covered])
    fates = dict.fromkeys(names, SUMMARISED)
    fates.update((item.id, fate_kept(item, deps)) for item in kept)
    memory = Snapshot(kept, result.summary, result, snapshot.version)
    result.report = result.report or compaction_report(snapshot, memory, len(covered), deps.count)
    result.report.notes += [*result.notes, *_unanswered(snapshot, covered)]
    ids = tuple([name for name in names if name in covered])
    return Outcome(result, memory=memory, fates=fates, covered=ids)


def _unanswered(snapshot: Snapshot, covered: Collection[str]) -> list[str]:
    """Notes on summarised calls without a result: whoever wrote the summary was told so, memory was not changed."""
    call = Kind.TOOL_CALL
    calls = [
        f"{item.call_id} ({item.tool})"
        for item, partner in zip(snapshot.items, snapshot_pairs(snapshot), strict=True)
        if partner == NONE and item.kind == call and item.needs_result and item.id in covered
    ]
    return [f"no result is recorded of: {', '.join(shortened(calls))}"] if calls else []


def nothing_done(reason: str, snapshot: Snapshot, deps: Deps) -> Outcome:
    """The outcome without a result: everything stays."""
    return Outcome(None, reason, fates={item.id: fate_kept(item, deps) for item in snapshot.items})


def fate_kept(item: Item, deps: Deps) -> Fate:
    """The verdict of an item that a compaction leaves in memory."""
    reason = stays(item, deps)
    return KEPT if reason is None else Fate(Verdict.PINNED, reason)


def stays(item: Item, deps: Deps) -> Reason | None:
    """Why an item may never go into a summary: a system item, or a person's pin."""
    return Reason.PINNED_BY_PERSON if item.id in deps.pins else must_stay(item)


def staying(items: Sequence[Item], deps: Deps) -> list[bool]:
    """Of each item whether it may never go into a summary: `stays` for many items."""
    system, pins = Kind.SYSTEM, deps.pins
    if not pins:
        return [item.pinned or item.kind == system for item in items]
    return [item.pinned or item.kind == system or item.id in pins for item in items]


def snapshot_staying(snapshot: Snapshot, deps: Deps) -> list[bool]:
    """Of each item of a memory whether it may never go into a summary."""
    return snapshot.once(("staying", deps.pins), lambda: staying(snapshot.items, deps))


def pinned_ids(items: Sequence[Item], deps: Deps) -> set[str]:
    """Ids of the items that must stay, with the other one of each pair that they are part of."""
    pinned = list(compress(count(), staying(items, deps)))
    partners: list[int] = []
    if any(items[index].call_id is not None for index in pinned):
        pairs = pair_up(items)
        partners = [pairs[index] for index in pinned if pairs[index] != NONE]
    return {items[index].id for index in (*pinned, *partners)}


def compaction_report(
    before: Snapshot, after: Snapshot, summarised: int, count: TokenCount | None = None
) -> Report:
    """The figures of a compaction: source is the memory before it, projected the memory after, with the summary.

    Source = projected without the summary + summarised (nothing is dropped unsaid).
    """
    report = Report(
        source_items=len(before.items),
        projected_items=len(after.items),
        summarised_items=summarised,
        source_entries=snapshot_entries(before),
        projected_entries=snapshot_entries(after),
        source_chars=snapshot_chars(before),
        projected_chars=snapshot_chars(after),
        source_tokens=snapshot_tokens(before, count),
        projected_tokens=snapshot_tokens(after, count),
        token_source="estimated" if count is None else "counted",
    )
    report.pinned_items = sum(item.pinned or item.kind == Kind.SYSTEM for item in after.items)
    return report
