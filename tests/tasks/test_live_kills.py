"""A worker is killed while it compacts the memory of an agent that is at work."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.broker, pytest.mark.kills, pytest.mark.slow, pytest.mark.timeout(600)]

CHECKOUT = Path(__file__).resolve().parents[2]


def test_a_live_memory_is_the_old_one_or_the_new_one(installation, tmp_path):
    """Wherever its worker dies: nothing is doubled, the agent goes on, and the run ends, well or with its reason."""
    out = tmp_path / "live.json"
    broker = installation.get("CONTEXTLAB_BROKER_URL", "filesystem://localhost")
    done = subprocess.run(
        [sys.executable, "-m", "bench.live_kills", "--broker", broker, "--json", str(out)],
        cwd=CHECKOUT, env=installation, capture_output=True, text=True, timeout=560, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    found = json.loads(out.read_text())
    for one in found["sessions"]:
        assert (one["rows"], one["whole"], one["old_or_new"]) == (True, True, True), one
        assert (one["compactions"], one["answers"]) == (1, 1 if one["state"] == "done" else one["answers"]), (
            one
        )
        assert one["before"] == 1, one
        assert one["while_dead"] in (1, 2), one
        if one["state"] == "done":
            assert (one["versions"], one["version"], one["decisions"]) == ([1, 2], 2, ["made"]), one
        else:
            assert (one["state"], one["versions"], bool(one["error"])) == ("failed", [1], True), one
    assert any(one["fell"] == f"worker {one['place']}" for one in found["sessions"])
    assert found["model_calls"] <= 2 * len(found["sessions"])
