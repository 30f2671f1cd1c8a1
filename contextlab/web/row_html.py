"""The HTML of the rows of a context: one formatted string each, everything from a log escaped by `format_html`.

Not a template: a page has some seventy of these rows, and as a template they took half of its time.
"""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString

from contextlab.web import words
from contextlab.web.rows import Shown, ShownFold, ShownGap, ShownGroup, ShownItem

_NOTHING = SafeString("")
_NEW = SafeString('<span class="v new">new</span>')

_ITEM = (
    '<div class="item {kind} {verdict}{new_class}{selected}" id="i{position}" data-row>'
    '<i></i><span class="pos">#{position}</span><span class="kind">{kind_label}</span>'
    '<a class="body{mono}" data-open href="{page}" hx-get="{body}" hx-target="#b{position}"'
    ' aria-expanded="false" aria-controls="b{position}"{original}>{tool}{text}{media}</a>'
    '<span class="end">{note}{new}{badge}<span class="n" title="{size_words}">{size}</span></span></div>\n'
    '<div class="opened" id="b{position}"{loads}></div>\n'
)
_FOLD = (
    '<div class="item gone {verdict}" data-row{loads}><i></i><span class="pos">#{first}{last}</span>'
    '<span class="kind">{count} item{plural}</span><a class="body" data-open href="{page}" hx-get="{address}"'
    ' hx-target="closest .item" hx-swap="outerHTML">{words} · <span class="link">show {them}</span></a>'
    '<span class="end">{badge}</span></div>\n'
)
_GAP = (
    '<div class="item gap"><i></i><span class="pos">#{first}</span><span class="kind">… #{last}</span>'
    '<a class="body" href="{address}" hx-get="{address}" {target}>{words}</a><span class="end"></span></div>\n'
)
_SUMMARY = '<a class="v {verdict}" href="{address}" title="{title}: read it">{label} into {into}</a>'
_IN_PLACE = SafeString('hx-target="closest .item" hx-swap="outerHTML"')
_NEW_LIST = SafeString('hx-target="#context" hx-swap="outerHTML" hx-push-url="true"')


def row_html(row: Shown) -> SafeString:
    """A row as HTML."""
    if isinstance(row, ShownItem):
        return _item(row)
    if isinstance(row, ShownFold):
        return _fold(row)
    if isinstance(row, ShownGap):
        target = _IN_PLACE if row.in_fold else _NEW_LIST
        return format_html(
            _GAP, first=row.first, last=row.last, address=row.address, target=target, words=row.words
        )
    assert isinstance(row, ShownGroup)
    return format_html('<h3 class="group">{}</h3>\n', row.words)


def _item(row: ShownItem) -> SafeString:
    badge = _NOTHING if row.is_new and row.verdict == "kept" else _badge(row.verdict, row.reason)
    return format_html(
        _ITEM,
        kind=words.kind_class(row.kind),
        kind_label=words.kind_label(row.kind),
        verdict=row.verdict,
        new_class=" new" if row.is_new else "",
        selected=" sel" if row.selected else "",
        position=row.position,
        mono=" mono" if row.mono else "",
        page=row.page,
        body=row.body,
        tool=format_html("<b>{}</b> ", row.tool) if row.tool else _NOTHING,
        original=format_html(' title="the original begins: {}"', row.original) if row.original else _NOTHING,
        text=row.text,
        media=format_html(' <span class="tag">{}</span>', row.media_words) if row.media_words else _NOTHING,
        note=format_html('<span class="sub">{}</span>', row.note) if row.note else _NOTHING,
        new=_NEW if row.is_new else _NOTHING,
        badge=badge,
        size=row.size,
        size_words=row.size_words,
        loads=format_html(' hx-get="{}" hx-trigger="load"', row.body) if row.selected else _NOTHING,
    )


def _fold(row: ShownFold) -> SafeString:
    loads = (
        format_html(' hx-get="{}" hx-trigger="load" hx-swap="outerHTML"', row.address)
        if row.auto
        else _NOTHING
    )
    return format_html(
        _FOLD,
        verdict=row.verdict,
        loads=loads,
        first=row.first,
        last=f" … {row.last}" if row.last != row.first else "",
        count=f"{row.count:,}",
        plural="" if row.count == 1 else "s",
        page=row.page,
        address=row.address,
        words=row.words,
        them="it" if row.count == 1 else "them",
        badge=_badge(row.verdict, row.reason, row.summary, row.into),
    )


def _badge(verdict: str, reason: str, address: str = "", into: str = "") -> SafeString:
    name = words.verdict_name(verdict)
    title = words.REASON_LABELS.get(reason, reason.replace("_", " ")) or words.VERDICT_MEANINGS.get(name, "")
    label = words.VERDICT_LABELS.get(name, name)
    if address:
        return format_html(_SUMMARY, address=address, verdict=name, title=title, label=label, into=into)
    return format_html('<span class="v {}" title="{}">{}</span>', name, title, label)
