"""The offload store on Redis: one value an id, kept until it is cleared."""

from __future__ import annotations

from typing import Any

import redis

from contextlab.core.codec import dump_items, load_items
from contextlab.core.items import Item
from contextlab.core.offload import Offload


class RedisOffloadStore:
    """Keeps originals for several processes."""

    def __init__(self, client: redis.Redis, prefix: str = "contextlab:") -> None:
        """`client` stays the caller's, who closes it. Installations that share a server differ in their prefix."""
        self._client = client
        self._prefix = prefix

    def put(self, offload: Offload) -> None:
        """Store; the same id again replaces."""
        self._client.set(self._key(offload.id), dump_items(offload.items))

    def get(self, offload_id: str) -> tuple[Item, ...]:
        """The originals, empty for an id that is not known."""
        payload: Any = self._client.get(self._key(offload_id))
        return () if payload is None else load_items(payload)

    def clear(self, offload_id: str) -> None:
        """Forget; an unknown id is no error."""
        self._client.delete(self._key(offload_id))

    def _key(self, offload_id: str) -> str:
        return f"{self._prefix}offload:{offload_id}"
