"""Reading the environment: a default for everything, and a loud error for nonsense.

Every variable is read through one of these functions, and docs/production.md lists them all
(tests/config/test_documented.py holds the two together).
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from django.core.exceptions import ImproperlyConfigured

_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off"})


def text(name: str, default: str = "") -> str:
    """The variable without blanks around it; empty counts as not set."""
    return os.environ.get(name, "").strip() or default


def flag(name: str, *, default: bool) -> bool:
    """A yes or a no."""
    value = text(name).lower()
    if not value:
        return default
    if value in _YES or value in _NO:
        return value in _YES
    raise ImproperlyConfigured(f"{name} must be 1 or 0, not {value!r}.")


def number(name: str, default: int, *, least: int, most: int) -> int:
    """A whole number within its bounds, both included."""
    value = text(name)
    if not value:
        return default
    if not (value.isascii() and value.isdigit()) or not least <= int(value) <= most:
        raise ImproperlyConfigured(f"{name} must be a whole number from {least} to {most}, not {value!r}.")
    return int(value)


def choice(name: str, options: Sequence[str]) -> str:
    """One of the options; the first is the default."""
    value = text(name, options[0])
    if value not in options:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(options)}, not {value!r}.")
    return value


def names(name: str) -> list[str]:
    """A list separated by commas."""
    return [part.strip() for part in text(name).split(",") if part.strip()]
