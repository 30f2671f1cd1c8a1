"""Objects that are idle, as bytes: a few hundred instead of kilobytes of small dicts, lists and arrays."""

from __future__ import annotations

import pickle
from typing import Any

import zstandard

LEVEL = 1


class Packer:
    """Packs values that are alike: the first serves as the dictionary of all others.

    The bytes never leave the process: unpacking trusts them, and hashes of texts in them hold only there.
    """

    def __init__(self) -> None:
        self._compressor: zstandard.ZstdCompressor | None = None
        self._decompressor: zstandard.ZstdDecompressor | None = None

    def pack(self, value: Any) -> bytes:
        """The value with all that it holds; what it shares with others becomes a copy of its own."""
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        if self._compressor is None:
            alike = zstandard.ZstdCompressionDict(data, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
            self._compressor = zstandard.ZstdCompressor(level=LEVEL, dict_data=alike)
            self._decompressor = zstandard.ZstdDecompressor(dict_data=alike)
        # A copy, since the compressor's own bytes keep the room that the worst case would have needed.
        return bytes(memoryview(self._compressor.compress(data)))

    def unpack(self, packed: bytes) -> Any:
        """What `pack` of this packer was given."""
        assert self._decompressor is not None
        return pickle.loads(self._decompressor.decompress(packed))  # noqa: S301 -- made by `pack`
