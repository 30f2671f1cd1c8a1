"""What became of facts, as a strip: shares of verdicts side by side, with their words for those who cannot see it."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

WIDTH, HEIGHT = 1000, 10


def fact_strip(counts: Sequence[tuple[str, int]]) -> SafeString:
    """A strip of (verdict, number) pairs; nothing where there are no facts."""
    total = sum(number for _, number in counts)
    if not total:
        return SafeString("")
    shown = [(name, number) for name, number in counts if number]
    label = ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in shown)
    rects, left = [], 0.0
    for name, number in shown:
        wide = number / total * WIDTH
        rects.append((name, f"{left:.1f}", f"{max(wide - 2, 1):.1f}", HEIGHT))
        left += wide
    inner = format_html_join("", '<rect class="{}" x="{}" width="{}" height="{}"/>', rects)
    return format_html(
        '<svg class="strip" role="img" aria-label="{}" viewBox="0 0 {} {}" preserveAspectRatio="none">'
        "<title>{}</title>{}</svg>",
        label, WIDTH, HEIGHT, label, inner,
    )  # fmt: skip
