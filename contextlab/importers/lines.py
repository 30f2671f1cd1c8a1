"""JSON Lines read record by record: fast on good lines, patient with bad ones, never a silent loss.

A line that the fast decoder accepts is one record. A line that it refuses is looked at again: several records on
one line are each yielded with their own offset, bytes that are not UTF-8 are replaced (and counted), lone
surrogates become U+FFFD. Only the remainder that this second look refuses is skipped, with its place and reason.
NaN, Infinity and numbers that overflow are refused; whole numbers keep all their digits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import msgspec

from contextlab.core.events import SKIPPED_KEPT, FileReport, Place
from contextlab.core.texts import SURROGATES, clean_value
from contextlab.importers.streams import damage_of

LINE_LIMIT = 32 * 1024 * 1024
"""Longest line that is parsed, in bytes; a longer one is skipped without being held in memory."""

WARNINGS_KEPT = 200
DIGITS_LIMIT = 4300
"""Longest whole number that is read (Python's own limit for turning digits into a number)."""

Decode = Callable[[bytes], Any]
decode_any: Decode = msgspec.json.Decoder().decode
"""Plain Python values."""

_BETWEEN = re.compile("[ \t\r\n\x00\ufeff]*")
_BOM = b"\xef\xbb\xbf"
_TOO_DEEP = "nested too deeply"
_NULS = "NUL bytes (an interrupted write)"


@dataclass(slots=True)
class Record:
    """One record of a log: where it stands, its own bytes, and what the decoder made of them.

    Where the decoder is a typed one and the record is JSON of another shape, `value` is the plain value instead.
    """

    line: int
    offset: int
    length: int
    raw: bytes
    value: Any

    @property
    def place(self) -> Place:
        """Its place, as events carry it."""
        return Place(self.line, self.offset, self.length)


class RefusedError(ValueError):
    """A value that JSON for people does not have (NaN, Infinity) or that no field can hold."""


def records(
    stream: BinaryIO, report: FileReport, decode: Decode = decode_any, offset: int = 0
) -> Iterator[Record]:
    """Every record of the stream in file order; the report counts lines, records and what was skipped.

    `offset` is where in its file the stream begins, at the start of a line; the report is that of the lines before.

    Never raises on content. A last line that does not end and cannot be parsed is being written still: the report
    says so in its warnings, and it is not counted as skipped.
    """
    while line := stream.readline(LINE_LIMIT + 1):
        report.lines += 1
        number, start = report.lines, offset
        offset += len(line)
        if len(line) > LINE_LIMIT and not line.endswith(b"\n"):
            del line
            offset += _pass_over(stream)
            skip(report, number, f"longer than {LINE_LIMIT >> 20} MB ({offset - start} bytes)")
            continue
        body = line.rstrip(b"\r\n \t")
        if not body:
            continue
        try:
            value = decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            yield from _second_look(body, number, start, decode, report, ended=line.endswith(b"\n"))
        else:
            report.records += 1
            yield Record(number, start, len(body), body, value)
    if (damage := damage_of(stream)) is not None:
        warn(report, f"after line {report.lines}: {damage}")


def skip(report: FileReport, line: int, reason: str) -> None:
    """Count something that was not read; the first SKIPPED_KEPT are listed with their reasons."""
    report.skipped_total += 1
    if len(report.skipped) < SKIPPED_KEPT:
        report.skipped.append((line, reason))


def warn(report: FileReport, text: str) -> None:
    """Add a warning, each text once and at most WARNINGS_KEPT."""
    if len(report.warnings) < WARNINGS_KEPT and text not in report.warnings:
        report.warnings.append(text)


def parse_text(text: str) -> Any:
    """One plain JSON value from text, with the same refusals as a line's second look; raises ValueError."""
    try:
        value, end = _scanner.raw_decode(text, _next(text, 0))
    except RecursionError:
        raise RefusedError(_TOO_DEEP) from None
    if _next(text, end) != len(text):
        raise RefusedError("more than one value")
    return clean_value(value)


def _pass_over(stream: BinaryIO) -> int:
    """Read to the end of the line in small pieces; returns how many bytes that were."""
    passed = 0
    while piece := stream.readline(1 << 20):
        passed += len(piece)
        if piece.endswith(b"\n"):
            break
    return passed


def _refuse_constant(name: str) -> Any:
    raise RefusedError(f"{name} is not JSON")


def _whole_number(digits: str) -> int:
    if len(digits) > DIGITS_LIMIT:
        raise RefusedError(f"a number of {len(digits)} digits")
    return int(digits)


def _real_number(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise RefusedError("a number too large for any field")
    return value


_scanner = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_int=_whole_number, parse_float=_real_number, strict=False
)


def _next(text: str, position: int) -> int:
    found = _BETWEEN.match(text, position)
    return found.end() if found else position


def _second_look(
    body: bytes, number: int, start: int, decode: Decode, report: FileReport, ended: bool
) -> Iterator[Record]:
    """The records of a line that the fast decoder refused; what is left over is skipped or still being written."""
    # Every byte that is not UTF-8 becomes one surrogate, so that places in the text lead back to bytes.
    text = body.decode("utf-8", "surrogateescape")
    _count_bad(text, number, report)
    position = byte = 0
    while True:
        begin = _next(text, position)
        if "\x00" in text[position:begin]:
            skip(report, number, _NULS)
        if begin == len(text):
            return
        byte += len(text[position:begin].encode("utf-8", "surrogateescape"))
        try:
            plain, position = _scanner.raw_decode(text, begin)
        except (ValueError, RecursionError) as error:
            _give_up(report, number, error, ended, byte)
            return
        raw = text[begin:position].encode("utf-8", "surrogateescape")
        report.records += 1
        yield Record(number, start + byte, len(raw), raw, _decoded(raw, plain, decode))
        byte += len(raw)


def _count_bad(text: str, number: int, report: FileReport) -> None:
    if bad := len(SURROGATES.findall(text)):
        warn(report, f"line {number}: {bad} bytes that are not UTF-8 were replaced")


def _decoded(raw: bytes, plain: Any, decode: Decode) -> Any:
    """The record as the caller's decoder sees it: from its own bytes, else from a repaired copy, else plain."""
    try:
        return decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        plain = clean_value(plain)
    try:
        return decode(json.dumps(plain, ensure_ascii=False).encode())
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return plain


def _give_up(report: FileReport, number: int, error: Exception, ended: bool, byte: int) -> None:
    if isinstance(error, RecursionError):
        reason = _TOO_DEEP
    elif isinstance(error, json.JSONDecodeError):
        reason = f"not JSON: {error.msg.lower()}"
    else:
        reason = str(error)
    if not ended and isinstance(error, json.JSONDecodeError):
        warn(report, f"line {number}: incomplete, still being written")
        return
    skip(report, number, reason if byte == 0 else f"{reason} (from byte {byte} of the line)")
