"""Records of JSON Lines: good lines fast, bad lines with patience, never a silent loss."""

from __future__ import annotations

import tracemalloc
from typing import Any

import msgspec
import pytest

from contextlab.core.events import FileReport
from contextlab.core.texts import clean
from contextlab.importers.lines import LINE_LIMIT, Record, parse_text, records
from contextlab.importers.streams import Source


def read(data: bytes, **options: Any) -> tuple[list[Record], FileReport]:
    """All records of these bytes."""
    report = FileReport()
    with Source("log", data=data).open() as stream:
        return list(records(stream, report, **options)), report


def values(data: bytes) -> list[Any]:
    """What the records hold."""
    return [record.value for record in read(data)[0]]


def test_every_record_knows_its_place() -> None:
    """Line, offset and length of a record lead back to its bytes, also where two stand on one line."""
    data = b'{"a":1}{"b":2} [3]\r\n\n  {"c":"\xc3\xa9"}\n\xef\xbb\xbf{"d":4}\n'
    found, report = read(data)
    assert [(record.line, data[record.offset :][: record.length]) for record in found] == [
        (1, b'{"a":1}'),
        (1, b'{"b":2}'),
        (1, b"[3]"),
        (3, b'  {"c":"\xc3\xa9"}'),
        (4, b'{"d":4}'),
    ]
    assert (report.lines, report.records, report.skipped, report.warnings) == (4, 5, [], [])


def test_only_the_broken_remainder_is_skipped() -> None:
    """What stands before the damage of a line is read; the rest is named with line, reason and byte."""
    found, report = read(b'{"a":1}{"b":\n{"c":3}\n')
    assert [record.value for record in found] == [{"a": 1}, {"c": 3}]
    assert report.skipped == [(1, "not JSON: expecting value (from byte 7 of the line)")]


def test_last_line_may_be_written_still() -> None:
    """A last line that does not end and cannot be parsed is no error; one that can be parsed is a record."""
    assert read(b'{"a":1}\n{"b": "hal')[1].warnings == ["line 2: incomplete, still being written"]
    assert read(b'{"a":1}\n{"b": "hal')[1].skipped_total == 0
    assert values(b'{"a":1}\n{"b":2}') == [{"a": 1}, {"b": 2}]


def test_nul_bytes_of_a_crashed_append_cost_nothing_else() -> None:
    """A line of NUL bytes is skipped with its reason; NUL before a record leaves the record."""
    found, report = read(b'{"a":1}\n' + b"\x00" * 4096 + b'\n{"b":2}\n' + b"\x00\x00" + b'{"c":3}\n')
    assert [record.value for record in found] == [{"a": 1}, {"b": 2}, {"c": 3}]
    assert report.skipped == [
        (2, "NUL bytes (an interrupted write)"),
        (4, "NUL bytes (an interrupted write)"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a":NaN}', "NaN is not JSON"),
        (b'{"a":[-Infinity]}', "-Infinity is not JSON"),
        (b'{"a":1e400}', "a number too large for any field"),
        (b'{"a":' + b"9" * 5001 + b"}", "a number of 5001 digits"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
    ],
    ids=["nan", "infinity", "overflow", "digits", "lists", "objects"],
)
def test_refused_values_are_named(line: bytes, reason: str) -> None:
    """NaN, Infinity, overflow and absurd depth cost their record, with the reason, and nothing else."""
    found, report = read(line + b'\n{"b":1}\n')
    assert [record.value for record in found] == [{"b": 1}]
    assert report.skipped == [(1, reason)]


def test_numbers_keep_their_digits() -> None:
    """Whole numbers beyond 64 bits stay exact."""
    assert values(b'{"order":107505301260286111,"big":123456789012345678901234567890}\n') == [
        {"order": 107505301260286111, "big": 123456789012345678901234567890}
    ]


def test_bad_bytes_are_replaced_and_counted() -> None:
    """Bytes that are not UTF-8 become U+FFFD; the record is kept and a warning counts them."""
    found, report = read(b'{"a":"\xffx\xfe"}\n')
    assert found[0].value == {"a": "\ufffdx\ufffd"}
    assert found[0].raw == b'{"a":"\xffx\xfe"}'
    assert report.warnings == ["line 1: 2 bytes that are not UTF-8 were replaced"]


def test_lone_surrogates_become_replacement_characters() -> None:
    """Half a surrogate pair cannot be stored: it becomes U+FFFD; whole pairs stay."""
    assert values(b'{"a":"\\ud800 \\ud83c\\udf89","\\udc00":1}\n') == [{"a": "\ufffd 🎉", "\ufffd": 1}]


def test_raw_control_characters_are_read() -> None:
    """Control characters that JSON wants escaped do not cost the record."""
    assert values(b'{"a":"x\x01y\ttab"}\n') == [{"a": "x\x01y\ttab"}]


def test_line_that_is_too_long_is_passed_over() -> None:
    """A line beyond the limit is skipped with its size, without being held in memory as a whole."""

    class Long:
        """A stream with one line of 50 MB that exists nowhere as a whole."""

        def __init__(self) -> None:
            self.left, self.tail = 50 << 20, b'\n{"a":1}\n'

        def readline(self, size: int) -> bytes:
            count = min(size, self.left)
            self.left -= count
            if count == size:
                return b"x" * count
            head, _, self.tail = self.tail.partition(b"\n")
            return b"x" * count + head + b"\n" if count or head else b""

    report = FileReport()
    tracemalloc.start()
    found = list(records(Long(), report))  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [record.value for record in found] == [{"a": 1}]
    assert report.skipped == [(1, f"longer than 32 MB ({(50 << 20) + 1} bytes)")]
    assert peak < LINE_LIMIT * 1.2


def test_line_just_within_the_limit_is_read() -> None:
    """A line of nearly 32 MB is a record."""
    data = b'{"a":"' + b"x" * (LINE_LIMIT - 9) + b'"}\n'
    found, report = read(data)
    assert len(found[0].value["a"]) == LINE_LIMIT - 9
    assert report.skipped == []


def test_typed_decoder_gives_plain_values_where_shapes_differ() -> None:
    """A record of another shape than the decoder's reaches the caller as a plain value."""

    class Shape(msgspec.Struct):
        a: int

    found, _ = read(b'{"a":1}\n{"a":"one"}\n[2]\n', decode=msgspec.json.Decoder(Shape).decode)
    assert [record.value for record in found] == [Shape(1), {"a": "one"}, [2]]


def test_empty_lines_are_no_records() -> None:
    """Blank lines are counted as lines only."""
    report = read(b"\n\r\n  \n")[1]
    assert (report.lines, report.records, report.skipped) == (3, 0, [])


def test_clean_texts_can_be_stored() -> None:
    """NUL becomes a visible symbol and surrogates the replacement character; all else stays."""
    assert clean("a\x00b\ud800é🎉") == "a\u2400b\ufffdé🎉"


def test_text_of_one_value() -> None:
    """Arguments inside a string are parsed with the same refusals."""
    assert parse_text(' {"a": [1]} ') == {"a": [1]}
    for bad in ("", "{", "{} {}", "NaN", "[" * 100_000):
        with pytest.raises(ValueError, match=r"."):
            parse_text(bad)
