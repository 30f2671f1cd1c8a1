"""Where a compaction stands among those of its session: parent, children, those beside it, and two compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from contextlab.queries.compaction import Branch, LineageRow, VersionLine
from contextlab.store.models import Session
from contextlab.web.compaction_sections import ShownSection
from contextlab.web.compactions import ShownCompaction

MOST_KIN = 12


@dataclass(frozen=True, slots=True)
class Kin:
    """A compaction to go to; `compare` is the address of the two side by side."""

    label: str
    address: str
    row: LineageRow
    compare: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """What stands around one compaction."""

    parent: Kin | None
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
    """A section of two results: (entry, stands in this one only)."""

    label: str
    sides: Sequence[Sequence[tuple[str, bool]] | None]
    """None for a result that is not told by sections at all: then nothing of the other stands in it only."""


def kin(session: Session, row: LineageRow, compare_with: str = "") -> Kin:
    """A compaction with its label and its page."""
    compare = f"{reverse('compactions_compare', args=[session.uid])}?left={compare_with}&right={row.id}"
    address = (
        reverse("compaction", args=[row.id])
        if row.origin == "here"
        else reverse("compaction_recorded", args=[session.uid, row.id.removeprefix("log-")])
    )
    return Kin(name_of(row), address, row, compare if compare_with else "")


def name_of(row: LineageRow) -> str:
    """How a compaction is called in lists."""
    if row.origin != "here":
        return f"#{row.id.removeprefix('log-')} of the log"
    return f"{row.policy}: {f'{row.branch}, version {row.version}' if row.branch else row.state}"


def place_of(
    session: Session, rows: Sequence[LineageRow], trees: Sequence[Branch], here: str
) -> Place | None:
    """What stands around a compaction; None where it is not among the rows."""
    by_id = {row.id: row for row in rows}
    row = by_id.get(here)
    if row is None:
        return None
    parent = by_id.get(row.parent or "")
    children = [kin(session, by_id[one]) for one in row.children[:MOST_KIN]]
    beside: list[Kin] = []
    if row.origin == "here" and row.branch:
        others = [one for one in rows if one.branch and one.id != here and one.at_step == row.at_step]
        beside = [kin(session, one, here) for one in others[:MOST_KIN]]
    branch = next((tree for tree in trees if tree.name == row.branch), None)
    version = next((one for one in branch.versions if one.version == row.version), None) if branch else None
    return Place(kin(session, parent) if parent else None, children, beside, branch, version)


def compared(left: ShownCompaction, right: ShownCompaction) -> list[ComparedSection]:
    """Two results section by section, in the order in which they are rendered."""
    sides = [{section.label: section for section in side.sections} for side in (left, right)]
    labels = [section.label for side in (left, right) for section in side.sections]
    return [_section(label, sides) for label in dict.fromkeys(labels)]


def _section(label: str, sides: Sequence[dict[str, ShownSection]]) -> ComparedSection:
    texts = [[line.text for line in side[label].lines] if label in side else [] for side in sides]
    told = all(sides)
    return ComparedSection(
        label,
        [
            [(text, told and text not in texts[1 - at]) for text in texts[at]] if side else None
            for at, side in enumerate(sides)
        ],
    )
