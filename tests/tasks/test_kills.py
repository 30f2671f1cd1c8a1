"""Workers are killed while they compact: nothing is lost, nothing is done twice, and no kill costs two answers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.broker, pytest.mark.kills, pytest.mark.slow, pytest.mark.timeout(400)]

CHECKOUT = Path(__file__).resolve().parents[2]
PLACES = {"asking", "answered", "committing", "committed"}


def test_killed_workers_lose_and_double_nothing(installation, tmp_path):
    """The short version of `python -m bench.kills`: the whole worker, its main process, a process of its pool."""
    out = tmp_path / "kills.json"
    broker = installation.get("CONTEXTLAB_BROKER_URL", "filesystem://localhost")
    words = "bench.kills --kills 4 --runs 50 --hurry --slowest 0.2 --seed 1817".split()
    command = [sys.executable, "-m", *words, "--broker", broker, "--json", str(out)]
    done = subprocess.run(
        command, cwd=CHECKOUT, env=installation, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    found = json.loads(out.read_text())
    assert (found["states"], found["lost"], found["doubled"]) == ({"done": 50}, 0, 0)
    assert sum(found["kills"].values()) == 4
    assert {place for name in found["kills"] for place in name.split()[1:]} & PLACES
    assert found["model_calls"] <= 54
