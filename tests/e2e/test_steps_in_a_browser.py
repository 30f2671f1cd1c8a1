"""Session and step pages in a real browser: keys, chart, map, folds, copies, and a view that is made meanwhile.

`live_app` fails a test on any script error, blocked resource or refused style.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from contextlab.core.items import Kind, Reason, Verdict
from contextlab.core.spans import Span
from contextlab.services import opening
from contextlab.services.actions import perform
from tests.web.made import Log, Made

pytestmark = [pytest.mark.django_db(transaction=True)]


def a_session() -> Made:
    """30 steps in two turns, a compaction before step 20, projected as recorded."""
    log = Log().item(Kind.SYSTEM, "You are careful.").ask("find the port")
    log.repeat(
        19, lambda log, n: log.step(input=1000 + 90 * n).call("read", f"f{n}").result(f"text {n} " * 30)
    )
    log.compaction("The port is 8433.", trigger="auto", pre_tokens=2800, post_tokens=300).ask("sure?")
    log.repeat(
        11, lambda log, n: log.step(input=300 + 90 * n).call("grep", f"g{n}").result(f"found {n} " * 30)
    )
    made = log.save()
    project(made, "recorded")
    return made


def project(made: Made, name: str) -> None:
    _, run = opening.open_view(made.session, name)
    if run is not None:
        perform(run)


def test_keys_of_a_step(live_app: Any) -> None:
    """Arrows go from step to step, x and d filter and lead back, c and C jump over compactions."""
    made = a_session()
    page = live_app.open(made.url("/steps/10"))
    live_app.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"/steps/11$"))
    live_app.press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"/steps/10$"))
    live_app.press("c")
    expect(page).to_have_url(re.compile(r"/steps/20$"))
    live_app.press("x")
    expect(page).to_have_url(re.compile(r"/steps/20\?show=left-out$"))
    expect(page.locator("#context .item")).to_have_count(1)
    live_app.press("x")
    expect(page).to_have_url(re.compile(r"/steps/20$"))
    expect(page.locator("#context .item.k-summary")).to_be_visible()
    live_app.press("d")
    expect(page.locator("h3.group").first).to_contain_text("left out since this step")
    live_app.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"/steps/21\?show=changes$"))
    live_app.press("C")
    expect(page).to_have_url(re.compile(r"/steps/20\?show=changes$"))
    page.go_back()
    expect(page).to_have_url(re.compile(r"/steps/21\?show=changes$"))


def test_items_open_and_close_in_place(live_app: Any) -> None:
    """j and enter open a text; the address then holds the item, also after a reload; enter closes it again."""
    made = a_session()
    page = live_app.open(made.url("/steps/5"))
    live_app.press("j", "j", "Enter")
    expect(page.locator("#b1 pre")).to_have_text("find the port")
    expect(page).to_have_url(re.compile(r"item=1"))
    page.reload()
    expect(page.locator("#b1 pre")).to_have_text("find the port")
    page.locator("#i1 a.body").click()
    expect(page.locator("#b1")).to_be_empty()
    expect(page).not_to_have_url(re.compile(r"item="))


def test_a_fold_opens_where_it_stood(live_app: Any) -> None:
    """What the summary replaced is one row, and a click lists it, a page at a time."""
    made = a_session()
    page = live_app.open(made.url("/steps/25"))
    fold = page.locator(".item.gone")
    expect(fold).to_contain_text("replaced by the summary of compaction #1")
    fold.locator("a.body").click()
    expect(page.locator(".item.summarised")).to_have_count(40)
    expect(page.locator("#i0")).to_contain_text("You are careful.")


def test_chart_and_map_are_drawn_and_moved_by_keys(live_app: Any) -> None:
    """Both canvases say in words what is under the cursor, and lead to the step."""
    made = a_session()
    page = live_app.open(made.url())
    expect(page.locator("#chart[data-ready]")).to_be_visible()
    expect(page.locator("#map[data-ready]")).to_be_visible()
    live_app.press("ArrowRight", "ArrowRight")
    expect(page.locator("#chart-readout")).to_contain_text("step 2")
    expect(page.locator("#chart-readout")).to_contain_text("reported 1,090")
    expect(page).to_have_url(re.compile(r"step=2"))
    live_app.press("c")
    expect(page.locator("#chart-readout")).to_contain_text("compaction #1")
    page.locator("#map").focus()
    live_app.press("ArrowDown")
    expect(page.locator("#map-readout")).to_contain_text("#0 system")
    box = page.locator("#map").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 20)
    expect(page.locator("#map-readout")).to_contain_text("replaced by the summary of a compaction")
    page.locator("[data-map=in]").click()
    expect(page.locator("#map-readout")).to_contain_text("of 30")
    page.locator("#chart").focus()
    live_app.press("Enter")
    expect(page).to_have_url(re.compile(r"/steps/20$"))
    painted = "(c) => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v > 0)"
    page.go_back()
    expect(page.locator("#map[data-ready]")).to_be_visible()
    page.wait_for_timeout(100)
    assert page.locator("#map").evaluate(painted)
    assert page.locator("#chart").evaluate(painted)


def test_a_click_on_the_map_opens_the_step_with_the_item(live_app: Any) -> None:
    """The item under the pointer is selected there."""
    made = a_session()
    page = live_app.open(made.url())
    expect(page.locator("#map[data-ready]")).to_be_visible()
    canvas = page.locator("#map")
    canvas.click(position={"x": canvas.bounding_box()["width"] * 0.5, "y": 30})
    expect(page).to_have_url(re.compile(r"/steps/1\d\?item=\d+"))
    expect(page.locator(".item.sel")).to_have_count(1)


def test_a_view_appears_when_it_is_ready(live_app: Any) -> None:
    """Choosing a policy shows progress, and then the view, without a click."""
    made = a_session()
    page = live_app.open(made.url())
    page.locator(".views a", has_text="type-aware").click()
    expect(page.locator(".job")).to_contain_text("Projecting a view")
    project(made, "type-aware")
    expect(page.locator("#chart[data-ready]")).to_be_visible()
    expect(page.locator(".views")).to_contain_text("counterfactual on a fixed transcript")


def test_copying_puts_the_context_into_the_clipboard(live_app: Any) -> None:
    """Verbatim JSON in the provider's format."""
    made = a_session()
    live_app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = live_app.open(made.url("/steps/21"))
    live_app.press("y")
    page.locator("[data-copy-from]", has_text="Anthropic").click()
    expect(page.locator("[data-copy-from]", has_text="Copied")).to_be_visible()
    assert "The port is 8433." in page.evaluate("navigator.clipboard.readText()")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_sticks_out(live_app: Any, width: int, scheme: str) -> None:
    """No page scrolls sideways, on a desk or on a telephone, in either theme."""
    made = a_session()
    made.view([Span(2, 2, Verdict.CLEARED, Reason.TIER1, 3)], name="type-aware")
    live_app.page.set_viewport_size({"width": width, "height": 844})
    live_app.page.emulate_media(color_scheme=scheme)
    for rest in (
        "",
        "/turns/1",
        "/steps/25",
        "/steps/25?show=left-out&item=3",
        "/items/3",
        "/steps/5?view=type-aware",
    ):
        page = live_app.open(made.url(rest))
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, rest


def test_on_a_telephone_the_open_step_and_the_parts_of_a_row_are_in_sight(live_app: Any) -> None:
    """The strip of steps begins at the one that is open; kind and size of an item share its first line."""
    made = a_session()
    live_app.page.set_viewport_size({"width": 390, "height": 844})
    page = live_app.open(made.url("/steps/15"))
    current = page.locator(".steps tr[aria-current]")
    strip = page.locator(".steps tbody").bounding_box()
    expect(page.locator("html[data-ready]")).to_be_attached()
    box = current.bounding_box()
    assert strip["x"] <= box["x"]
    assert box["x"] + box["width"] <= strip["x"] + strip["width"]
    row = page.locator("#context .item.k-result").first
    parts = [row.locator(name).bounding_box() for name in (".pos", ".kind", ".end")]
    assert len({round(part["y"] / 10) for part in parts}) == 1
    assert parts[0]["x"] < parts[1]["x"] < parts[2]["x"]
    assert parts[2]["x"] + parts[2]["width"] <= 390
