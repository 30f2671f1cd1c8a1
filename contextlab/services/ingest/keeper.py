"""Keeps what a writer has of its session, packed while the session is idle: a log may have thousands of subagents."""

from __future__ import annotations

from typing import Any

from contextlab.core.events import SessionStart
from contextlab.core.timeline import Timeline
from contextlab.importers.packing import Packer
from contextlab.services.ingest.held import Held
from contextlab.store.models import LogFile, Session

_COLUMNS = [field.attname for field in Session._meta.concrete_fields]


class Keeper:
    """What was made of a session's events, and its row."""

    __slots__ = ("_awake", "_file", "_key", "_packed", "_packer", "_row")

    def __init__(self, file: LogFile, start: SessionStart, packer: Packer) -> None:
        self._file, self._packer = file, packer
        self._awake: Held | None = Held(start)
        self._packed = b""
        """What is held and the values of the row, where the session is idle."""
        self._row: Session | None = None
        self._key: int | None = None

    @property
    def is_awake(self) -> bool:
        """Whether it is not packed."""
        return self._awake is not None

    @property
    def held(self) -> Held:
        """What was made of the events; wakes the session."""
        if self._awake is None:
            self._awake, values = self._packer.unpack(self._packed)
            self._row, self._packed = self._row or self._as_row(values), b""
        return self._awake

    @property
    def row(self) -> Session | None:
        """The session's row, once there is one."""
        if self._row is None and self._packed:
            self._row = self._as_row(self._packer.unpack(self._packed)[1])
        return self._row

    @row.setter
    def row(self, row: Session) -> None:
        self._row = row

    @property
    def key(self) -> int | None:
        """Primary key of the session's row, once there is one."""
        return self._key if self._row is None else self._row.pk

    def timeline(self) -> Timeline:
        """The session's timeline; that of an idle session is a copy."""
        held: Held = self._awake or self._packer.unpack(self._packed)[0]
        return held.assembler.timeline

    def rest(self) -> None:
        """The session is idle: pack it, unless the end of the log needs it or it has no row yet."""
        row = self._row
        if row is None or self._awake is None or self._awake.assembler.links:
            return
        values = tuple(getattr(row, name) for name in _COLUMNS)
        self._packed, self._key = self._packer.pack((self._awake, values)), row.pk
        self._awake = self._row = None

    def _as_row(self, values: tuple[Any, ...]) -> Session:
        row = Session.from_db(self._file._state.db, _COLUMNS, values)
        row.file = self._file
        return row
