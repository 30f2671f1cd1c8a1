"""The sessions page in a real browser: keys, filters, theme, and no complaint about the Content-Security-Policy.

`live_app` fails a test on any script error, blocked resource or refused style.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.factories import a_session

pytestmark = [pytest.mark.django_db(transaction=True)]


def test_keys(live_app: Any) -> None:
    """j and k move, / searches, ? lists the keys, escape leaves; the hint bar names those valid now."""
    first = a_session(title="first")
    second = a_session(title="second")
    page = live_app.open()
    live_app.press("j")
    expect(page.locator(f"#s-{first.uid}")).to_be_focused()
    live_app.press("j", "j")
    expect(page.locator(f"#s-{second.uid}")).to_be_focused()
    live_app.press("k")
    expect(page.locator(f"#s-{first.uid}")).to_be_focused()
    live_app.press("/")
    expect(page.locator("#q")).to_be_focused()
    live_app.press("Escape")
    live_app.press("?")
    expect(page.locator("#keys")).to_be_visible()
    live_app.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    expect(page.locator("[data-hints]")).to_contain_text("move")
    live_app.press("f")
    expect(page.locator(".chip").first).to_be_focused()


def test_searching_and_filtering_keep_the_state_in_the_address(live_app: Any) -> None:
    """Typing narrows the list, a chip does too, and the back button undoes it."""
    a_session(title="the ledger", format="codex")
    a_session(title="the ledger again")
    a_session(title="something else")
    page = live_app.open()
    rows = page.locator("tr[data-row]")
    expect(rows).to_have_count(3)
    page.locator("#q").type("ledger")
    expect(rows).to_have_count(2)
    expect(page.locator("#q")).to_be_focused()
    page.locator(".chip", has_text="Codex").click()
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile(r"\?q=ledger&source=codex$"))
    page.go_back()
    expect(rows).to_have_count(2)
    expect(page.locator("#q")).to_have_value("ledger")


def test_theme(live_app: Any) -> None:
    """The toggle changes the colours at once, and the next page has them before its first paint."""
    page = live_app.open()
    background = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(background)
    live_app.press("t", "t")
    assert page.evaluate(background) != light
    page.reload(wait_until="commit")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_an_error_is_shown_where_it_can_be_seen(live_app: Any) -> None:
    """A filter whose request fails says so, and the list stays."""
    a_session(title="here")
    page = live_app.open()
    page.route("**/?source=*", lambda route: route.fulfill(status=503, body="The database did not answer."))
    page.locator(".chip", has_text="Claude Code").click()
    expect(page.locator("#flash")).to_have_text("The database did not answer.")
    expect(page.locator("tr[data-row]")).to_have_count(1)
    # The browser and htmx both log the failed answer: that much is expected here.
    live_app.problems.clear()


@pytest.mark.parametrize("width", [1440, 920, 768, 390])
def test_no_page_scrolls_sideways(live_app: Any, width: int) -> None:
    """Whatever stands in a row, the page is as wide as the window."""
    a_session(
        title="w" * 290, project="/p/" + "x" * 300, branch="b" * 190, model="m" * 100, findings=9, steps=0
    )
    a_session(title="many words " * 20, fill_percent=120.0)
    live_app.page.set_viewport_size({"width": width, "height": 800})
    page = live_app.open("/?group=project")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_controls_have_names(live_app: Any) -> None:
    """Every button, link and field says what it is, to those who cannot see it, too."""
    a_session(title="")
    page = live_app.open()
    nameless = page.evaluate(
        """[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select")].filter((element) =>
        !(element.textContent.trim() || element.ariaLabel || element.labels?.length || element.title)
        ).map((element) => element.outerHTML)"""
    )
    assert nameless == []


def test_the_list_says_that_logs_have_grown(live_app: Any) -> None:
    """Without jumping: a line says how much is new, and showing it is up to the reader."""
    session = a_session(steps=20)
    page = live_app.open()
    expect(page.locator("tr[data-row] td").nth(3)).to_have_text("20")
    session.steps = 23
    session.save()
    expect(page.locator("[data-live]")).to_contain_text("3 new steps", timeout=8_000)
    expect(page.locator("tr[data-row] td").nth(3)).to_have_text("20")
    live_app.press("r")
    expect(page.locator("tr[data-row] td").nth(3)).to_have_text("23")
