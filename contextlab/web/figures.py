"""Numbers, sizes and times in words. Unknown is "unknown", never 0 and never NaN."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import TypeGuard

UNKNOWN = "unknown"


def _known(value: object) -> TypeGuard[float]:
    """A template hands on what it has, at times an empty string for a name it does not know."""
    return isinstance(value, int | float) and math.isfinite(value)


def compact(value: float | None) -> str:
    """A count of tokens in a few characters: 812, 118.4k, 1.2M."""
    if not _known(value):
        return UNKNOWN
    size = abs(value)
    if size < 1000:
        return f"{value:.0f}"
    # 999,960 would round to "1000k": the next unit takes over where rounding does.
    divisor, unit = (1000, "k") if size < 999_950 else (1_000_000, "M")
    text = f"{value / divisor:,.1f}"
    return text.removesuffix(".0") + unit


def exact(value: float | None) -> str:
    """A count in full: 143,020."""
    return f"{value:,.0f}" if _known(value) else UNKNOWN


def percent(value: float | None) -> str:
    """A percentage without decimals: 94 %; below one it says so."""
    if not _known(value):
        return UNKNOWN
    return "< 1 %" if 0 < value < 1 else f"{value:.0f} %"


def size(value: float | None) -> str:
    """Bytes in the units of disks: 812 B, 1.4 KB, 96 MB."""
    if not _known(value):
        return UNKNOWN
    amount = float(value)
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if amount < 999.5 or unit == "TB":
            break
        amount /= 1000
    shown = f"{amount:,.0f}" if unit == "B" or amount >= 9.95 else f"{amount:.1f}"
    return f"{shown} {unit}"


def ago(then: datetime | None, now: datetime) -> str:
    """How long ago, roughly; a date when it is more than a month or lies in the future."""
    if not isinstance(then, datetime):
        return UNKNOWN
    age = now - then
    if age < timedelta(minutes=-5) or age >= timedelta(days=31):
        return f"{then:%Y-%m-%d}"
    if age < timedelta(minutes=1):
        return "just now"
    if age < timedelta(hours=1):
        return f"{age.seconds // 60} min ago"
    if age < timedelta(days=1):
        return f"{age.seconds // 3600} h ago"
    return "yesterday" if age.days == 1 else f"{age.days} days ago"
