"""One JSON document read with places: where each value of it stands in the file, decoded only when it is asked for.

JSON Lines are read record by record (lines.py); a document is one value of many lines, so it is held in memory, up
to a limit. Values that the fast decoder refuses are looked at again; of a document that is cut off, what stands
before the cut is still read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from contextlab.core.events import FileReport, Place
from contextlab.core.texts import clean_value
from contextlab.importers.lines import parse_text, skip, warn
from contextlab.importers.streams import Source, UnreadableFile

DOCUMENT_LIMIT = 64 * 1024 * 1024
"""Longest JSON document that is read, in bytes."""
HEAD = 256 * 1024

_PIECE = 1 << 20
_RAW_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_RAW_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_SPACE = b" \t\r\n"
_ARRAY = re.compile(rb'"(?:messages|history|traj)"\s*:\s*\[')
_BOM = b"\xef\xbb\xbf"
_CUT = -1
_WHITE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder(strict=False)


@dataclass(slots=True)
class Node:
    """A value of a document: its bytes and where they begin."""

    data: bytes
    offset: int
    line: int
    exact: bool = True
    """False when the bytes are a repaired copy, so that no places can be told."""

    @property
    def place(self) -> Place | None:
        """Line, byte offset and length; None in a repaired copy."""
        return Place(self.line, self.offset, len(self.data)) if self.exact else None

    def value(self) -> Any:
        """The plain value; raises ValueError where it is no JSON."""
        try:
            return msgspec.json.decode(self.data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return parse_text(self.data.decode("utf-8", "replace"))

    def sound(self) -> Node:
        """The same value in bytes that can be taken apart: its own, or a repaired copy. Raises ValueError."""
        if not _sound(self.data):
            return Node(_dump(self.value()), self.offset, self.line, exact=False)
        return self

    def elements(self) -> Iterator[Node]:
        """The elements of a list; none when it is no list. Only of a sound node."""
        if self.data[:1] == b"[":
            yield from self._within([bytes(piece) for piece in _RAW_LIST.decode(self.data)])

    def fields(self) -> dict[str, Node]:
        """The fields of an object; none when it is no object. Only of a sound node."""
        if self.data[:1] != b"{":
            return {}
        raw = _RAW_OBJECT.decode(self.data)
        return dict(zip(raw, self._within([bytes(piece) for piece in raw.values()]), strict=True))

    def _within(self, pieces: list[bytes]) -> Iterator[Node]:
        """Nodes for values that stand in this one in this order, with only keys and separators between them."""
        at, line = 0, self.line
        for piece in pieces:
            found = max(at, self.data.find(piece, at))
            line += self.data.count(b"\n", at, found)
            yield Node(piece, self.offset + found, line, self.exact)
            line += piece.count(b"\n")
            at = found + len(piece)


def document(data: bytes, report: FileReport) -> Node | None:
    """The document in these bytes; None (and a skipped line in the report) when nothing of it can be read."""
    start = len(data) - len(data.removeprefix(_BOM).lstrip(_SPACE + b"\x00"))
    root = Node(data[start:].rstrip(_SPACE + b"\x00"), start, 1 + data.count(b"\n", 0, start))
    return root if _sound(root.data) else _repaired(root, report) or _rescued(root, report)


def _sound(data: bytes) -> bool:
    """Whether this is well-formed JSON, asked piece by piece so that a large document never becomes one value."""
    try:
        data.decode()
        _check(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _check(data: bytes) -> None:
    # Raw values are not looked into, so pieces are opened until they are small enough to be made into values.
    if len(data) <= _PIECE or data[:1] not in (b"[", b"{"):
        msgspec.json.decode(data)
        return
    for piece in _RAW_LIST.decode(data) if data[:1] == b"[" else _RAW_OBJECT.decode(data).values():
        _check(bytes(piece))


def _repaired(root: Node, report: FileReport) -> Node | None:
    """The document without what JSON does not have: NaN becomes null, bytes that are not UTF-8 are replaced."""
    try:
        value = json.loads(root.data.decode("utf-8", "replace"), strict=False, parse_constant=lambda _: None)
        data = _dump(value)
    except (ValueError, RecursionError):
        return None
    if not _sound(data):
        return None
    warn(report, "NaN, infinite numbers or bytes that are not UTF-8 were replaced")
    return Node(data, root.offset, root.line, exact=False)


def _rescued(root: Node, report: FileReport) -> Node | None:
    """What can still be read of a damaged document: the elements of its list of messages before the damage."""
    data = root.data
    found = None if data[:1] == b"[" else _ARRAY.search(data)
    # One character for one byte, so that places in the text are places in the file.
    text, at = data.decode("latin-1"), 1 if data[:1] == b"[" else found.end() if found else len(data)
    whole: list[bytes] = []
    line = root.line + data.count(b"\n", 0, at)
    while True:
        end, at = at, _skip(text, at, ",")
        line += data.count(b"\n", end, at)
        try:
            end = _decoder.raw_decode(text, at)[1]
        except (ValueError, RecursionError):
            break
        try:
            whole.append(_dump(Node(data[at:end], at, line).value()))
        except (ValueError, RecursionError) as error:
            skip(report, line, str(error))
        line += data.count(b"\n", at, end)
        at = end
    skip(report, line, "the JSON document is damaged here or ends early")
    return Node(b"[" + b",".join(whole) + b"]", root.offset, root.line, exact=False) if whole else None


def _dump(value: Any) -> bytes:
    return json.dumps(clean_value(value), ensure_ascii=False).encode()


# The beginning of a document, for telling its format


def prefix(text: str) -> Any:
    """The value that begins here as far as the text goes: a document cut off anywhere gives what stands before."""
    return _prefix(text, 0, 0)[0]


def _prefix(text: str, at: int, depth: int) -> tuple[Any, int]:
    """The value at a position and where it ends, _CUT when the text ends before it."""
    try:
        return _decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        pass
    if depth > 8 or at >= len(text) or text[at] not in "[{":
        return None, _CUT
    return _items(text, at, depth) if text[at] == "[" else _members(text, at, depth)


def _items(text: str, at: int, depth: int) -> tuple[Any, int]:
    found: list[Any] = []
    at = _skip(text, at + 1)
    while at < len(text) and text[at] != "]":
        value, end = _prefix(text, at, depth + 1)
        if value is not None or end != _CUT:
            found.append(value)
        if end == _CUT:
            break
        at = _skip(text, end, ",")
    return found, _CUT


def _members(text: str, at: int, depth: int) -> tuple[Any, int]:
    found: dict[str, Any] = {}
    at = _skip(text, at + 1)
    while at < len(text) and text[at] == '"':
        try:
            key, end = _decoder.raw_decode(text, at)
        except ValueError:
            break
        value, end = _prefix(text, _skip(text, end, ":"), depth + 1)
        found[key] = value
        if end == _CUT:
            break
        at = _skip(text, end, ",")
    return found, _CUT


def _skip(text: str, at: int, sign: str = "") -> int:
    at = _end(text, at)
    if sign and text[at : at + 1] == sign:
        at = _end(text, at + 1)
    return at


def _end(text: str, at: int) -> int:
    found = _WHITE.match(text, at)
    return found.end() if found else at


def head_of(source: Source) -> bytes:
    """The beginning of a file: enough to tell lines from one document."""
    with source.open() as stream:
        return stream.read(HEAD)


def whole_of(source: Source, a_line: str) -> bytes:
    """A file that is one JSON document; raises UnreadableFile where it is too large for that.

    `a_line` says what a line of it would hold if it were JSON Lines.
    """
    with source.open() as stream:
        data = stream.read(DOCUMENT_LIMIT + 1)
    if len(data) > DOCUMENT_LIMIT:
        raise UnreadableFile(
            f"{source.name}: one JSON document of more than {DOCUMENT_LIMIT >> 20} MB; "
            f"write it as JSON Lines ({a_line} a line) to import it"
        )
    return data
