"""State and originals in Redis: same promises as in memory. Without a server they are skipped, visibly."""

import os
import uuid

import pytest
import redis

from contextlab.adapters.redis_offload import RedisOffloadStore
from contextlab.adapters.redis_state import RedisStateStore
from tests.support import store_contracts as contracts

pytestmark = [pytest.mark.broker]
BROKER = os.environ.get("CONTEXTLAB_BROKER_URL", "")
URL = BROKER if BROKER.startswith("redis") else "redis://127.0.0.1:6379/0"


@pytest.fixture
def prefix():
    return f"contextlab-test-{uuid.uuid4().hex}:"


@pytest.fixture
def client(prefix):
    """A client whose keys are gone afterwards."""
    with redis.Redis.from_url(URL, socket_connect_timeout=2) as connected:
        try:
            connected.ping()
        except redis.ConnectionError:
            if BROKER.startswith("redis"):
                raise
            pytest.skip(f"no Redis at {URL}")
        yield connected
        for key in connected.scan_iter(f"{prefix}*"):
            connected.delete(key)


def test_state_store(client, prefix):
    """Redis compares and sets."""
    contracts.check_state_store(RedisStateStore(client, prefix), "c")
    contracts.check_arguments(RedisStateStore(client, prefix))


@pytest.mark.parametrize("expected", [0, 1])
def test_of_saves_at_once_one_wins(client, prefix, expected):
    """No update is lost, whether the conversation is new or not."""
    stores = [RedisStateStore(client, prefix) for _ in range(8)]
    assert expected == 0 or stores[0].save("c", contracts.state(1), 0)
    assert contracts.winners(stores, "c", expected, lambda: None) == 1
    assert stores[0].load("c") == contracts.state(expected + 1)


def test_offload_store(client, prefix):
    """Originals come back as they were."""
    contracts.check_offload_store(RedisOffloadStore(client, prefix))


def test_a_client_that_decodes_does_as_well(prefix, client):
    """A program may bring its own client, one that answers with texts."""
    with redis.Redis.from_url(URL, decode_responses=True) as decoding:
        contracts.check_state_store(RedisStateStore(decoding, prefix), "c")
        contracts.check_offload_store(RedisOffloadStore(decoding, prefix))


def test_prefixes_keep_apart(client, prefix):
    """Two installations on one server do not meet."""
    assert RedisStateStore(client, f"{prefix}a:").save("c", contracts.state(1), 0)
    assert RedisStateStore(client, f"{prefix}b:").load("c") is None
