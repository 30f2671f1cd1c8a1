"""A live session in a browser: the page follows its agent, and compact now is the agent's next memory."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from contextlab.adapters.tokens import counter
from tests.api.test_live import LONG, item, step, work
from tests.conftest import LiveApp

pytestmark = pytest.mark.django_db(transaction=True)


def call(address: str, body: str | None = None, kind: str = "application/json") -> Any:
    request = urllib.request.Request(address, body and body.encode(), {"Content-Type": kind})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def test_the_page_follows_and_compact_now_is_the_next_memory(
    live_app: LiveApp, settings: Any, tmp_path: Path
) -> None:
    """Events appear without a reload; a person compacts, and the agent's next question has the new memory."""
    from playwright.sync_api import expect

    settings.DATA_DIR = tmp_path
    counter().count("the vocabulary takes a while to load")
    agent = call(f"{live_app.url}/api/sessions/", json.dumps({"name": "watched"}))
    page = live_app.open(f"{agent['page']}?view=live")
    panel = page.locator("#agent")
    expect(panel).to_contain_text("Nothing has come yet")
    for number in range(1, 5):
        events = (
            item(f"u{number}", "user", f"question {number} {LONG}"), step(number),
            item(f"a{number}", "assistant", f"answer {number} {LONG}"),
        )  # fmt: skip
        call(live_app.url + agent["events"], "\n".join(map(json.dumps, events)), "application/x-ndjson")
    expect(panel).to_contain_text("steps 4, items 8", timeout=20_000)
    work()
    live_app.open(f"{agent['page']}?view=live")
    page.get_by_role("link", name="Compact now").first.click()
    expect(page.get_by_label("Memory")).to_have_value("live")
    page.get_by_label("Keep recent").fill("2")
    page.get_by_role("button", name="Preview").click()
    page.locator("#preview button[type=submit]").last.click()
    page.wait_for_url("**/compactions/*")
    work()
    memory = call(live_app.url + agent["memory"])
    assert (memory["version"], memory["report"]["projected_items"]) == (2, 3)
