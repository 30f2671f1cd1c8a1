"""Originals that were put aside, as the model of one session may fetch them back."""

from __future__ import annotations

from django.db.models import Q

from contextlab.core.items import Item
from contextlab.core.offload import Offload
from contextlab.services.compaction.requests import LONGEST_ID, BadRequest
from contextlab.services.compaction.versions import memory_of, offloads_in
from contextlab.store.models import OffloadRecord, Session
from contextlab.store.offloads import unpack_originals


class OriginalsOf:
    """What a session put aside, or one that it was forked from, one that it is a subagent of, or the other way round;
    and what its memory points to: an agent may go on from the memory of any other session. Read only."""

    def __init__(self, session: Session) -> None:
        """The session whose model asks."""
        self._session = session

    def get(self, offload_id: str) -> tuple[Item, ...]:
        """The originals, empty for an id that is not known, or is another session's."""
        if not offload_id.isprintable() or len(offload_id) > LONGEST_ID:
            return ()  # no database holds such an id
        rows = OffloadRecord.objects.filter(workspace=self._session.workspace_id, offload=offload_id)
        found = rows.first()
        if found is None or not (self._is_ours(found.session_id) or self._points_to(offload_id)):
            return ()
        return unpack_originals(bytes(found.payload))

    def put(self, offload: Offload) -> None:
        """A model only reads."""
        raise NotImplementedError

    def clear(self, offload_id: str) -> None:
        """A model only reads."""
        raise NotImplementedError

    def _is_ours(self, owner: int | None) -> bool:
        mine = self._session
        if owner is None or owner == mine.pk:
            return owner is not None
        related = Q(children=mine) | Q(forks=mine) | Q(parent=mine) | Q(forked_from=mine)
        return Session.objects.filter(related, pk=owner).exists()

    def _points_to(self, offload_id: str) -> bool:
        try:
            return offload_id in offloads_in(memory_of(self._session))
        except BadRequest:
            return False  # its memory is just being made: nobody can say yet
