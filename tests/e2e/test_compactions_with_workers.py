"""Compact now with real processes: a worker killed while it asks the model, and all the ways on from the result."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.cli.test_up import Up, eventually, free_port
from tests.services.test_ingest import busy_log
from tests.support.fake_openai import FakeOpenAI, hangs, says

pytestmark = [
    pytest.mark.broker, pytest.mark.slow, pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform != "linux", reason="looks processes up in /proc"),
]  # fmt: skip

ANSWER = json.dumps({"goal": "Ship the parser", "completed": ["wrote the parser"], "pending": ["its tests"]})
LEASE_IS_OVER = """
import os
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.config.settings")
import django; django.setup()
from django.utils import timezone
from contextlab.store.models import Run
Run.objects.filter(kind="compact", state="running").update(lease_until=timezone.now())
"""
SOON = 60_000


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    """The first request hangs until whoever asked is dead; later ones are answered."""
    with FakeOpenAI(hangs, says(ANSWER)) as server:
        yield server


@pytest.fixture
def up(installation: dict[str, str], migrated: None, model: FakeOpenAI, tmp_path: Path) -> Iterator[Up]:
    """A running installation with one session, and a model to ask."""
    env = installation | {"CONTEXTLAB_MODEL_BASE_URL": model.url, "CONTEXTLAB_MODEL": "small"}
    log = tmp_path / "s1.jsonl"
    log.write_bytes(busy_log().data)
    running = Up(env, "--port", str(free_port()))
    running.base = running.address().rstrip("/")  # type: ignore[attr-defined]
    subprocess.run([sys.executable, "-m", "contextlab", "import", str(log)], env=env, check=True, timeout=60)
    yield running
    running.stop()


def kill_workers_at_their_request(up: Up, model: FakeOpenAI) -> None:
    """SIGKILL for the worker and its children while the model thinks: no chance to tidy up.

    Its lease ends at once, to spare the test 20 s.
    """
    assert eventually(lambda: model.requests)
    killed = up.pids("celery")
    assert killed
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    subprocess.run([sys.executable, "-c", LEASE_IS_OVER], env=up.env, check=True, timeout=60)


def start(page: Page, policy: str) -> None:
    """From the open form: choose, look, confirm where a model is asked, compact."""
    page.locator("#policy").select_option(policy)
    page.locator("#keep_recent").fill("4")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview")).to_contain_text("tokens before")
    if page.locator("[name=confirm]").count():
        page.locator("[name=confirm]").check()
    page.get_by_role("button", name="Compact as shown").click()


def test_a_worker_killed_while_it_asks_the_model(up: Any, model: FakeOpenAI, page: Page) -> None:
    """The open page goes on to the result without a reload; it was made once, and everything works on from there."""
    page.set_default_timeout(SOON)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{up.base}/?q=file_0")
    page.get_by_role("link", name="prompt 0 of s1").first.click()
    page.get_by_role("link", name="Compact now").click()
    start(page, "llm-summary")
    panel = page.locator("#compaction")
    expect(panel).to_contain_text("Asking the model", timeout=SOON)
    expect(panel.locator("li[aria-current=step]")).to_contain_text("asking the model")
    kill_workers_at_their_request(up, model)
    expect(panel.locator("#result")).to_contain_text("Ship the parser", timeout=SOON)
    expect(panel).to_contain_text("wrote the parser")
    assert len(model.requests) == 2
    made = page.url

    page.get_by_role("button", name="The model's answer as it came").click()
    expect(page.locator(".texts pre")).to_contain_text('"goal": "Ship the parser"')
    page.get_by_role("button", name="Restore the memory of before").click()
    expect(page.locator("#branch-1")).to_contain_text("restore of version 1")
    expect(page.locator("#branch-1 tbody tr")).to_have_count(3)
    page.locator("#branch-1").get_by_role("button", name="Promote").click()
    expect(page.locator("#branch-1")).to_contain_text("promoted: the memory to go on with")

    page.goto(made)
    page.get_by_role("link", name="Compact beside it").click()
    start(page, "rule-based")
    expect(page.locator("#compaction")).to_contain_text("no model wrote this", timeout=SOON)
    page.get_by_role("link", name="compare section by section").click()
    expect(page).to_have_url(re.compile(r"/compactions/compare\?left=.+&right=.+"))
    expect(page.locator(".compared")).to_contain_text("only here")
    expect(page.locator(".compared")).to_contain_text("Ship the parser")
    assert len(model.requests) == 2
    assert problems == []
