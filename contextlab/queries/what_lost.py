"""What a compaction of a log lost, as the session's audit has it."""

from __future__ import annotations

from typing import Any

from contextlab.queries.audit import payload
from contextlab.store.models import Session, SessionAudit


def audited(session: Session, number: int) -> dict[str, Any] | None:
    """The stored values of a compaction (core.audit.answers); None where nobody looked since the log was read."""
    found = SessionAudit.objects.filter(session=session, revision=session.revision).first()
    rows = payload(found)["compactions"] if found else ()
    return next((row for row in rows if row["number"] == number), None)
