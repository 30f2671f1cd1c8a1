"""The audit, last seen, the facts before a compaction, and memories in a real browser: every place by a click."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from contextlab.services import audits, last_seen
from contextlab.services.actions import perform
from contextlab.store.models import Run, Session
from tests.services.doing import import_well
from tests.services.memories.test_observing import SAMPLE

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def session() -> Session:
    return import_well(next(SAMPLE.rglob("5d1c9a74*.jsonl")))


def test_from_a_finding_to_its_evidence(live_app: Any, session: Session) -> None:
    """The audit is made while the page is open; a finding leads to its ledger, a fact to its item; one is dismissed."""
    page = live_app.open(f"/sessions/{session.uid}/audit")
    expect(page.locator("progress")).to_be_visible()
    perform(audits.request(session))
    first = page.locator(".finding").first
    expect(first).to_contain_text("Rule lost at compaction 1", timeout=10_000)
    first.get_by_role("link", name=re.compile("Rule lost")).click()
    expect(page.locator("main")).to_contain_text("What came of it")
    page.get_by_role("link", name=re.compile("^changed")).click()
    expect(page).to_have_url(re.compile("verdict=changed"))
    expect(page.locator("table.ledger").last).to_contain_text("8433")
    page.go_back()
    page.goto(f"{page.url.split('/audit')[0]}")
    expect(page.locator(".finding").first).to_contain_text("Rule lost")
    page.locator(".finding").first.get_by_role("button", name="Dismiss").click()
    expect(page.locator(".finding").first).not_to_contain_text("Rule lost")


def test_what_is_folded_opens_by_the_keyboard(live_app: Any, session: Session) -> None:
    """Light rows stay folded on a phone too until a key opens them; moving by keys goes over what is open only."""
    perform(audits.request(session))
    live_app.page.set_viewport_size({"width": 390, "height": 844})
    page = live_app.open(f"/sessions/{session.uid}/audit/1")
    fold = page.get_by_text(re.compile("lighter rows with"))
    light = page.locator("details.folded table.came [data-row]").first
    expect(light).not_to_be_visible()
    for _ in range(page.locator(".ledger.came").first.locator("[data-row]").count() + 1):
        page.keyboard.press("j")
    expect(page.locator("[data-row].sel")).to_be_visible()
    fold.focus()
    page.keyboard.press("Enter")
    expect(light).to_be_visible()


def test_when_did_the_model_last_see_it(live_app: Any, session: Session) -> None:
    """A text typed by the keyboard is answered in a sentence; the first item opens with its life."""
    perform(last_seen.request(session.workspace))
    page = live_app.open(f"/sessions/{session.uid}")
    page.get_by_role("link", name="Last seen…").click()
    page.locator("#text").fill("never edit anything under migrations")
    page.locator("#text").press("Enter")
    expect(page.locator(".verdict-line")).to_contain_text("Last seen word for word at step 65.")
    page.get_by_role("link", name="#33", exact=True).click()
    expect(page).to_have_url(re.compile(r"/items/33"))


def test_what_would_be_lost_is_pinned(live_app: Any, session: Session) -> None:
    """The preview fills in what would be lost; one click pins it and looks again."""
    page = live_app.open(f"/sessions/{session.uid}/compact?before_step=60")
    page.get_by_role("button", name="Preview").click()
    pin = page.get_by_role("button", name=re.compile("^Pin .* and look again"))
    expect(pin).to_be_visible(timeout=15_000)
    pin.click()
    expect(page.locator("#pins")).to_have_value(re.compile(r"\d"))
    expect(page.locator("#preview")).to_contain_text("of them pinned")


def test_noted_found_and_given_on(live_app: Any, session: Session) -> None:
    """Observations are noted at a click and stand there without a reload by hand; they are found again by words."""
    page = live_app.open(f"/sessions/{session.uid}/memories")
    page.get_by_role("button", name="Note by rules").click()
    expect(page.locator("progress")).to_be_visible()
    perform(Run.objects.get(kind="observe"))
    expect(page.locator(".observation").first).to_be_visible(timeout=10_000)
    page.get_by_role("link", name="Memories", exact=True).click()
    page.locator("#words").fill("migrations")
    page.locator("#words").press("Enter")
    expect(page.locator(".observation").first).to_contain_text("migrations")
    page.get_by_role("link", name="For a new session").click()
    expect(page.locator("pre.text")).to_contain_text("What earlier sessions brought to light")


def test_what_was_lost_stands_whole_on_a_phone(live_app: Any, session: Session) -> None:
    """Every column of the kinds of facts lies inside its card, and no word of a kind is broken in two."""
    perform(audits.request(session))
    live_app.page.set_viewport_size({"width": 390, "height": 844})
    page = live_app.open(f"/sessions/{session.uid}/compactions/1")
    strip = page.locator("table.factkinds .strip").first
    expect(strip).to_be_visible()
    inside, bar = page.locator("#lost").bounding_box(), strip.bounding_box()
    assert inside["x"] < bar["x"] < bar["x"] + bar["width"] < inside["x"] + inside["width"]
    height = page.get_by_role("cell", name="path", exact=True).bounding_box()["height"]
    assert page.get_by_role("cell", name="identifier", exact=True).bounding_box()["height"] == height
