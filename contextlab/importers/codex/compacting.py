"""Compactions of a rollout: what stays, what is new, and what stands for the rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from contextlab.core.events import Compaction, ItemEvent, Place
from contextlab.core.items import Injected, Kind
from contextlab.importers.codex.items import SUMMARY_TYPES, Draft, drafts, summary
from contextlab.importers.codex.live import Live
from contextlab.importers.values import sequence, text


@dataclass(slots=True)
class Replacement:
    """A compaction with its summary and the items of the new context that were not there before."""

    event: Compaction
    summary: ItemEvent
    new: list[list[Draft]] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def compaction(number: int, payload: dict[str, Any], live: Live) -> Replacement:
    """The compaction of a `compacted` record (or of a lone compaction item)."""
    name = f"compaction-{number}"
    words = text(payload.get("message"))
    made = Replacement(Compaction(name, summary=f"{name}:summary"), summary({}))
    history = payload.get("replacement_history")
    if isinstance(history, list):
        _replaced(made, history, words, live)
    else:
        # Old versions write the summary only: user messages and system prompt stay beside it.
        made.kept = live.user_side()
    if not made.summary.text:
        made.summary.text = words
    made.summary.id = made.summary.entry = f"{name}:summary"
    made.event.opaque = not made.summary.text
    made.event.keeps = (*live.fixed, *made.kept)
    return made


def lone(number: int, payload: dict[str, Any], live: Live) -> Replacement:
    """A compaction item that no `compacted` record explains: it stands for all but the user's side."""
    made = compaction(number, {}, live)
    made.summary.opaque_chars = summary(payload).opaque_chars
    return made


def dated(made: Replacement, ts: str | None, place: Place) -> Replacement:
    """The same compaction with its time and place on everything that came with it."""
    made.event.ts, made.event.place = ts, place
    for event in (made.summary, *(draft.event for group in made.new for draft in group)):
        event.ts, event.place = ts, place
    return made


def _replaced(made: Replacement, history: list[Any], words: str, live: Live) -> None:
    """Sort the replacement history into what stays, the summary, and what is new."""
    groups: list[list[Draft]] = []
    for item in sequence(history):
        if not isinstance(item, dict):
            continue
        if text(item.get("type")) in SUMMARY_TYPES:
            made.summary.opaque_chars += summary(item).opaque_chars
            continue
        group = drafts(item) or []
        if words and group and group[-1].event.text.endswith(words):
            # The summary as the model gets it: Codex puts an introduction before it.
            made.summary.text = "\n".join(draft.event.text for draft in group)
            continue
        groups.append(group)
    found = iter(live.match([draft.key for group in groups for draft in group]))
    for group in groups:
        ids = [next(found) for _ in group]
        made.kept.extend(one for one in ids if one is not None)
        if fresh := [draft for draft, one in zip(group, ids, strict=True) if one is None]:
            made.new.append(_as_new(fresh))


def _as_new(group: list[Draft]) -> list[Draft]:
    """Items that only the replacement history has: no person wrote them here, no step made them."""
    for draft in group:
        draft.native, draft.output = None, False
        if draft.event.kind == Kind.USER and draft.event.injected is None:
            # A prompt that was cut short to fit.
            draft.event.injected, draft.event.label = Injected.SYNTHETIC, "shortened"
    return group
