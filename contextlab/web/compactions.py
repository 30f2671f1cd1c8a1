"""A compaction as its page shows it: the log's own and those made here in one shape, with limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from contextlab.core.sections import HEADINGS
from contextlab.queries.compaction import CompactionPage
from contextlab.queries.recorded_compaction import RecordedCompaction, positions_of
from contextlab.store.models import Session

MOST_LINES = 40
"""Entries of a section that a page shows."""
MOST_LINKS = 5
MOST_FILES = 60
MOST_EVENTS = 40
LONGEST_LINE = 600
LONGEST_SUMMARY = 48 * 1024
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


@dataclass(frozen=True, slots=True)
class ShownLine:
    """An entry of a section with the items that support it: (position, id), None for one not of the log."""

    text: str
    items: Sequence[tuple[int | None, str]] = ()
    more_items: int = 0
    flag: str = ""


@dataclass(frozen=True, slots=True)
class ShownSection:
    """A section of a result."""

    label: str
    lines: Sequence[ShownLine]
    total: int

    @property
    def more(self) -> int:
        """Entries that are not shown."""
        return self.total - len(self.lines)


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
    wrote: int | None = None
    cost: Decimal | None = None
    model: str = ""
    by_model: bool = False
    sections: Sequence[ShownSection] = ()
    summary: str = ""
    summary_cut: bool = False
    opaque: bool = False
    explained: str = ""
    report: Sequence[tuple[str, Any]] = ()
    notes: Sequence[str] = ()
    events: Sequence[Mapping[str, Any]] = ()


def of_log(found: RecordedCompaction) -> ShownCompaction:
    """One that the log records."""
    method, words = METHODS["opaque" if found.opaque else "log" if found.summary else ""]
    before, after = found.before, found.after
    told = found.pre_tokens is not None or found.post_tokens is not None
    return ShownCompaction(
        f"Compaction #{found.number}", "done", method, words, found.trigger, "", found.at_step,
        found.pre_tokens if told else before.tokens if before else None,
        found.post_tokens if told else after.tokens if after else None,
        "as the log says" if told else _sources(before.source if before else None, after.source if after else None),
        before.items if before else None, after.items if after else None, found.items_summarised,
        summary=found.summary_text, summary_cut=found.summary_cut, opaque=found.opaque,
    )  # fmt: skip


def of_run(session: Session, page: CompactionPage) -> ShownCompaction:
    """One that was asked for here."""
    done = page.result is not None
    method, words = METHODS.get(page.method, METHODS[""]) if done else ("", "")
    result, report = page.result or {}, page.report or {}
    usage = page.usage or {}
    where = f" · before step {page.at_step or page.before_step}" if page.at_step or page.before_step else ""
    summary = str(result.get("summary") or "")
    return ShownCompaction(
        f"Compaction{where}", page.run.state, method, words, page.trigger, page.policy_name,
        page.at_step or page.before_step, page.tokens_before, page.tokens_after,
        page.token_source,
        report.get("source_items"), report.get("projected_items"), report.get("summarised_items"),
        page.seconds, usage.get("output_tokens"), page.cost, page.model, bool(page.model or page.usage),
        _sections(session, page) if done else (), summary[:LONGEST_SUMMARY], len(summary) > LONGEST_SUMMARY,
        explained=explained(page), report=_report(report),
        notes=[str(note)[:LONGEST_LINE] for note in (report.get("notes") or ())[:20]],
        events=page.events[:MOST_EVENTS],
    )  # fmt: skip


def explained(page: CompactionPage) -> str:
    """Why there is no result, in words; empty where there is one or it is being made."""
    state = page.run.state
    if state == "noop":
        return reason_words(page.reason)
    if state == "conflict":
        return (
            "The part of the memory that was to be summarised was changed by somebody else meanwhile, twice. "
            "Nothing was written; compact again to take the memory as it is now."
        )
    if state == "cancelled":
        return "It was stopped. Memory is as it was."
    return (page.run.error or "It failed; memory is as it was.") if state == "failed" else ""


def reason_words(reason: str) -> str:
    """Why nothing is done."""
    return REASONS.get(reason, reason.replace("_", " ") or "Nothing was to be done.")


def _sources(*names: str | None) -> str:
    known = list(dict.fromkeys(name for name in names if name))
    return " and ".join(known)


def _sections(session: Session, page: CompactionPage) -> list[ShownSection]:
    result = page.result or {}
    lists = {key: list(result.get(key) or ()) for key in HEADINGS}
    shown = [entry for entries in lists.values() for entry in entries[:MOST_LINES]]
    positions = positions_of(
        session, list(dict.fromkeys(name for one in shown for name in _items(one)))[:2000]
    )
    flags = {(str(one.get("section")), str(one.get("text"))): str(one.get("why")) for one in page.flags}
    sections = (
        [ShownSection("Goal", [ShownLine(str(result["goal"])[:4000])], 1)] if result.get("goal") else []
    )
    for key, entries in lists.items():
        lines = [
            _line(entry, positions, flags.get((key, _text(entry)), "")) for entry in entries[:MOST_LINES]
        ]
        if lines:
            sections.append(ShownSection(HEADINGS[key], lines, len(entries)))
    for key, label in (("read_files", "Read files"), ("modified_files", "Modified files")):
        files = list(result.get(key) or ())
        if files:
            lines = [ShownLine(str(name)[:LONGEST_LINE]) for name in files[:MOST_FILES]]
            sections.append(ShownSection(label, lines, len(files)))
    return sections


def _text(entry: Any) -> str:
    return str(entry.get("text")) if isinstance(entry, Mapping) else str(entry)


def _items(entry: Any) -> Iterable[str]:
    return (
        [str(name) for name in (entry.get("items") or ())[:MOST_LINKS]] if isinstance(entry, Mapping) else ()
    )


def _line(entry: Any, positions: Mapping[str, int], flag: str) -> ShownLine:
    total = len(entry.get("items") or ()) if isinstance(entry, Mapping) else 0
    items = [(positions.get(name), name[:80]) for name in _items(entry)]
    text = _text(entry)
    text = text if len(text) <= LONGEST_LINE else text[:LONGEST_LINE] + "…"
    return ShownLine(text, items, total - len(items), flag)


_REPORT = (
    ("source items", "source_items"), ("projected items", "projected_items"), ("dropped items", "dropped_items"),
    ("pinned", "pinned_items"), ("cleared tool results", "cleared_items"), ("offloaded", "offloaded_items"),
    ("only in a summary", "summarised_items"), ("source characters", "source_chars"),
    ("projected characters", "projected_chars"), ("source tokens", "source_tokens"),
    ("projected tokens", "projected_tokens"),
)  # fmt: skip


def _report(report: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(label, report.get(key)) for label, key in _REPORT] if report else []
