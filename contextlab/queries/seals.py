"""Signatures and encrypted content of reasoning, read from the log's own bytes: items do not hold them.

An item is found in its record by the length of its secret, which its row has, and by its order. Where that leaves a
doubt (a record that quotes a history), nothing is taken: a wrong signature is worse than none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from contextlab.core.items import KIND_CODE, Kind
from contextlab.core.protocol import ExportItem
from contextlab.importers.seals import Sealed, seals_in
from contextlab.store.models import ItemRecord, LogFile
from contextlab.store.texts import read_raw

CHUNK = 2000
MOST_RAW = 64 * 1024 * 1024
"""Bytes of records that are read for one copy; reasoning beyond is left out of it, as if it had no signature."""


@dataclass(slots=True, frozen=True)
class _Wanted:
    position: int
    offset: int
    length: int
    opaque: int


def seal(items: Iterable[ExportItem], positions: dict[str, int], session_id: int, revision: int) -> None:
    """Give the reasoning among the items of a session what its provider wants back."""
    reasoning = [item for item in items if item.kind == Kind.REASONING and item.sent and item.id in positions]
    found = seals_of(session_id, revision, {positions[item.id] for item in reasoning})
    for item in reasoning:
        if (one := found.get(positions[item.id])) is not None:
            item.secret, item.seal, item.provider_id = one.secret or None, one.seal, one.provider_id


def seals_of(session_id: int, revision: int, positions: Collection[int]) -> dict[int, Sealed]:
    """What the log has beside the text of these reasoning items, by position."""
    file = LogFile.objects.filter(sessions__pk=session_id).first() if positions else None
    if file is None:
        return {}
    records: dict[tuple[int, int], list[_Wanted]] = {}
    for one in _wanted(session_id, revision, sorted(positions)):
        records.setdefault((one.offset, one.length), []).append(one)
    found: dict[int, Sealed] = {}
    left = MOST_RAW
    for (offset, length), wanted in sorted(records.items()):
        left -= length
        if left < 0:
            break
        found |= _matched(wanted, seals_in(read_raw(file, offset, length)))
    return found


def _wanted(session_id: int, revision: int, positions: list[int]) -> Iterable[_Wanted]:
    rows = ItemRecord.objects.filter(
        session_id=session_id, revision=revision, kind=KIND_CODE[Kind.REASONING], raw_offset__isnull=False
    ).order_by("position")
    columns = ("position", "raw_offset", "raw_length", "opaque_chars")
    for start in range(0, len(positions), CHUNK):
        some = rows.filter(position__in=positions[start : start + CHUNK])
        yield from (_Wanted(*values) for values in some.values_list(*columns))


def _matched(wanted: list[_Wanted], sealed: list[Sealed]) -> dict[int, Sealed]:
    found: dict[int, Sealed] = {}
    for opaque in {one.opaque for one in wanted}:
        items = [one for one in wanted if one.opaque == opaque]
        fitting = [one for one in sealed if len(one.secret) == opaque]
        if len(items) == len(fitting):
            found |= {item.position: one for item, one in zip(items, fitting, strict=True)}
    return found
