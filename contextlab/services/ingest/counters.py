"""What a session's own row says about it, so that no page aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from contextlab.core.assembler import Assembler
from contextlab.core.events import SessionStart
from contextlab.core.items import KIND_CODE, Kind
from contextlab.core.timeline import Step
from contextlab.services.ingest.moments import moment
from contextlab.services.ingest.rows import short_id, tokens_or_none
from contextlab.store.bulk import clean_text

USAGE = ("input", "cache_read", "cache_write", "output")
TITLE = 300


def counted(assembler: Assembler) -> dict[str, Any]:
    """The counters of a session, with the same meaning as those of `contextlab inspect`."""
    timeline = assembler.timeline
    kinds = timeline.kinds
    micro = sum(row.micro for row in assembler.compactions)
    return {
        "turns": len(timeline.turns_list),
        "steps": len(timeline.steps),
        "items": len(timeline),
        "entries": 1 + max(timeline.entries, default=-1),
        "tool_calls": kinds.count(KIND_CODE[Kind.TOOL_CALL]),
        "tool_results": kinds.count(KIND_CODE[Kind.TOOL_RESULT]),
        "results_without_call": assembler.results_without_call,
        "calls_without_result": assembler.calls_without_result,
        "compactions": len(assembler.compactions) - micro,
        "micro_compactions": micro,
        "text_chars": sum(timeline.chars),
    }


def usage(steps: Iterable[Step]) -> dict[str, int | None]:
    """Sums of what the provider reported for these steps; None where it reported nothing."""
    figures = [(step.input, step.cache_read, step.cache_write, step.output) for step in steps]
    sums: dict[str, int | None] = {}
    for name, column in zip(USAGE, zip(*figures, strict=True) if figures else ((),) * 4, strict=True):
        known = [value for value in map(tokens_or_none, column) if value is not None]
        sums[f"{name}_tokens"] = sum(known) if known else None
    return sums


def added(some: Mapping[str, int | None], more: Mapping[str, int | None]) -> dict[str, int | None]:
    """Two such sums as one."""
    known = {name: [sums[name] for sums in (some, more) if sums.get(name) is not None] for name in more}
    return {name: sum(filter(None, values)) if values else None for name, values in known.items()}


def described(meta: SessionStart, prompt: str, model: str | None) -> dict[str, Any]:
    """Names and relations, cut to their columns; the first real prompt is the title where the log has none."""
    title = " ".join(clean_text(meta.title or "").split())
    origin = (meta.title_origin or "record") if title else ("prompt" if prompt else "")
    return {
        "role": _cut(meta.role, 20),
        "parent_native_id": short_id(meta.parent or ""),
        "forked_native_id": short_id(meta.forked_from or ""),
        "title": (title or prompt)[:TITLE],
        "title_origin": origin[:10],
        "model": _cut(meta.model or model, 120),
        "project": _cut(meta.project, 400),
        "branch": _cut(meta.branch, 200),
        "version": _cut(meta.version, 60),
    }


def dated(meta: SessionStart, first: datetime | None, last: datetime | None) -> dict[str, Any]:
    """When it began and when its last event was; unknown stays unknown."""
    return {
        "started_at": moment(meta.started_at) or first,
        "last_at": last,
        "sort_at": last or timezone.now(),
    }


def _cut(text: str | None, length: int) -> str:
    return clean_text(text or "", length)
