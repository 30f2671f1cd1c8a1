"""Compact now in a real browser: preview in place, progress, the result without a reload, and back again."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from contextlab.services.actions import perform
from contextlab.store.models import CompactionJob, Run
from tests.e2e.test_steps_in_a_browser import a_session
from tests.services.compaction.doing import asked, done
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log

pytestmark = [pytest.mark.django_db(transaction=True)]


def test_from_the_preview_to_the_memory_of_before(live_app: Any, tmp_path: Any) -> None:
    """Preview, compact, progress, result, restore; every place by a click."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    session = import_well(path)
    page = live_app.open(f"/sessions/{session.uid}/steps/12")
    page.get_by_role("link", name="Compact now").click()
    expect(page.locator("#before_step")).to_have_value("12")
    page.locator("#keep_recent").fill("4")
    page.locator("#pins").fill("1")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview")).to_contain_text("tokens before")
    expect(page).to_have_url(re.compile(r"/compact\?before_step=12$"))
    page.get_by_role("button", name="Compact as shown").click()
    expect(page.locator("#compaction")).to_contain_text("Waiting for its turn")
    perform(Run.objects.get(kind="compact"))
    expect(page.locator("#compaction")).to_contain_text("no model wrote this", timeout=10_000)
    page.get_by_role("button", name="Restore the memory of before").click()
    expect(page.locator("main")).to_contain_text("version 3")
    page.get_by_role("button", name="Promote").click()
    expect(page.locator("main")).to_contain_text("promoted: the memory to go on with")


def test_stopped_by_a_key_and_started_again(live_app: Any, tmp_path: Any) -> None:
    """s stops it where it is; the form then opens as it was, and its items make a line for the agent."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    session = import_well(path)
    page = live_app.open(f"/sessions/{session.uid}/items/1")
    page.get_by_role("link", name="Never lose this…").click()
    expect(page.locator("#pins")).to_have_value("1")
    page.locator("#before_step").fill("12")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Compact as shown").click()
    expect(page.locator("#compaction")).to_contain_text("Waiting for its turn")
    live_app.press("s")
    expect(page.locator("#compaction")).to_contain_text("It was stopped. Memory is as it was.")
    page.get_by_role("link", name="Start it again").click()
    expect(page.locator("#pins")).to_have_value("1")
    expect(page.locator("#before_step")).to_have_value("12")
    page.get_by_role("button", name="As a /compact line").click()
    expect(page.locator("#line code")).to_contain_text("/compact")


def test_chart_and_map_lead_to_a_compaction(live_app: Any) -> None:
    """c goes to its mark, m opens its page; its label does, too, and so does the readout of what it summarised."""
    made = a_session()
    address = re.compile(r"/compactions/1$")
    page = live_app.open(made.url())
    expect(page.locator("#chart")).to_have_attribute("data-ready", "yes")
    expect(page.locator("#map")).to_have_attribute("data-ready", "yes")
    live_app.press("c")
    expect(page.locator("#chart-readout a")).to_contain_text("compaction #1")
    live_app.press("m")
    expect(page).to_have_url(address)
    page.go_back()
    expect(page.locator("#chart-readout a")).to_contain_text("compaction #1")
    canvas = page.locator("#chart")
    left = 54 + (canvas.bounding_box()["width"] - 64) * 19 / 30
    canvas.click(position={"x": left + 12, "y": 10})
    expect(page).to_have_url(address)
    page.go_back()
    expect(page.locator("#map")).to_have_attribute("data-ready", "yes")
    box = page.locator("#map").bounding_box()
    page.locator("#map").hover(position={"x": box["width"] - 30, "y": 30})
    page.locator("#map-readout a").click()
    expect(page).to_have_url(address)


def test_a_diamond_leads_to_what_was_made_by_hand(live_app: Any, tmp_path: Any) -> None:
    """c stops at it, the readout names it, m and a click on it open its page; the list has it, and grows by itself."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    session = import_well(path)
    job = done(asked(session, before_step=6, policy="rule-based", keep_recent=2))
    address = re.compile(rf"/compactions/{job.run.uid}$")
    page = live_app.open(f"/sessions/{session.uid}")
    expect(page.locator("#chart")).to_have_attribute("data-ready", "yes")
    live_app.press("c")
    expect(page.locator("#chart-readout")).to_contain_text("compaction by hand branch-1 v2")
    live_app.press("m")
    expect(page).to_have_url(address)
    page.go_back()
    expect(page.locator("#chart")).to_have_attribute("data-ready", "yes")
    canvas = page.locator("#chart")
    left = 54 + (canvas.bounding_box()["width"] - 64) * 5 / session.steps
    canvas.click(position={"x": left, "y": 10})
    expect(page).to_have_url(address)
    waiting = asked(session, before_step=8, policy="rule-based", keep_recent=2)
    page = live_app.open(f"/compactions?session={session.uid}")
    row = page.locator("tr", has_text="queued")
    expect(row).to_have_count(1)
    perform(waiting)
    expect(row).to_have_count(0, timeout=10_000)
    expect(page.locator("table.compactions")).to_contain_text("branch-2 v2")
    page.locator("#of").fill("nothing has this word")
    expect(page.locator("#compactions")).to_contain_text("No compaction matches")
    expect(page).to_have_url(re.compile(r"q=nothing\+has\+this\+word"))


def test_what_is_typed_after_a_preview_is_not_lost(live_app: Any, tmp_path: Any) -> None:
    """A preview that the form has outgrown cannot be pressed until it is made again, and a refused form has none."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    session = import_well(path)
    page = live_app.open(f"/sessions/{session.uid}/compact?before_step=12")
    look, start = (page.get_by_role("button", name=name) for name in ("Preview", "Compact as shown"))
    look.click()
    expect(start).to_be_enabled()
    page.locator("#pins").fill("1")
    expect(start).to_be_disabled()
    expect(page.get_by_text("The form has changed")).to_be_visible()
    page.locator("#pins").fill("")
    expect(start).to_be_enabled()
    page.locator("#pins").fill("nobody")
    look.click()
    expect(page.locator("#flash")).to_contain_text("is no item number")
    expect(page.locator("#preview")).to_be_empty()
    live_app.problems.clear()  # the browser's own words about a refusal
    page.locator("#pins").fill("1")
    look.click()
    expect(start).to_be_enabled()
    start.click()
    expect(page.locator("#compaction")).to_contain_text("Waiting for its turn")
    assert len(CompactionJob.objects.get().pins) == 1


def test_the_preview_is_seen_where_it_opens(live_app: Any, tmp_path: Any) -> None:
    """On a phone it comes into view below the form, and the keyboard stays at the button that was pressed."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    session = import_well(path)
    live_app.page.set_viewport_size({"width": 390, "height": 844})
    page = live_app.open(f"/sessions/{session.uid}/compact?before_step=12")
    look = page.get_by_role("button", name="Preview")
    look.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Preview")).to_be_in_viewport()
    expect(look).to_be_focused()
