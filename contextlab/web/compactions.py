"""A compaction as its page shows it: the log's own and those made here in one shape, with limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from contextlab.queries.compaction import CompactionPage
from contextlab.queries.recorded_compaction import RecordedCompaction
from contextlab.services.compaction.costs import Written, payback_of
from contextlab.store.models import Session
from contextlab.web.compaction_sections import LONGEST_LINE, ROOM, ShownResult, ShownSection, shown_result
from contextlab.web.cutting import cut
from contextlab.web.words import sources_said

MOST_EVENTS = 40
MOST_CLAIMS = 20
LONGEST_SUMMARY = 40_000
"""Bytes."""
METHODS = {
    "rules": ("by rules", "Rules read the log: no model wrote this."),
    "model": ("machine summary", "A model wrote this from the items; it may be wrong."),
    "mechanical": ("mechanical", "A fixed line only: no model wrote this."),
    "": ("unknown", "It cannot be told who wrote this."),
    "log": (
        "the agent's own summary",
        "The agent's model wrote this, as its log records it; it may be wrong.",
    ),
    "opaque": ("cannot be told", "What the summary says is encrypted in the log."),
}
REASONS = {
    "nothing_to_summarise": "There is nothing to summarise: the policy or the pins keep all that stands in memory.",
    "no_gain": "The memory after it would not be smaller than the one before, so it was left as it was.",
}
PRICES = {
    "list": "price list", "input_mtok": "input", "cache_read_mtok": "read from the cache",
    "cache_write_mtok": "written to the cache", "output_mtok": "output",
}  # fmt: skip
CONFLICT = (
    "The part of the memory that was to be summarised was changed by somebody else meanwhile, twice. "
    "Nothing was written; compact again to take the memory as it is now."
)


@dataclass(frozen=True, slots=True)
class ShownCompaction:
    """What the template needs, wherever the compaction is from. None is unknown."""

    title: str
    state: str
    method: str
    method_words: str
    trigger: str
    policy: str
    at_step: int | None
    tokens_before: int | None
    tokens_after: int | None
    tokens_source: str
    items_before: int | None
    items_after: int | None
    summarised: int | None
    seconds: float | None = None
    read: int | None = None
    cached: int | None = None
    wrote: int | None = None
    cost: Decimal | None = None
    prices: Mapping[str, Any] | None = None
    model: str = ""
    by_model: bool = False
    payback: Mapping[str, Any] | None = None
    """After how many steps it has paid for itself (`steps`), and the prices that say so; None: never, or unknown."""
    result: ShownResult | None = None
    summary: str = ""
    summary_cut: bool = False
    opaque: bool = False
    explained: str = ""
    report: Sequence[tuple[str, Any]] = ()
    limits: Sequence[str] = ()
    notes: Sequence[str] = ()
    unconfirmed: Sequence[str] = ()
    """Claims of an agreement in the text itself, in no list, that no words of the user support."""
    events: Sequence[Mapping[str, Any]] = ()
    events_more: int = 0

    @property
    def priced(self) -> Sequence[tuple[str, str]]:
        """The prices that the cost was computed with."""
        return [
            (PRICES.get(name, name.replace("_", " "))[:40], str(value))
            for name, value in (self.prices or {}).items()
        ]

    @property
    def sections(self) -> Sequence[ShownSection]:
        """The sections of the result that say something."""
        return self.result.sections if self.result else ()


def of_log(session: Session, found: RecordedCompaction) -> ShownCompaction:
    """One that the log records."""
    method, words = METHODS["opaque" if found.opaque else "log" if found.summary else ""]
    before, after, asked = found.before, found.after, found.summariser
    large, smaller = found.sizes
    wrote = asked.output_tokens if asked else None
    full, small = before.reported if before else None, after.reported if after else None
    return ShownCompaction(
        f"Compaction #{found.number} · before step {found.at_step:,}", "done", method, words, found.trigger, "",
        found.at_step,
        large.tokens, smaller.tokens, sources_said(large.source, smaller.source),
        before.items if before else None, after.items if after else None, found.items_summarised,
        seconds=asked.seconds if asked else None, read=asked.input_tokens if asked else None,
        cached=asked.cached_tokens if asked else None, wrote=wrote, cost=asked.cost if asked else None,
        prices=asked.prices if asked else None, model=asked.model if asked else "", by_model=True,
        payback=payback_of(session, found.at_step, full, small, Written(wrote, asked.cost if asked else None))
        if full and small and wrote is not None
        else None,
        summary=found.summary_text, summary_cut=found.summary_cut, opaque=found.opaque,
    )  # fmt: skip


def of_run(session: Session, page: CompactionPage, room: int = ROOM) -> ShownCompaction:
    """One that was asked for here; its lines take at most so many bytes."""
    done = page.result is not None
    method, words = METHODS.get(page.method, METHODS[""]) if done else ("", "")
    result, report, usage = page.result or {}, page.report or {}, page.usage or {}
    step, by_model = page.at_step or page.before_step, bool(page.model or page.usage)
    (summary, more), wrote = (
        cut(str(result.get("summary") or ""), LONGEST_SUMMARY),
        usage.get("output_tokens"),
    )
    return ShownCompaction(
        f"Compaction{_where(session, page)}", page.run.state, method, words, page.trigger, page.policy_name,
        step, page.tokens_before, page.tokens_after, page.token_source,
        report.get("source_items"), report.get("projected_items"), report.get("summarised_items"),
        page.seconds, usage.get("input_tokens"), usage.get("cached_tokens"), wrote, page.cost, page.prices,
        str(usage.get("model") or page.model), by_model,
        page.payback,
        shown_result(session, page, room) if done else None, summary, more,
        explained=explained(page), report=_report(report), limits=_limits(report),
        notes=[str(note)[:LONGEST_LINE] for note in (report.get("notes") or ())[:20]],
        unconfirmed=[str(one["text"]) for one in page.flags if one.get("section") == "summary"][:MOST_CLAIMS],
        events=page.events[:MOST_EVENTS], events_more=max(0, len(page.events) - MOST_EVENTS),
    )  # fmt: skip


def explained(page: CompactionPage) -> str:
    """Why there is no result, in words; empty where there is one or it is being made."""
    state = page.run.state
    if state == "noop":
        return reason_words(page.reason)
    if state == "conflict":
        return CONFLICT
    if state == "cancelled":
        return "It was stopped. Memory is as it was."
    return (page.run.error or "It failed; memory is as it was.") if state == "failed" else ""


def reason_words(reason: str) -> str:
    """Why nothing is done."""
    return REASONS.get(reason, reason.replace("_", " ") or "Nothing was to be done.")


def _where(session: Session, page: CompactionPage) -> str:
    """Which memory was read."""
    if page.base_version:
        return f" of {page.base_view}, version {page.base_version}"
    step = page.at_step or page.before_step
    return " · now, after the last step" if step is None else f" · {place_said(session, step)}"


def place_said(session: Session, step: int) -> str:
    """Where the memory stands that is before a step: behind the last one there is none to name."""
    return f"before step {step:,}" if step <= session.steps else f"after step {step - 1:,}, the last"


_REPORT = (
    ("source items", "source_items"), ("projected items", "projected_items"), ("dropped items", "dropped_items"),
    ("pinned", "pinned_items"), ("cleared tool results", "cleared_items"),
    ("cleared reasoning", "reasoning_cleared_items"), ("offloaded", "offloaded_items"),
    ("only in a summary", "summarised_items"), ("source entries", "source_entries"),
    ("projected entries", "projected_entries"), ("dropped entries", "dropped_entries"),
    ("source characters", "source_chars"), ("projected characters", "projected_chars"),
    ("source tokens", "source_tokens"), ("projected tokens", "projected_tokens"),
)  # fmt: skip
_LIMITS = {
    "item_limit_applied": "item limit", "character_limit_applied": "character limit",
    "token_limit_applied": "token limit", "over_budget": "over the budget",
}  # fmt: skip


def _report(report: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(label, report.get(key)) for label, key in _REPORT] if report else []


def _limits(report: Mapping[str, Any]) -> list[str]:
    """Limits that were applied."""
    return [words for key, words in _LIMITS.items() if report.get(key)]
