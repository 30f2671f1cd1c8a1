"""The state store on Redis: one hash a conversation, compared and set by a script that runs there as one step."""

from __future__ import annotations

from typing import Any

import redis

from contextlab.core.state import CompressionState, check_id, check_save, dump_state, load_state

_COMPARE_AND_SET = """
local stored = redis.call('HGET', KEYS[1], 'version') or '0'
if stored ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'payload', ARGV[3])
return 1
"""


class RedisStateStore:
    """Keeps states for several processes; the contract stands in core/state.py."""

    def __init__(self, client: redis.Redis, prefix: str = "contextlab:") -> None:
        """`client` stays the caller's, who closes it. Installations that share a server differ in their prefix."""
        self._client = client
        self._prefix = prefix
        self._script = client.register_script(_COMPARE_AND_SET)

    def load(self, conversation_id: str) -> CompressionState | None:
        """The stored state, None where there is none."""
        check_id(conversation_id)
        payload: Any = self._client.hget(self._key(conversation_id), "payload")
        return None if payload is None else load_state(payload)

    def save(self, conversation_id: str, state: CompressionState, expected_version: int) -> bool:
        """Compare and set."""
        check_save(conversation_id, state, expected_version)
        arguments: list[int | str] = [expected_version, state.version, dump_state(state)]
        return bool(self._script(keys=[self._key(conversation_id)], args=arguments))

    def _key(self, conversation_id: str) -> str:
        return f"{self._prefix}compression:{conversation_id}"
