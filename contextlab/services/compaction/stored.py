"""Versions of a memory as they are stored: items that stand as in the log by their names, others whole."""

from __future__ import annotations

import json
from collections.abc import Collection, Container, Iterable
from typing import Any

import zstandard

from contextlab.core.codec import item_fields, read_items
from contextlab.core.committing.compacting import read_result_answer
from contextlab.core.compaction import CompactResult
from contextlab.core.items import Item
from contextlab.services.compaction.held import Held, Placed
from contextlab.store.items import load_items, session_items
from contextlab.store.models import MemoryVersion, Session

CHUNK = 2000


def read_version(
    session: Session, version: MemoryVersion
) -> tuple[list[Item], dict[str, int], frozenset[str]]:
    """Items of a version as it was made, the places of those of the log, and which do not stand as they stand there."""
    stored = unpack(bytes(version.payload)) if version.payload is not None else []
    names = [one for one in stored if isinstance(one, str)]
    log = {item.id: (at, item) for at, item in _named(session, names)}
    items = [
        log[one][1] if isinstance(one, str) else one
        for one in stored
        if not isinstance(one, str) or one in log
    ]
    whole = _places(session, [one.id for one in stored if not isinstance(one, str)])
    return items, {name: at for name, (at, _) in log.items()} | whole, frozenset(whole)


def result_of(version: MemoryVersion) -> CompactResult | None:
    """The result that the memory goes on from: of the compaction that made it, or made the version restored."""
    job = version.same_as.compaction
    return read_result_answer(job.result, job.method) if job is not None and job.result else None


def pack(held: Held, items: Collection[Item]) -> bytes:
    """Items as a version keeps them: those that stand as in the log by their name."""
    places, changed = held.positions, held.changed
    as_read = items is held.snapshot.items
    log = {} if as_read else _own(held, {item.id for item in items})
    rows = [
        name
        if (name := item.id) in places and name not in changed and (as_read or log.get(name) == item)
        else item_fields(item)
        for item in items
    ]
    return zstandard.ZstdCompressor().compress(json.dumps(rows, separators=(",", ":")).encode("ascii"))


def _own(held: Held, names: Container[str]) -> dict[str, Item]:
    """The memory's own items of these names."""
    return {item.id: item for item in held.snapshot.items if item.id in names}


def unpack(payload: bytes) -> list[str | Item]:
    """Names of items of the log, and items that are kept whole."""
    rows: list[Any] = json.loads(zstandard.ZstdDecompressor().decompress(payload))
    return [row if isinstance(row, str) else read_items([row])[0] for row in rows]


def _places(session: Session, names: list[str]) -> dict[str, int]:
    """Where items of the log stand, of these ids."""
    found: dict[str, int] = {}
    for start in range(0, len(names), CHUNK):
        rows = session_items(session).filter(native_id__in=names[start : start + CHUNK])
        found.update(rows.values_list("native_id", "position"))
    return found


def _named(session: Session, names: list[str]) -> Iterable[Placed]:
    for start in range(0, len(names), CHUNK):
        yield from load_items(
            session, session_items(session).filter(native_id__in=names[start : start + CHUNK])
        )
