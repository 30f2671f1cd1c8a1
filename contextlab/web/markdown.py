"""Markdown of a transcript as HTML that does nothing: no scripts, no pictures, no attributes but links' addresses.

Raw HTML in the source is shown as text, and what the renderer makes passes an allow-list on top, so that a fault
in either is not enough. This is the one place where text of a log becomes markup.
"""

from __future__ import annotations

from functools import cache

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

MARKDOWN_LIMIT = 64 * 1024
"""Characters. Rendering is worse than linear (5 MB took 27 s), and longer texts are read raw anyway."""

_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p",
    "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
# No img: a remote picture tells its server that the transcript was opened.
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_SCHEMES = {"http", "https", "mailto"}


def render_markdown(text: str) -> SafeString:
    """HTML of a Markdown text, safe to put on a page; ValueError above MARKDOWN_LIMIT characters."""
    if len(text) > MARKDOWN_LIMIT:
        raise ValueError("too long to render")
    clean = nh3.clean(
        _renderer().render(text),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener nofollow noreferrer",
        strip_comments=True,
    )
    return mark_safe(clean)  # noqa: S308 - cleaned by the allow-list above; tests feed it hostile texts


@cache
def _renderer() -> MarkdownIt:
    renderer = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 20})
    # Images become their own alternative text instead of vanishing: they were part of what the model wrote.
    return renderer.enable(["table", "strikethrough"]).disable("image")
