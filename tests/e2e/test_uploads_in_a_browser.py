"""Adding logs in a real browser: chosen, dropped, refused; sessions appear as they land. And deleting them again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from contextlab.services import actions
from contextlab.store.models import Run, RunState
from tests.factories import a_session
from tests.web.test_imports import a_log

pytestmark = [pytest.mark.django_db(transaction=True)]


def work(runs: int = 1) -> None:
    """Be the worker: wait until that many runs are queued, and do all there are."""
    for _ in range(100):
        if Run.objects.count() >= runs:
            break
        time.sleep(0.1)
    while waiting := list(Run.objects.filter(state=RunState.QUEUED)):
        actions.perform(waiting[0])


def test_chosen_files_become_sessions(live_app: Any, tmp_path: Path) -> None:
    """From the first page: choose, see it being read, see it in the list, without a reload."""
    log = tmp_path / "8d1c.jsonl"
    log.write_bytes(a_log("Fix the cleanup test"))
    page = live_app.open()
    expect(page.get_by_text("Drop files or folders anywhere").first).to_be_visible()
    page.locator("#sessions input[data-upload-files]:not([data-upload-folder])").set_input_files(str(log))
    expect(page.locator("#activity")).to_contain_text("1 waiting")
    work()
    expect(page.locator("tr[data-row]")).to_contain_text("Fix the cleanup test")
    expect(page.locator("#activity")).to_contain_text("1 log read")
    expect(page.locator("#totals")).to_contain_text("1 session")


def test_a_whole_folder(live_app: Any, tmp_path: Path) -> None:
    """What may be a log is sent with its place; what cannot be is left alone."""
    folder = tmp_path / "acme"
    (folder / "8d1c" / "subagents").mkdir(parents=True)
    (folder / "8d1c.jsonl").write_bytes(a_log())
    (folder / "8d1c" / "subagents" / "agent-1.jsonl").write_bytes(a_log("look around"))
    (folder / "notes.md").write_text("no log")
    a_session()
    page = live_app.open()
    page.get_by_role("button", name="Add logs").click()
    page.locator("#add input[data-upload-folder]").set_input_files(str(folder))
    work(2)
    names = sorted(Run.objects.values_list("target", flat=True))
    assert len(names) == 2
    expect(page.locator("#activity")).to_contain_text("2 logs read")


def test_a_late_answer_hides_no_later_upload(live_app: Any, tmp_path: Path) -> None:
    """What was sent while the panel waited for an older answer is shown all the same."""
    log = tmp_path / "8d1c.jsonl"
    log.write_bytes(a_log())
    a_session()
    page = live_app.open()
    late: list[Any] = []

    def hold_the_first(route: Any) -> None:
        if late:
            route.continue_()
        else:
            late.extend((route, route.fetch()))

    page.route("**/activity?*", hold_the_first)
    page.evaluate("document.body.dispatchEvent(new CustomEvent('lab:refresh'))")
    while len(late) < 2:
        page.wait_for_timeout(50)
    page.get_by_role("button", name="Add logs").click()
    with page.expect_response("**/imports"):
        page.locator("#add input[data-upload-files]:not([data-upload-folder])").set_input_files(str(log))
    page.wait_for_timeout(200)  # the page has asked for news, behind the answer that is still out
    late[0].fulfill(response=late[1])
    expect(page.locator("#activity")).to_contain_text("1 waiting")


def test_dropped_files(live_app: Any) -> None:
    """Anywhere on the page; while something is held over it, it says so."""
    a_session()
    page = live_app.open()
    transfer = page.evaluate_handle(
        """(text) => { const transfer = new DataTransfer();
        transfer.items.add(new File([text], "dropped.jsonl")); return transfer; }""",
        a_log("Dropped").decode(),
    )
    page.dispatch_event("body", "dragenter", {"dataTransfer": transfer})
    expect(page.locator("#dropzone")).to_be_visible()
    page.dispatch_event("body", "drop", {"dataTransfer": transfer})
    expect(page.locator("#dropzone")).to_be_hidden()
    work()
    expect(page.locator("tr[data-row]", has_text="Dropped")).to_be_visible()


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(
    live_app: Any, settings: Any, tmp_path: Path
) -> None:
    """With the limit in the message; the others are sent."""
    settings.MAX_UPLOAD_BYTES = 1024 * 1024
    large, small = tmp_path / "large.jsonl", tmp_path / "small.jsonl"
    large.write_bytes(b"x" * (1024 * 1024 + 1))
    small.write_bytes(a_log())
    page = live_app.open()
    chooser = page.locator("#sessions input[data-upload-files]:not([data-upload-folder])")
    chooser.set_input_files([str(large), str(small)])
    expect(page.locator("#upload-errors")).to_contain_text("uploads end at 1 MB")
    work()
    expect(page.locator("tr[data-row]")).to_have_count(1)


def test_what_cannot_be_read_says_why_and_leads_to_its_report(live_app: Any, tmp_path: Path) -> None:
    """The importer's words on the page, and the report one click away."""
    notes = tmp_path / "notes.txt"
    notes.write_text("no log at all\n")
    page = live_app.open()
    page.locator("#sessions input[data-upload-files]:not([data-upload-folder])").set_input_files(str(notes))
    work()
    expect(page.locator("#activity .notice")).to_contain_text("unknown format")
    page.get_by_role("link", name="import report").click()
    expect(page.get_by_text("It could not be read.")).to_be_visible()


def test_deleting_asks_in_a_dialog(live_app: Any) -> None:
    """Escape keeps it, the button deletes it."""
    a_session(title="Keep me")
    gone = a_session(title="Delete me")
    page = live_app.open()
    question = page.locator("#ask")
    page.get_by_role("link", name="Delete Delete me").click()
    expect(question).to_contain_text("Delete this session?")
    live_app.press("Escape")
    expect(question).to_be_hidden()
    page.get_by_role("link", name="Delete Delete me").click()
    question.get_by_role("button", name="Delete").click()
    expect(page.locator("tr[data-row]")).to_have_count(1)
    expect(page.locator(f"#s-{gone.uid}")).to_have_count(0)


def test_deleting_everything_needs_its_words(live_app: Any) -> None:
    """The button works once they are typed."""
    a_session()
    page = live_app.open("/data")
    button = page.get_by_role("button", name="Delete everything")
    page.get_by_label("Type delete everything").fill("delete")
    expect(button).to_be_disabled()
    page.get_by_label("Type delete everything").fill("delete everything")
    button.click()
    expect(page.get_by_text("none yet")).to_be_visible()
