"""Texts of a session for replays: asked for one by one, read in stretches."""

from __future__ import annotations

from contextlab.store.items import session_items
from contextlab.store.models import Session
from contextlab.store.texts import TEXT_COLUMNS, read_texts

STRETCH = 500
"""Items that are read at once. A replay asks in order, so that nearly every read serves as many."""


class SessionTexts:
    """Gives the text of the item at a position, empty for one that is gone."""

    def __init__(self, session: Session) -> None:
        """Nothing is read yet."""
        self._session = session
        self._first = 0
        self._texts: dict[int, str] | None = None

    def __call__(self, position: int) -> str:
        """The text."""
        if self._texts is None or not self._first <= position < self._first + STRETCH:
            self._read(position)
        return (self._texts or {}).get(position, "")

    def _read(self, position: int) -> None:
        session, self._first = self._session, position - position % STRETCH
        rows = session_items(session).filter(position__gte=self._first, position__lt=self._first + STRETCH)
        self._texts = read_texts(session.pk, session.revision, rows.values_list(*TEXT_COLUMNS))
