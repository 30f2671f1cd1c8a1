"""The queue of files: a worker never sees a message that is not all there."""

from __future__ import annotations

import threading
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection
from kombu.transport import TRANSPORT_ALIASES

import contextlab.config.celery  # noqa: F401 - which registers the transport
from contextlab.config.broker import transport_options

MESSAGES = 300


@pytest.fixture
def connect(tmp_path: Path) -> Any:
    options = transport_options("filesystem://localhost", tmp_path, 60)
    return lambda: Connection("filesystem://localhost", transport_options=options)


def test_what_is_taken_is_whole(connect: Any) -> None:
    """Somebody takes messages as fast as they come: each is there once, and none is half written."""
    taken: list[int] = []
    broken: list[BaseException] = []
    done = threading.Event()

    def take() -> None:
        with connect() as connection:
            channel = connection.channel()
            while len(taken) < MESSAGES and not (done.is_set() and broken):
                try:
                    taken.append(channel._get("q")["number"])
                except Empty:
                    continue
                except Exception as error:
                    broken.append(error)
                    return

    reader = threading.Thread(target=take)
    reader.start()
    with connect() as connection:
        channel = connection.channel()
        for number in range(MESSAGES):
            channel._put("q", {"number": number, "text": "x" * 2_000})
    done.set()
    reader.join(30)
    assert broken == []
    assert sorted(taken) == list(range(MESSAGES))


def test_it_is_the_one_that_workers_use() -> None:
    """The address `filesystem://` leads to it."""
    assert TRANSPORT_ALIASES["filesystem"].startswith("contextlab.")
