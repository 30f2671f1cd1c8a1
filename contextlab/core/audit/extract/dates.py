"""Dates in the formats people write, as year-month-day; a date that could be read two ways says both."""

from __future__ import annotations

import re

from contextlab.core.audit.extract.found import Found
from contextlab.core.audit.kinds import QUANTITY
from contextlab.core.audit.language.normalise import MONTHS
from contextlab.core.audit.language.subjects import around

_DATED = re.compile(r"(?:st|nd|rd|th|\.)?(?: of)?(?: [A-Za-z]{3,9}+\.?)?,? \d{4}\b")
"""What stands behind the day of every date with a name of a month, whether it is before or behind."""
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)")
_MONTH_BEHIND = re.compile(r"(?:st|nd|rd|th|\.)? (?:of )?([A-Za-z]{3,9})\.?,? (\d{4})\b")
_MONTH_BEFORE = re.compile(r"\b([A-Za-z]{3,9})\.? \Z")
_YEAR_BEHIND = re.compile(r"(?:st|nd|rd|th)?,? (\d{4})\b")


def date_at(text: str, start: int) -> Found | None:
    """A date in the form 2026-11-16 that begins here."""
    match = _ISO.match(text, start)
    if match is None or not (1 <= int(match.group(2)) <= 12 and 1 <= int(match.group(3)) <= 31):
        return None
    return _date(text, match.group(), match.group(), start, match.end())


def month_date(text: str, before: str, start: int, end: int, told: str) -> Found | None:
    """A date with the month's name before (Nov 16, 2026) or behind the day (16 November 2026)."""
    if len(told) > 2 or not told.isdigit() or _DATED.match(text, end) is None:
        return None
    if (match := _MONTH_BEHIND.match(text, end)) is not None and (
        month := MONTHS.get(match.group(1).lower())
    ):
        value = f"{match.group(2)}-{month:02}-{int(told):02}"
        return _date(text, value, text[start : match.end()], start, match.end())
    named = _MONTH_BEFORE.search(before[-12:])
    if named is not None and (month := MONTHS.get(named.group(1).lower())):
        year = _YEAR_BEHIND.match(text, end)
        if year is not None:
            shown = f"{named.group(1)} {text[start : year.end()]}"
            return _date(text, f"{year.group(1)}-{month:02}-{int(told):02}", shown, start, year.end())
    return None


def _date(text: str, value: str, shown: str, start: int, end: int) -> Found:
    return Found(QUANTITY, "date", value, shown, start, end, False, None, around(text, start, end))
