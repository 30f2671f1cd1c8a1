"""A summary by rules from the log alone: no model is asked, and the text says so.

| rule                                                                                                          |
|---------------------------------------------------------------------------------------------------------------|
| due by itself above `max_items` entries (null: never by itself; a document's trigger decides then)            |
| the newest `keep_recent` entries stay, from a turn's start on, or inside a turn that has become too long      |
| system items and pins stay, with the other one of their pair                                                  |
| all sections are filled from what the items show (core/evidence), each line with the items that it comes from |
| what an earlier summary said goes on: done leaves pending, counts grow, what passed later says so             |
| rules of the user stand word for word, whatever the limit                                                     |
| at most `max_chars` of text, and less than what it stands for: of the longest section the oldest lines go     |
| from the text; the sections of the result keep them                                                           |
| same memory, same summary                                                                                     |
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.compaction import CompactResult, Decision, Deps, Line, Outcome, Sections, Snapshot
from contextlab.core.documents.options import Options
from contextlab.core.evidence.approvals import approvals
from contextlab.core.evidence.commands import failed_commands
from contextlab.core.evidence.edits import Artifact, changed_artifacts
from contextlab.core.evidence.goals import goal
from contextlab.core.evidence.questions import open_questions
from contextlab.core.evidence.record import Record
from contextlab.core.evidence.rules import RULE, decisions, rules
from contextlab.core.evidence.sandbox import sandbox_state
from contextlab.core.evidence.test_results import test_results
from contextlab.core.evidence.todos import progress
from contextlab.core.evidence.words import same
from contextlab.core.items import Item
from contextlab.core.measuring.figures import Figures
from contextlab.core.measuring.memory_size import context_items
from contextlab.core.policies.structured_summary import by_entries, more_entries
from contextlab.core.sections import HEADINGS, render_sections
from contextlab.core.summarising.file_tracking import Files, cumulative, files_of
from contextlab.core.summarising.outcomes import NOTHING, nothing_done, pinned_ids, replaced_by_summary
from contextlab.core.summarising.turn_cut import coverable

HEADLINE = "Summary of what left this memory, put together by rules from the log alone; no model wrote it."
EARLIER = "\n\n## Earlier Summary\n"
OPTIONS = ("max_items", "keep_recent", "max_chars")
LEAST_CHARS = 600
"""A summary may be that long, however short what it stands for is."""
CAPS = {
    "completed": 25,
    "pending": 25,
    "decisions": 15,
    "changed_artifacts": 30,
    "failed_commands": 10,
    "test_results": 6,
    "user_confirmations": 8,
    "sandbox_state": 8,
    "open_questions": 6,
}
"""Lines of a section; rules of the user are not counted."""
FILES_SHOWN = 30


@dataclass(slots=True, frozen=True)
class RuleBased:
    """Fills every section of a summary from the log alone; no model is asked."""

    kind: ClassVar[str] = "rule_based"
    needs_model: ClassVar[bool] = False
    max_items: int | None = None
    keep_recent: int = 10
    max_chars: int = 8_000

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:  # noqa: ARG003 - the same in both
        """Read the options; raises PolicyError."""
        given = Options(options, OPTIONS, "compaction")
        max_items = given.limit("max_items")
        return cls(
            max_items if max_items is None or max_items >= 0 else None,
            given.number("keep_recent", 10),
            given.number("max_chars", 8_000, least=LEAST_CHARS),
        )

    def should_compact(self, snapshot: Snapshot) -> Decision:
        """Due when there are more entries than max_items."""
        return more_entries(snapshot, self.max_items)

    def judge(self, figures: Figures) -> Decision:
        """The same by figures alone."""
        return by_entries(figures.entries, self.max_items)

    def compact(self, snapshot: Snapshot, deps: Deps) -> Outcome:
        """Summarise what stands before the newest entries; never fails."""
        pins = pinned_ids(snapshot.items, deps)
        covered = coverable(context_items(snapshot), self.keep_recent, pins)
        if not covered:
            return nothing_done(NOTHING, snapshot, deps)
        sections = gather(snapshot, covered)
        files = self._files(snapshot, covered, sections)
        room = sum(item.chars for item in covered) - 1
        limit = min(self.max_chars, max(LEAST_CHARS, room))
        summary = _written(snapshot, sections, files, limit)
        result = CompactResult(
            sections, summary, files.read, files.modified, method="rules", strategy=self.kind
        )
        return replaced_by_summary(snapshot, {item.id for item in covered}, result, deps)

    def _files(self, snapshot: Snapshot, covered: Sequence[Item], sections: Sections) -> Files:
        """Read and changed files, with those that only a patch names."""
        files = files_of(covered)
        patched = [Artifact.read(line).path for line in sections.changed_artifacts]
        files = cumulative(snapshot.last_result, files)
        return Files(files.read, list(dict.fromkeys([*files.modified, *patched])))


POLICY = RuleBased


def gather(snapshot: Snapshot, covered: Sequence[Item]) -> Sections:
    """What the items that leave say, after what the last result said. All of memory is looked at: what was settled
    in the part that stays is settled. Only what is counted is counted where it leaves: else each compaction of a chain
    would count anew what stays."""
    earlier = snapshot.last_result.sections if snapshot.last_result else Sections()
    record = Record(snapshot.items)
    leaving = frozenset(item.id for item in covered)
    known = frozenset(item.id for item in snapshot.items)

    def told(lines: Iterable[Line]) -> list[Line]:
        """Lines of the items that leave, and earlier ones: those of what stays can be read there."""
        return [
            line
            for line in lines
            if not line.items or not known.issuperset(line.items) or leaving.intersection(line.items)
        ]

    completed, pending = progress(record, earlier.completed, earlier.pending)
    return Sections(
        goal(record, leaving, earlier.goal),
        told(completed),
        told(pending),
        _once([*earlier.decisions, *told(rules(record)), *told(decisions(record))]),
        changed_artifacts(record, earlier.changed_artifacts, leaving),
        told(failed_commands(record, earlier.failed_commands)),
        told(test_results(record, earlier.test_results)),
        _once([*earlier.user_confirmations, *(one for one in approvals(record) if one.items[0] in leaving)]),
        told(sandbox_state(record, earlier.sandbox_state)),
        told(open_questions(record, earlier.open_questions)),
    )


def _once(lines: Iterable[Line]) -> list[Line]:
    """Lines that say the same once; rules of the user first."""
    found: dict[str, Line] = {}
    for line in lines:
        found.setdefault(same(line.text), line)
    return sorted(found.values(), key=lambda line: not line.text.startswith(RULE))


def _written(snapshot: Snapshot, sections: Sections, files: Files, limit: int) -> str:
    """The summary's text, its own sections cut to fit; what an earlier writer said goes on uncut and uncounted."""
    left = {name: _cap(getattr(sections, name), most) for name, most in CAPS.items()}
    shown = copy.deepcopy(sections)
    carried = _carried(snapshot)
    extras = _extras(files)
    while len(text := _text(shown, left, extras)) > limit:
        name = _longest(shown)
        if name is None:
            if not extras:
                break  # the goal and the rules of the user: they stand, whatever the limit
            extras = ""
            continue
        lines: list[Line] = getattr(shown, name)
        # A few at a time: rendering anew for each line would cost the square of them.
        left[name] += _take_oldest(lines, max(1, len(lines) // 8))
    return text + EARLIER + carried if carried else text


def _cap(lines: list[Line], most: int) -> int:
    """Leave the newest of a section's lines; returns how many went."""
    free = sum(not line.text.startswith(RULE) for line in lines)
    return _take_oldest(lines, max(0, free - most))


def _take_oldest(lines: list[Line], number: int) -> int:
    """Take so many of a section's oldest lines away, rules of the user left where they are; returns how many went."""
    free = [place for place, line in enumerate(lines) if not line.text.startswith(RULE)]
    gone = frozenset(free[:number])
    lines[:] = [line for place, line in enumerate(lines) if place not in gone]
    return len(gone)


def _longest(sections: Sections) -> str | None:
    """The section whose lines take most room, rules of the user not counted; None when none can go."""
    sizes = {
        name: sum(len(line.text) for line in getattr(sections, name) if not line.text.startswith(RULE))
        for name in HEADINGS
    }
    name = max(sizes, key=lambda one: sizes[one])
    return name if sizes[name] else None


def _text(sections: Sections, left: Mapping[str, int], extras: str) -> str:
    gone = [f"{number} of {HEADINGS[name]}" for name, number in left.items() if number]
    parts = [
        HEADLINE,
        render_sections(sections),
        extras,
        f"Left out for length: {', '.join(gone)}." if gone else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _extras(files: Files) -> str:
    if not files.read:
        return ""
    shown = files.read[-FILES_SHOWN:]
    more = f" and {len(files.read) - len(shown)} more" if len(files.read) > len(shown) else ""
    return f"Files read: {', '.join(shown)}{more}"


def _carried(snapshot: Snapshot) -> str:
    """The text of an earlier summary that rules did not write: it goes on as it is."""
    summary = (snapshot.summary or "").strip()
    last = snapshot.last_result
    if last is None or last.method != "rules":
        return summary
    return summary.partition(EARLIER)[2]
