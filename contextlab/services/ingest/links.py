"""The links that a log tells, from a session to those that it began."""

from __future__ import annotations

from collections.abc import Iterable

from contextlab.core.events import Link
from contextlab.services.ingest.rows import short_id
from contextlab.store.models import LinkRecord, Session


def write_links(session: Session, links: Iterable[Link], look: bool) -> bool:
    """Store the links that a log tells now; True when that changed any.

    `look`: some may be stored though it tells none. The other session may not be there yet: it will look for its link.
    """
    told = {(short_id(link.child), short_id(link.call_id)): link for link in links}
    if not told and not look:
        return False
    stored = {(link.child_native_id, link.call_id) for link in LinkRecord.objects.filter(session=session)}
    if set(told) == stored:
        return False
    LinkRecord.objects.filter(session=session).delete()
    LinkRecord.objects.bulk_create(
        LinkRecord(session=session, child_native_id=child, call_id=call, agent=(link.agent or "")[:120])
        for (child, call), link in told.items()
    )
    return True
