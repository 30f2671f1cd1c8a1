"""Where a compaction stands among those of its session: parent, children, those beside it, and two compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from contextlab.queries.compaction import Branch, VersionLine
from contextlab.queries.lineage import LineageRow
from contextlab.store.models import Session
from contextlab.web.compaction_sections import ShownLine, ShownSection
from contextlab.web.compactions import ShownCompaction
from contextlab.web.opened import RECORDED

MOST_KIN = 12


@dataclass(frozen=True, slots=True)
class Kin:
    """A compaction to go to; `compare` is the address of the two side by side."""

    label: str
    address: str
    row: LineageRow
    compare: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The memory that a compaction read: how it is called, and where it stands (empty: nowhere by itself)."""

    words: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """What stands around one compaction."""

    source: Source
    children: Sequence[Kin]
    beside: Sequence[Kin]
    branch: Branch | None = None
    version: VersionLine | None = None
    """The memory that it made."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of two compactions that are compared."""

    kin: Kin
    shown: ShownCompaction


@dataclass(frozen=True, slots=True)
class ComparedSection:
    """A section of two results: (entry with what supports it, stands in this one only)."""

    label: str
    sides: Sequence[Sequence[tuple[ShownLine, bool]] | None]
    """None for a result that is not told by sections at all: then nothing of the other stands in it only."""


def kin(session: Session, row: LineageRow, compare_with: str = "") -> Kin:
    """A compaction with its label and its page."""
    compare = f"{reverse('compactions_compare', args=[session.uid])}?left={compare_with}&right={row.id}"
    return Kin(name_of(row), _address(session, row.id), row, compare if compare_with else "")


def _address(session: Session, name: str) -> str:
    """The page of a compaction by its id: a run's, or `log-N`."""
    if name.startswith("log-"):
        return reverse("compaction_recorded", args=[session.uid, name.removeprefix("log-")])
    return reverse("compaction", args=[name])


def name_of(row: LineageRow) -> str:
    """How a compaction is called in lists."""
    if row.origin != "here":
        return f"#{row.id.removeprefix('log-')} of the log"
    return f"{row.policy}: {f'{row.branch}, version {row.version}' if row.branch else row.state}"


def source_of(session: Session, row: LineageRow, by_id: Mapping[str, LineageRow]) -> Source:
    """What a compaction goes on from: another one, a memory, or the items of the log."""
    if (parent := by_id.get(row.parent or "")) is not None:
        return Source(name_of(parent), _address(session, parent.id))
    if row.parent:
        return Source("an earlier one, too old to be listed", _address(session, row.parent))
    if row.base_view in ("", RECORDED):
        return Source("the log's items")
    if not row.base_keeps:
        seen = f"{reverse('session', args=[session.uid])}?{urlencode({'view': row.base_view})}"
        return Source(f"the memory of {row.base_view}", seen)
    version = {} if row.base_version is None else {"version": row.base_version}
    memory = f"{reverse('memory_page', args=[session.uid])}?{urlencode({'branch': row.base_view, **version})}"
    named = f"{row.base_view}, version {row.base_version}" if version else f"the memory of {row.base_view}"
    return Source(named, memory)


def place_of(
    session: Session, rows: Sequence[LineageRow], trees: Sequence[Branch], here: str
) -> Place | None:
    """What stands around a compaction; None where it is not among the rows."""
    by_id = {row.id: row for row in rows}
    row = by_id.get(here)
    if row is None:
        return None
    children = [kin(session, by_id[one]) for one in row.children[:MOST_KIN]]
    others = [one for one in rows if one.id != here and _ended(one) and one.memory == row.memory]
    beside = [kin(session, one, here) for one in others[:MOST_KIN]] if _ended(row) else []
    branch = next((tree for tree in trees if tree.name == row.branch), None)
    version = next((one for one in branch.versions if one.version == row.version), None) if branch else None
    return Place(source_of(session, row, by_id), children, beside, branch, version)


def _ended(row: LineageRow) -> bool:
    """Whether it has a result to compare; all of a log have one, even where nobody can read it."""
    return row.origin != "here" or row.branch is not None


def compared(left: ShownCompaction, right: ShownCompaction) -> list[ComparedSection]:
    """Two results section by section, in the order in which they are rendered."""
    sides = [{section.label: section for section in side.sections} for side in (left, right)]
    labels = [section.label for side in (left, right) for section in side.sections]
    return [_section(label, sides) for label in dict.fromkeys(labels)]


def _section(label: str, sides: Sequence[dict[str, ShownSection]]) -> ComparedSection:
    lines = [side[label].lines if label in side else () for side in sides]
    texts = [{line.text for line in one} for one in lines]
    told = all(sides)
    return ComparedSection(
        label,
        [
            [(line, told and line.text not in texts[1 - at]) for line in lines[at]] if side else None
            for at, side in enumerate(sides)
        ],
    )
