"""What a service refuses, as an answer of the API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from contextlab.api.errors import ApiError, bad_value
from contextlab.services import compaction


@contextmanager
def refusals(where: str = "body") -> Iterator[None]:
    """What a service refuses, as an answer with its place."""
    try:
        yield
    except compaction.KeyTaken as error:
        raise ApiError(409, str(error), place="header: Idempotency-Key") from error
    except compaction.BadRequest as error:
        place = where if error.place == where else f"{where}: {error.place}"
        raise bad_value(place, str(error)) from error
