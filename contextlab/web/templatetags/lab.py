"""The tags and filters of every template (built in: no `load` needed).

{{ 118400|tokens }} 118.4k      {{ n|exact }} 143,020      {{ p|percent }} 94 %      {{ b|filesize }} 96 MB
{% when session.last_at %}      <time> with "2 min ago" and the full time on hover
{{ item.kind|kind_class }}      k-result      {{ item.kind|kind_label }}   tool result
{{ text|ticks }}                `code` as code   {{ "read_files"|spaced }}  read files
{% verdict "cleared" reason %}  the badge     {{ reason|reason_label }}
{% source "counted" %}          where a figure comes from, with its meaning on hover
{% sources "logged" "reported" %}   of two figures side by side
{% measured rule threshold view.counted %}   of the figure that a decision went by
{% bar composition limit %}     tokens by kind      {% meter 3 10 "k-user" %}
{% fact_strip counts %}         what became of facts
{% sparkline bars limit %}      {% kind_legend %}   {% verdict_legend "k-result" %}
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from contextlab.core.items import KINDS, VERDICTS, Kind, Verdict
from contextlab.web import figures, svg, words
from contextlab.web.decision_words import figure_source
from contextlab.web.fact_strip import fact_strip

register = template.Library()

register.filter("tokens", figures.compact)
register.filter("exact", figures.exact)
register.filter("percent", figures.percent)
register.filter("filesize", figures.size)
register.filter("kind_class", words.kind_class)
register.filter("kind_label", words.kind_label)
register.filter("verdict_name", words.verdict_name)
register.filter("format_label", words.format_label)
register.simple_tag(svg.composition_bar, name="bar")
register.simple_tag(svg.meter, name="meter")
register.simple_tag(svg.sparkline, name="sparkline")
register.simple_tag(fact_strip, name="fact_strip")


@register.filter
def reason_label(reason: str | None) -> str:
    """A reason in words."""
    return words.REASON_LABELS.get(reason or "", (reason or "").replace("_", " "))


@register.filter
def verdict_label(verdict: str | int) -> str:
    """A verdict in words."""
    name = words.verdict_name(verdict)
    return words.VERDICT_LABELS.get(name, name.replace("_", " "))


@register.filter
def ago(then: datetime | None) -> str:
    """How long ago, as text."""
    return figures.ago(then, timezone.now())


@register.filter
def ticks(text: str) -> SafeString:
    """A text in which what stands between back-ticks is code; all of it escaped."""
    parts = str(text).split("`")
    if len(parts) % 2 == 0:  # one tick has no partner: it is a tick
        parts[-2:] = [f"{parts[-2]}`{parts[-1]}"]
    return format_html_join(
        "",
        "{}",
        ((format_html("<code>{}</code>", part) if at % 2 else part,) for at, part in enumerate(parts)),
    )


@register.filter
def at(values: dict[object, object], key: object) -> object:
    """What stands under a key, None where nothing does."""
    return values.get(key)


@register.filter
def at_place(values: Sequence[object], place: int) -> object:
    """What stands at a place of a list."""
    return values[place]


@register.filter
def share(value: float | None) -> str:
    """A share of one as per cent with one place; unknown stays unknown."""
    return "unknown" if value is None else f"{value * 100:.1f} %"


@register.filter
def spaced(name: str) -> str:
    """A name with blanks for its underscores."""
    return name.replace("_", " ")


@register.simple_tag
def when(then: datetime | None, unknown: str = "no time in the log") -> SafeString:
    """How long ago, with the exact time on hover."""
    if not isinstance(then, datetime):
        return format_html('<span class="faint">{}</span>', unknown)
    stamp, text = then.isoformat(timespec="seconds"), f"{then:%Y-%m-%d %H:%M} UTC"
    return format_html('<time datetime="{}" title="{}">{}</time>', stamp, text, ago(then))


@register.simple_tag
def verdict(name: str | int, reason: str | None = None) -> SafeString:
    """The badge of a verdict; its reason, else its meaning, on hover."""
    known = words.verdict_name(name)
    title = reason_label(reason) or words.VERDICT_MEANINGS.get(known, "")
    return format_html('<span class="v {}" title="{}">{}</span>', known, title, verdict_label(known))


@register.simple_tag
def source(name: str | None) -> SafeString:
    """Where a figure comes from; nothing for an unknown figure."""
    if not name:
        return SafeString("")
    return format_html('<span class="src" title="{}">{}</span>', words.SOURCE_MEANINGS.get(name, name), name)


@register.simple_tag
def measured(rule: str, threshold: int | None, counted: bool) -> SafeString:
    """Where the figure is from that a rule held against its threshold; nothing for numbers of things."""
    return source(figure_source(rule, threshold, counted))


@register.simple_tag
def sources(before: str, after: str) -> SafeString:
    """Where two figures side by side come from; nothing where both are unknown."""
    said = words.sources_said(before, after)
    meanings = "; ".join(words.SOURCE_MEANINGS.get(name, name) for name in said.split(" → "))
    return format_html('<span class="src" title="{}">{}</span>', meanings, said) if said else SafeString("")


@register.simple_tag
def kind_legend(kinds: Sequence[str] | None = None) -> SafeString:
    """Swatches of the kinds: all that can stand in a context, or those given."""
    shown = kinds if kinds is not None else [kind for kind in KINDS if kind != Kind.UI]
    rows = ((words.kind_class(kind), words.kind_label(kind)) for kind in shown)
    swatches = format_html_join("", '<span><i class="sw {}"></i>{}</span>', rows)
    return format_html('<div class="legend">{}</div>', swatches)


@register.simple_tag
def verdict_legend(css: str = "k-result") -> SafeString:
    """Swatches of the verdicts in the colour of one kind, with their meaning on hover."""
    shown = (verdict for verdict in VERDICTS if verdict != Verdict.REASONING_CLEARED)
    rows = ((words.VERDICT_MEANINGS[name], css, name.value, words.VERDICT_LABELS[name]) for name in shown)
    swatches = format_html_join("", '<span title="{}"><i class="sw {} {}"></i>{}</span>', rows)
    return format_html('<div class="legend">{}</div>', swatches)
