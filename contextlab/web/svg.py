"""Bars and sparklines as inline SVG. Numbers only go in, so that nothing here can carry markup of a log.

Everything is drawn with attributes: the policy of the pages forbids style attributes. A sparkline is one path per
kind of mark, so that fifty of them stay far below the page's limit of nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from contextlab.core.items import KINDS, Kind
from contextlab.web.figures import compact
from contextlab.web.words import KIND_CLASSES, KIND_LABELS

SPARK_WIDTH, SPARK_HEIGHT, SPARK_TOP = 176, 30, 4
BAR_UNITS = 1000
_SHOWN = KINDS[: KINDS.index(Kind.UI)]


def composition_bar(
    composition: Sequence[int | None], maximum: float | None, width: str = "100%", height: int = 8
) -> SafeString:
    """Tokens by kind (in the order of KINDS, `ui` left out) as a bar; `maximum` is the full width."""
    values = [max(value or 0, 0) for value in composition[: len(_SHOWN)]]
    total = sum(values)
    full = max(maximum or 0, total)
    if not full:
        return _svg_bar(width, height, "no tokens known", SafeString(""))
    label = ", ".join(
        f"{KIND_LABELS[kind]} {compact(value)}" for kind, value in zip(_SHOWN, values, strict=False) if value
    )
    rects, left = [], 0.0
    for kind, value in zip(_SHOWN, values, strict=False):
        span = value / full * BAR_UNITS
        if span > 0:
            gap = 3 if span > 9 else 0
            # Our own words and numbers alone: a table has hundreds of these, and escaping them took most of their time.
            rects.append(
                f'<rect class="{KIND_CLASSES[kind]}" x="{left:.1f}" width="{span - gap:.1f}" height="{height:d}"/>'
            )
            left += span
    inner = SafeString("".join(rects))
    return _svg_bar(width, height, f"{label}; {compact(total)} of {compact(full)}", inner)


def _svg_bar(width: str, height: int, label: str, inner: SafeString) -> SafeString:
    return format_html(
        '<svg class="bar" role="img" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}"'
        ' preserveAspectRatio="none">{}</svg>',
        label, width, height, BAR_UNITS, height, inner,
    )  # fmt: skip


def meter(
    value: float | None, maximum: float | None, css: str = "", width: str = "100%", height: int = 8
) -> SafeString:
    """One value against a maximum as a bar of one colour (class `css` sets it with --c)."""
    share = min(max((value or 0) / maximum, 0), 1) if maximum else 0.0
    inner = format_html(
        '<rect class="{}" x="0" width="{}" height="{}"/>', css, f"{share * BAR_UNITS:.1f}", height
    )
    return _svg_bar(width, height, f"{compact(value)} of {compact(maximum)}", inner)


def sparkline(bars: Sequence[Sequence[float | None]], limit: float | None) -> SafeString:
    """A session's context size over its steps: [largest context, 1 if a compaction lies in it] per bar.

    The scale is the limit, or the peak where that is larger or the limit is unknown.
    """
    values = [bar[0] if bar else None for bar in bars]
    peak = max((value for value in values if value is not None), default=0)
    full = max(limit or 0, peak)
    room = SPARK_HEIGHT - SPARK_TOP
    pitch = SPARK_WIDTH / max(len(bars), 1)
    heights, cuts = [], []
    for index, bar in enumerate(bars):
        middle = f"{(index + 0.5) * pitch:.1f}"
        value = values[index]
        if value and full:
            heights.append(f"M{middle} {SPARK_HEIGHT}v-{max(value / full * room, 1):.1f}")
        if len(bar) > 1 and bar[1]:
            cuts.append(f"M{index * pitch:.1f} 0V{SPARK_HEIGHT}")
    top = SPARK_HEIGHT - limit / full * room if limit and full else None
    line = f"M0 {top:.1f}H{SPARK_WIDTH}" if top is not None else ""
    stroke = f"{min(pitch * 0.82, 16):.1f}"
    paths = [("bars", stroke, "".join(heights)), ("limit", "1", line), ("cuts", "1.4", "".join(cuts))]
    inner = format_html_join(
        "", '<path class="{}" stroke-width="{}" d="{}"/>', [path for path in paths if path[2]]
    )
    return format_html(
        '<svg class="spark" role="img" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}"'
        ' preserveAspectRatio="none">{}</svg>',
        _spark_label(peak, limit, len(cuts)), SPARK_WIDTH, SPARK_HEIGHT, SPARK_WIDTH, SPARK_HEIGHT, inner,
    )  # fmt: skip


def _spark_label(peak: float, limit: float | None, cuts: int) -> str:
    if not peak:
        return "no context sizes known"
    marks = f", {cuts} compaction mark{'s' if cuts != 1 else ''}" if cuts else ""
    return f"context size per step: peak {compact(peak)}, limit {compact(limit)}{marks}"
