"""The policies page in a real browser: begun, checked while typed, looked at, saved, and a session seen under it.

`live_app` fails a test on any script error, blocked resource or refused style.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.test_steps_in_a_browser import a_session

pytestmark = [pytest.mark.django_db(transaction=True)]


def test_from_a_preset_to_a_policy_of_ones_own(live_app: Any) -> None:
    """By keys: a new policy, a mistake that is told at once, a look at a session, saving, and deleting it again."""
    a_session()
    page = live_app.open("/policies")
    live_app.press("n")
    expect(page).to_have_url(re.compile(r"/policies/new$"))
    text = page.locator("#text")
    typed = text.input_value()
    text.fill(typed.replace("max_tokens", "max_tokenz"))
    expect(page.locator("#check")).to_contain_text("projector.max_tokenz: unknown key")
    expect(page.locator("#check")).to_contain_text(re.compile(r"Line \d+:"))
    text.fill(typed.replace("60000", "900"))
    expect(page.locator("#check")).to_contain_text("max_tokens 900")
    page.keyboard.press("Escape")
    live_app.press("p")
    expect(page.locator("#preview")).to_contain_text("maxTokens applied: 900")
    live_app.press("s")
    expect(page.locator("h1")).to_have_text("my token-budget")
    page.get_by_role("button", name="Delete").click()
    expect(page.locator("#delete")).to_contain_text("Delete this policy?")
    page.locator("#delete").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No policy of your own yet")).to_be_visible()


def test_rows_are_opened_by_keys(live_app: Any) -> None:
    """j and enter open a policy of the list as the beginning of a new one."""
    page = live_app.open("/policies")
    live_app.press("j")
    live_app.press("Enter")
    expect(page).to_have_url(re.compile(r"/policies/new\?from=keep-all$"))
