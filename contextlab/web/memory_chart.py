"""What writing observations took against what reading them takes, summed up over time, as inline SVG.

Steps, not slopes: between two days on which something was written nothing changed. Drawn with attributes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from django.utils.html import format_html
from django.utils.safestring import SafeString

WIDTH, HEIGHT = 600, 120


def cost_chart(days: Sequence[tuple[date, int, int, int]]) -> SafeString:
    """Discovery (paid) and read tokens up to each day; nothing where there are no days."""
    if not days:
        return SafeString("")
    top = max(1, *(max(paid, read) for _, paid, read, _ in days))
    paid, read = _steps([day[1] for day in days], top), _steps([day[2] for day in days], top)
    _, last_paid, last_read, _ = days[-1]
    label = f"tokens up to {days[-1][0]:%Y-%m-%d}: writing took {last_paid:,}, reading takes {last_read:,}"
    return format_html(
        '<svg class="costs" role="img" aria-label="{}" viewBox="0 -4 {} {}" preserveAspectRatio="none">'
        '<path class="read" d="{}"/><path class="paid" d="{}"/></svg>',
        label, WIDTH, HEIGHT + 8, read, paid,
    )  # fmt: skip


def _steps(values: Sequence[int], top: int) -> str:
    """A stepped line over the whole width, the last value held to the right edge."""
    wide = WIDTH / len(values)
    parts = []
    for at, value in enumerate(values):
        y = HEIGHT - value / top * HEIGHT
        parts.append(f"{'M' if not at else 'L'}{at * wide:.1f} {y:.1f}H{(at + 1) * wide:.1f}")
    return "".join(parts)
