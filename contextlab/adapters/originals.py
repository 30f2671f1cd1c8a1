"""Originals that an agent stored beside its own log, read from where they lie.

The place comes out of a log, so it is not trusted: only a regular file inside a folder `tool-results` next to the log
(or, for a subagent's log, one folder up) is read.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = "tool-results"


def read_original(log: str, place: str, most: int) -> bytes | None:
    """At most `most` bytes of the original at `place`, relative to the log; None when it is gone."""
    found = find_original(log, place)
    if found is None:
        return None
    try:
        with found.open("rb") as stream:
            return stream.read(most)
    except OSError:
        return None


def find_original(log: str, place: str) -> Path | None:
    """The file itself, None when it is gone or the place is not one to read from."""
    if not log or not place or "\x00" in place:
        return None
    above = place.startswith(f"../{FOLDER}/")
    try:
        root = Path(log).parent.resolve()
        root = root.parent if above else root
        found = (Path(log).parent / place).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    return found if found.parent.name == FOLDER and found.is_relative_to(root) and found.is_file() else None
