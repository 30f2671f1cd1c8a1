"""Ids of what a compaction writes: the same memory read again gives the same ids, so a second attempt repeats."""

from __future__ import annotations

import hashlib

from contextlab.core.compaction import IdSource
from contextlab.services.compaction.memory import Held


def new_id(held: Held, salt: str = "") -> IdSource:
    """Ids for one run (its `salt`) over one memory."""
    count = 0

    def make(what: str) -> str:
        nonlocal count
        count += 1
        said = f"{held.view.uid.hex} {held.at_step} {held.snapshot.version} {salt} {count}"
        return f"{what}-{hashlib.sha256(said.encode()).hexdigest()[:20]}"

    return make
