"""Longer texts of the sample sessions, one file each."""

from __future__ import annotations

from pathlib import Path


def text(name: str) -> str:
    """The text of `<name>.txt`, exactly as it lies there."""
    return (Path(__file__).parent / f"{name}.txt").read_text()
