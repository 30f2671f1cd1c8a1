"""Times as logs write them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


@lru_cache(maxsize=1024)
def moment(ts: str | None) -> datetime | None:
    """A log's time, in UTC where it names no zone; None for what is no time."""
    if not ts:
        return None
    try:
        value = datetime.fromisoformat(ts)
        if value.tzinfo is UTC:
            return value
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
