"""Rendering: what a log holds is shown without running it, calling home, or stalling the page."""

from __future__ import annotations

import time
from html.parser import HTMLParser

import pytest
from django.test import Client

from contextlab.core.items import Kind, Media
from contextlab.web.markdown import render_markdown
from tests.field_reports.reports import expected, given
from tests.web.made import Log, Made


class Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


def test_security_02_markdown_renders_no_markup_of_the_text() -> None:
    """An iframe with srcdoc, a javascript link, a remote picture, an htmx attribute: none is live."""
    checks, html = expected("security-02"), render_markdown(given("security-02")["text"])
    elements = Elements(html).found
    assert {tag for tag, _ in elements}.isdisjoint(checks["no_tags"])
    names = [name for _, values in elements for name in values]
    assert not [name for name in names if name.startswith(tuple(checks["no_attrs"]))]
    addresses = [value for _, values in elements for value in values.values()]
    assert not [
        value for value in addresses if value.startswith(tuple(f"{s}:" for s in checks["no_url_scheme"]))
    ]
    assert checks["contains"] in html


@pytest.mark.django_db
def test_encoding_06_megabytes_of_base64_are_named_not_printed(client: Client) -> None:
    """Type and size are shown; the data stays in the record."""
    repeated = given("encoding-06")["item"]["content"][0]["image_url"]["url"]["$repeat"]
    checks = expected("encoding-06")
    small, made = (picture("data:image/png;base64," + repeated * times) for times in (700, 700_000))
    for rest in ("/steps/1", "/items/1", "/items/1/body", "/items/2/body?all=1", "/items/2"):
        client.get(small.url(rest))  # what a first page of its kind loads is not what megabytes cost
        # The promise is about a machine of one's own: there a page takes the time of its own work, and no other.
        started = time.thread_time()
        html = client.get(made.url(rest)).content
        assert time.thread_time() - started < checks["ends_within_s"]
        assert len(html) <= checks["html_bytes_at_most"]
        assert repeated * 30 not in html.decode()
    assert checks["contains"] in client.get(made.url("/steps/1")).content.decode()


def picture(url: str) -> Made:
    """A session with a picture, and with its base64 printed as a result."""
    log = Log().ask("look").item(Kind.USER, "", media=(Media("image", "image/png", len(url)),))
    made = log.item(Kind.TOOL_RESULT, url).step(input=1).save()
    made.view([])
    return made


@pytest.mark.parametrize(
    "text",
    [
        "[" * 20_000,
        "> " * 5_000 + "x",
        "`" * 9_999,
        "*a " * 9_000,
        "|" * 20_000,
        "- " * 9_000,
        "\x00\ufeff\u202e",
    ],
)
def test_hostile_markdown_ends_soon(text: str) -> None:
    """Nesting and runs that make naive renderers quadratic."""
    started = time.process_time()
    render_markdown(text)
    assert time.process_time() - started < 3


def test_markdown_beyond_the_limit_is_refused() -> None:
    """The caller shows it raw."""
    with pytest.raises(ValueError, match="too long"):
        render_markdown("x" * 70_000)
