"""Opening a source: what is decompressed, what is bounded, what is refused and in which words."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
import zstandard

from contextlab.importers.streams import Source, UnreadableFile, damage_of, open_source

LINES = b"".join(b'{"number": %d}\n' % number for number in range(5000))


def content(data: bytes, **source: int) -> bytes:
    """All bytes of a source made of these."""
    with Source("log.jsonl", data=data, **source).open() as stream:  # type: ignore[arg-type]
        return stream.read()


@pytest.mark.parametrize(
    "packed", [LINES, gzip.compress(LINES), zstandard.compress(LINES)], ids=["plain", "gz", "zst"]
)
def test_compression_is_told_by_the_first_bytes(packed: bytes) -> None:
    """Plain, gzip and zstd give the same bytes, whatever the file is called."""
    assert content(packed) == LINES


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
def test_frames_that_follow_each_other_are_one_stream(pack: object) -> None:
    """A file appended to in a second frame is read to its end."""
    assert callable(pack)
    assert content(pack(LINES) + pack(b"more\n")) == LINES + b"more\n"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
def test_damage_ends_the_stream_and_is_told(pack: object) -> None:
    """What stands before the damage is read; the stream says why it ended."""
    assert callable(pack)
    packed = pack(os.urandom(300_000).hex().encode())
    with Source("log", data=packed[: len(packed) // 2]).open() as stream:
        assert len(stream.read()) > 100_000
        assert "ends early" in (damage_of(stream) or "")


def test_reading_stops_at_the_limit() -> None:
    """A file that grows is read up to the size it had when the import began."""
    assert content(LINES, limit=20) == LINES[:20]
    assert content(zstandard.compress(LINES), limit=20) == LINES[:20]
    assert content(LINES, limit=0) == b""


def test_empty_is_fine() -> None:
    """An empty file is an empty stream."""
    assert content(b"") == b""


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n", "a picture (PNG)"),
        (b"PK\x03\x04....", "a ZIP archive; unpack it first"),
        (b"SQLite format 3\x00", "an SQLite database"),
        ("{}".encode("utf-16"), "UTF-16 text; save it as UTF-8"),
        (bytes(range(256)) * 40, "a binary file, not a log"),
        (b"\x28\xb5\x2f\xfd", "the compressed data ends early"),
    ],
)
def test_binary_content_is_named(data: bytes, reason: str) -> None:
    """What is no log is refused in words that say what it is."""
    with pytest.raises(UnreadableFile, match=reason.replace("(", r"\(").replace(")", r"\)")):
        content(data)


def test_nul_bytes_alone_do_not_make_a_file_binary() -> None:
    """An append that crashed leaves blocks of NUL: the log around them is still a log."""
    assert content(b"\x00" * 9000 + b'{"a": 1}\n').endswith(b'{"a": 1}\n')


def test_bad_paths_are_named(tmp_path: Path) -> None:
    """Missing files, folders and devices are refused with the reason."""
    for path, reason in (
        (tmp_path / "no", "no such file"),
        (tmp_path, "is a folder"),
        (Path("/dev/zero"), "regular"),
    ):
        with pytest.raises(UnreadableFile, match=reason):
            open_source(Source(path.name, path=path))
    with pytest.raises(UnreadableFile, match="neither a path nor content"):
        open_source(Source("nothing"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_missing_permission_is_named(tmp_path: Path) -> None:
    """A file that may not be read says so."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(LINES)
    path.chmod(0)
    with pytest.raises(UnreadableFile, match="no permission"):
        open_source(Source(path.name, path=path))


def test_bomb_does_not_fill_the_memory() -> None:
    """A gigabyte of blanks in a few kilobytes is read piece by piece."""
    compressor = zstandard.ZstdCompressor().compressobj()
    packed = b"".join(compressor.compress(b"\n" * (1 << 20)) for _ in range(64)) + compressor.flush()
    with Source("log", data=packed).open() as stream:
        assert max(len(stream.read1(1 << 30)) for _ in range(50)) <= 1 << 24  # type: ignore[attr-defined]
