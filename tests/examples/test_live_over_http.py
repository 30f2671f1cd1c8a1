"""The agent of docs/live-agent.md that lives in a session of the server, run as it stands there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contextlab.adapters.tokens import counter
from contextlab.store.models import CompactionJob, MemoryVersion, Session
from tests.api.test_live import work

PAGE = Path(__file__).parents[2] / "docs" / "live-agent.md"
ADDRESS = "http://127.0.0.1:8000"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lab(live_server: Any, settings: Any, tmp_path: Path) -> str:
    settings.DATA_DIR = tmp_path
    counter().count("the vocabulary takes a while to load")
    return str(live_server.url)


def block(kind: str, begins: str, lab: str) -> str:
    found = re.search(rf"```{kind}\n({re.escape(begins)}.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    assert ADDRESS in found[1]
    return found[1].replace(ADDRESS, lab)


def test_the_agent_of_the_page(lab: str) -> None:
    """It goes through its turns, and its memory is compacted as soon as somebody works."""
    script = block("python", '"""An agent that lives', lab).replace("wait=20", "wait=0")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    *turns, page = done.stdout.splitlines()
    assert len(turns) == 9
    session = Session.objects.get(title="A live agent")
    assert (session.steps, session.items) == (9, 18)
    assert page.endswith(f"/sessions/{session.uid}?view=live")
    assert CompactionJob.objects.get(session=session).trigger == "auto"
    work()
    assert MemoryVersion.objects.filter(view__session=session).count() == 2


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_same_by_hand(lab: str) -> None:
    """Every command answers with what it says."""
    script = block("sh", "LAB=", lab)
    lines = [
        f"{line}; echo" if "curl" in line and not line.startswith("SESSION") else line
        for line in script.splitlines()
    ]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    taken, memory, asked = (json.loads(line) for line in done.stdout.splitlines() if line)
    assert (taken["taken"], taken["steps"], taken["skipped"]) == (3, 1, [])
    assert memory["document"]["messages"][-1]["role"] == "assistant"
    assert asked["state"] == "queued"
