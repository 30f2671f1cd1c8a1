"""Bands of steps as a strip: where the model had a text verbatim, as a stub, in a summary, or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from contextlab.core.audit.last_seen import Band, Seen

WIDTH, HEIGHT = 1000, 14
MOST = 60
WORDS = {
    Seen.VERBATIM: "word for word",
    Seen.SUMMARY: "in a summary",
    Seen.CHANGED: "changed in a summary",
    Seen.SEALED: "behind a summary that cannot be read",
    Seen.STUB: "as a stub",
    Seen.NONE: "not visible",
}


def band_strip(bands: Sequence[Band], steps: int) -> SafeString:
    """The strip over all steps; at most MOST bands are drawn, the rest is in the words beside it."""
    if not steps:
        return SafeString("")
    rects = []
    for band in list(bands)[:MOST]:
        if band.seen is Seen.NONE:
            continue
        left, wide = (band.first - 1) / steps * WIDTH, (band.end - band.first) / steps * WIDTH
        rects.append((band.seen, f"{left:.1f}", f"{max(wide, 2):.1f}", HEIGHT))
    inner = format_html_join("", '<rect class="{}" x="{}" width="{}" height="{}"/>', rects)
    return format_html(
        '<svg class="bands" role="img" aria-label="{}" viewBox="0 0 {} {}" preserveAspectRatio="none">{}</svg>',
        in_words(bands), WIDTH, HEIGHT, inner,
    )  # fmt: skip


def in_words(bands: Sequence[Band], most: int = 4) -> str:
    """The bands at which anything of it was there: `1 to 96 word for word, 97 to 220 in a summary`."""
    told = [band for band in bands if band.seen is not Seen.NONE]
    parts = []
    for band in told[:most]:
        last = band.end - 1
        where = f"{band.first:,}" if last <= band.first else f"{band.first:,} to {last:,}"
        parts.append(f"{where} {WORDS[band.seen]}")
    if len(told) > most:
        parts.append(f"and {len(told) - most} more stretches")
    return ", ".join(parts) or "at no step"
