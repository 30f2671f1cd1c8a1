"""A message sent through the configured broker reaches a worker in another process."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from kombu import Connection

CHECKOUT = Path(__file__).resolve().parents[2]
URL = os.environ.get("CONTEXTLAB_BROKER_URL", "filesystem://localhost")
SEND = "import django; django.setup(); from tests.support.ring import ring; ring.delay({path!r})"
WORKER = [
    "-m",
    "celery",
    "-q",
    "-A",
    "contextlab.config.celery",
    "worker",
    "-I",
    "tests.support.ring",
    "-c",
    "1",
]


@pytest.fixture
def env(installation, migrated):
    """An installation whose queue is removed afterwards; skipped where the broker does not listen."""
    parts = urlsplit(URL)
    if parts.port:
        try:
            socket.create_connection((parts.hostname, parts.port), timeout=3).close()
        except OSError:
            pytest.skip(f"no broker listens at {parts.hostname}:{parts.port}")
    yield installation | {"DJANGO_SETTINGS_MODULE": "contextlab.config.settings"}
    if parts.port:
        with Connection(URL) as connection:
            connection.channel().queue_delete(installation["CONTEXTLAB_QUEUE"])


@pytest.mark.broker
def test_a_message_reaches_a_worker(env, tmp_path):
    """Sent before the worker starts, it is waiting for it; so nothing depends on who comes first."""
    target = tmp_path / "rung"
    subprocess.run([sys.executable, "-c", SEND.format(path=str(target))], cwd=CHECKOUT, env=env, check=True)
    worker = subprocess.Popen(
        [sys.executable, *WORKER, "--without-gossip", "--without-mingle"],
        cwd=CHECKOUT,
        env=env,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not target.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert target.exists()
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
