"""Reading an answer as a browser with our Content-Security-Policy would: what tests of all pages share."""

from __future__ import annotations

import gzip
from html.parser import HTMLParser
from typing import Any

MOST_NODES = 3_000
MOST_BYTES = 150_000
_URL_ATTRIBUTES = frozenset({"href", "src", "action", "formaction", "poster", "data", "hx-get", "hx-post"})


class Page(HTMLParser):
    """The elements of a page, and what in it the policy forbids."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.forbidden: list[str] = []
        self.texts: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.elements.append((tag, values))
        self._inside = tag
        if tag in ("style", "iframe", "object", "embed", "base"):
            self.forbidden.append(f"<{tag}>")
        for name, value in values.items():
            if name == "style" or name.startswith(("on", "hx-on")):
                self.forbidden.append(f"{name}={value!r} on <{tag}>")
            if name in _URL_ATTRIBUTES and not value.startswith(("/", "?", "#")) and value:
                self.forbidden.append(f"{name}={value!r} on <{tag}>")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._inside == "script" and data.strip():
            self.forbidden.append("an inline script")

    @property
    def text(self) -> str:
        """What a person reads, blanks made one."""
        return " ".join(" ".join(self.texts).split())

    def all(self, tag: str, **attributes: str) -> list[dict[str, str]]:
        """The attributes of the elements of this tag that have all of these."""
        wanted = {name.replace("_", "-").strip("-"): value for name, value in attributes.items()}
        return [have for found, have in self.elements if found == tag and wanted.items() <= have.items()]


def read(response: Any, status: int = 200) -> Page:
    """The page of an answer, after checking what holds for every page."""
    assert response.status_code == status, response.content[:300]
    html = response.content.decode()
    page = Page(html)
    assert page.forbidden == []
    assert len(page.elements) <= MOST_NODES
    assert len(gzip.compress(response.content)) <= MOST_BYTES
    return page
