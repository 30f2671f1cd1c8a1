"""Whatever a log holds is shown as text on the pages of a session, too."""

from __future__ import annotations

import pytest
from django.test import Client

from contextlab.core.items import Kind, Media, Reason, Verdict
from contextlab.core.spans import Span
from contextlab.store.models import ItemRecord, LinkRecord, StepReport
from tests.web.made import Log, Made, a_start
from tests.web.pages import Page, read
from tests.web.test_hostile import HARMLESS, MARK, PAYLOADS

pytestmark = pytest.mark.django_db
OURS = HARMLESS | {"canvas", "pre", "h3", "caption", "defs", "pattern", "title", "strong"}


def poisoned(payload: str) -> Made:
    """A session with the payload in every field that comes out of a log."""
    short = payload[:200]
    start = a_start(
        title=payload[:300],
        model=payload[:120],
        project=payload,
        branch=short,
        agent=short,
        version=short[:60],
    )
    log = Log(start).item(Kind.SYSTEM, payload).ask(payload).step(input=5)
    log.think(payload).call(short, payload).result(payload, error=True, original=f"x/tool-results/{short}")
    log.item(Kind.USER, payload, media=(Media(short, short, 5),), label=short[:60])
    log.item(Kind.UI, payload, label=short[:60]).step(input=6)
    made = log.save(
        agent=short[:120], branch=short, version=short[:60], format=short[:40], parent_native_id=short
    )
    view = made.view(
        [Span(2, 3, Verdict.CLEARED, Reason.TIER1, 2), Span(1, 1, Verdict.DROPPED, Reason.MAX_ITEMS, 2)]
    )
    StepReport.objects.filter(view=view).update(notes=[payload], source_faults=[payload], finding=short[:40])
    ItemRecord.objects.filter(session=made.session).update(
        injected=short[:20], call_id=short, native_id=short
    )
    LinkRecord.objects.create(session=made.session, child_native_id=short, call_id=short, agent=short[:120])
    return made


def check(page: Page, payload: str) -> None:
    assert {tag for tag, _ in page.elements} <= OURS
    scripts = [values.get("src", "") for values in page.all("script")]
    assert all(source.startswith("/static/") for source in scripts)
    ours = ("/sessions/", "/runs/")
    for _, values in page.elements:
        assert values.get("hx-get", "/sessions/").startswith((*ours, "?"))
        assert "load" not in values.get("hx-trigger", "") or values["hx-get"].startswith(ours)
        assert "data-open-dialog" not in values or values["data-open-dialog"] in ("delete", "keys")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_in_every_field_of_a_context(client: Client, payload: str) -> None:
    """Every page and fragment of the session, in every state."""
    made = poisoned(payload.replace("\x00", ""))
    for rest in (
        "", "?turn=1", "/steps", "/turns/1", "/steps/1", "/steps/2", "/steps/2?show=left-out", "/steps/2?show=cleared",
        "/steps/2?show=changes", "/steps/2?item=3", "/steps/2/run?first=0&last=9", "/steps/2/left-out", "/items/0",
        "/items/2", "/items/3", "/items/4", "/items/5", "/items/6", "/items/3/body?step=2", "/items/4/record",
    ):  # fmt: skip
        check(read(client.get(made.url(rest))), payload)
    assert MARK in read(client.get(made.url("/steps/2"))).text


@pytest.mark.parametrize("payload", PAYLOADS)
def test_as_markdown_nothing_of_it_is_live(client: Client, payload: str) -> None:
    """The rendered form has no element but those of prose, and only addresses of the web."""
    made = Log().ask(payload.replace("\x00", "")).step(input=1).save()
    page = Page(client.get(made.url("/items/0/body?as=markdown")).content.decode())
    tags = {tag for tag, _ in page.elements}
    assert tags <= OURS | {"em", "blockquote", "ol", "hr"}
    for tag, values in page.elements:
        assert not [name for name in values if name.startswith("on") or name in ("style", "src", "srcdoc")]
        if tag == "a":
            assert values["href"].startswith(("/", "https:", "http:", "mailto:"))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_downloads_and_data_are_never_shown_as_pages(client: Client, payload: str) -> None:
    """Copies are JSON, texts are attachments, and no sniffing turns them into HTML."""
    made = poisoned(payload.replace("\x00", ""))
    for rest in (
        "/steps/2/copy/json",
        "/steps/2/copy/anthropic",
        "/items/0/text",
        "/chart.json",
        "/map.json",
    ):
        answer = client.get(made.url(rest))
        assert answer.status_code == 200
        assert "html" not in answer.headers["Content-Type"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
