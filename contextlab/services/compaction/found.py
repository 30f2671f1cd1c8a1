"""The memory that a compaction of the log found, and what stood after it: to take away, and to go on from."""

from __future__ import annotations

from django.db import transaction

from contextlab.core.summarising.outcomes import compaction_report
from contextlab.services.compaction.committing import first_version, new_branch
from contextlab.services.compaction.given import count_of
from contextlab.services.compaction.held import Held
from contextlab.services.compaction.memory import read_memory
from contextlab.services.compaction.planning import open_base, refuse_being_read
from contextlab.services.compaction.requests import BadRequest
from contextlab.store.models import MemoryVersion, Session, View

RECORDED = View.Kind.RECORDED.value


def memory_found(session: Session, number: int) -> Held:
    """All that stood in memory just before a compaction of the log; raises BadRequest."""
    return read_memory(session, open_base(session, RECORDED), None, number)


def memory_left(session: Session, number: int) -> Held:
    """What stood in memory before the first step after a compaction of the log; raises BadRequest."""
    held = memory_found(session, number)
    return read_memory(session, held.view, held.at_step)


def restore_found(session: Session, number: int) -> View:
    """A branch whose memory is the one that a compaction of the log found; raises BadRequest.

    The log stays as it is. Asked for again it is the same branch, as long as nothing was done to it.
    """
    with transaction.atomic():
        session = Session.objects.select_for_update().get(pk=session.pk)
        refuse_being_read(session)
        held = memory_found(session, number)
        if not held.snapshot.items:
            raise BadRequest("session", "There is nothing in this memory.")
        return _untouched(held) or _begun(held)


def _begun(held: Held) -> View:
    report = compaction_report(held.snapshot, held.snapshot, 0, count_of(held))
    view = new_branch(held, [], report)
    first_version(view, held, whole=True)
    return view


def _untouched(held: Held) -> View | None:
    """The branch that was made of this memory before, and holds nothing else."""
    places = {"base": held.view, "base_step": held.at_step, "base_upto": held.upto, "revision": held.revision}
    later = MemoryVersion.objects.filter(view__session=held.session, version__gt=1).values("view")
    found = held.session.views.filter(kind=View.Kind.BRANCH, **places).exclude(pk__in=later)
    return found.order_by("id").first()
