"""What a result says, section by section, each line with the items that support it; with limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from contextlab.core.sections import HEADINGS
from contextlab.queries.compaction import CompactionPage
from contextlab.queries.recorded_compaction import positions_of
from contextlab.store.models import Session
from contextlab.web.cutting import Room, cut

MOST_LINES = 40
"""Entries of a section that a page shows."""
MOST_LINKS = 5
MOST_FILES = 60
LONGEST_LINE = 600
ROOM = 48_000
"""Bytes that all lines of a result take on a page at most; what does not fit is counted as more."""
LONGEST_GOAL = 4_000
FILES = {"read_files": "Read files", "modified_files": "Modified files"}


@dataclass(frozen=True, slots=True)
class ShownLine:
    """An entry of a section with the items that support it: (position, id), None for one not of the log."""

    text: str
    items: Sequence[tuple[int | None, str]] = ()
    more_items: int = 0
    flag: str = ""

    @property
    def others(self) -> int:
        """Items behind it besides the first."""
        return max(0, len(self.items) + self.more_items - 1)


@dataclass(frozen=True, slots=True)
class ShownSection:
    """A section of a result."""

    label: str
    lines: Sequence[ShownLine]
    total: int
    form: str = "list"
    """list; text for the goal, files for paths in one paragraph."""

    @property
    def more(self) -> int:
        """Entries that are not shown."""
        return self.total - len(self.lines)


@dataclass(frozen=True, slots=True)
class ShownResult:
    """All sections that say something, and the names of those that say nothing."""

    sections: Sequence[ShownSection]
    empty: Sequence[str]
    supported: int
    """Lines with items beside them."""
    lines: int

    @property
    def structured(self) -> bool:
        """Whether it says more than files, which calls name of themselves."""
        return any(section.form != "files" for section in self.sections)

    @property
    def words(self) -> str:
        """What there is in it, in one line: `goal, 5 sections, 2 file lists`."""
        forms = [section.form for section in self.sections]
        lists, files = forms.count("list"), forms.count("files")
        parts = ["goal"] if "text" in forms else []
        parts += [f"{lists} section{'s' if lists > 1 else ''}"] if lists else []
        parts += [f"{files} file list{'s' if files > 1 else ''}"] if files else []
        return ", ".join(parts)


def shown_result(session: Session, page: CompactionPage, most: int = ROOM) -> ShownResult:
    """The sections of a result that was made here, at most so many bytes of them."""
    result, room = page.result or {}, Room(most)
    lists = {key: list(result.get(key) or ()) for key in HEADINGS}
    shown = [entry for entries in lists.values() for entry in entries[:MOST_LINES]]
    positions = positions_of(
        session, list(dict.fromkeys(name for one in shown for name in _items(one)))[:2000]
    )
    flags = {(str(one.get("section")), str(one.get("text"))): str(one.get("why")) for one in page.flags}
    said = str(result.get("goal") or "")
    goal = [ShownLine(cut(said, LONGEST_GOAL)[0], flag=flags.get(("goal", said), ""))] if said else []
    sections = [ShownSection("Goal", goal, len(goal), "text")]
    for key, entries in lists.items():
        lines = [
            _line(entry, positions, flags.get((key, _text(entry)), "")) for entry in entries[:MOST_LINES]
        ]
        sections.append(ShownSection(HEADINGS[key], _fitting(lines, room), len(entries)))
    for key, label in FILES.items():
        files = list(result.get(key) or ())
        lines = [ShownLine(str(name)[:LONGEST_LINE]) for name in files[:MOST_FILES]]
        sections.append(ShownSection(label, _fitting(lines, room), len(files), "files"))
    every = [line for section in sections if section.form == "list" for line in section.lines]
    return ShownResult(
        [section for section in sections if section.total],
        [section.label for section in sections if not section.total],
        sum(bool(line.items) for line in every),
        len(every),
    )


def _fitting(lines: Sequence[ShownLine], room: Room) -> list[ShownLine]:
    return list(takewhile(lambda line: room.takes(line.text), lines))


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
