"""What is known of a file already: nothing, all of it, its beginning, or something else."""

from __future__ import annotations

import hashlib
from enum import Enum
from typing import BinaryIO

from contextlab.importers.base import Source
from contextlab.store.models import LogFile

PIECE = 1 << 20


class Finding(Enum):
    """How the bytes relate to those that were read before."""

    NEW = "new"
    """Never read to its end (perhaps begun)."""
    SAME = "same"
    GREW = "grew"
    CHANGED = "changed"


def examine(file: LogFile, source: Source) -> Finding:
    """Compare the source with the size and hash of what was read from the file before; raises UnreadableFile."""
    if not file.sha256:
        return Finding.NEW
    with source.open() as stream:
        if _hash(stream, file.size) != file.sha256:
            return Finding.CHANGED
        return Finding.GREW if stream.read(1) else Finding.SAME


def _hash(stream: BinaryIO, size: int) -> str:
    """sha256 (hex) of the first `size` bytes, or of fewer where the stream ends before."""
    digest, left = hashlib.sha256(), size
    while left and (data := stream.read(min(PIECE, left))):
        digest.update(data)
        left -= len(data)
    return digest.hexdigest()
