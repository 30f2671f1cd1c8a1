"""The shapes of Claude Code's lines: typed where we look, raw (not decoded) where we do not.

A field of an unexpected type must not cost the record: `as_line` and `as_message` then read it field by field and
leave the wrong ones out.
"""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec
from msgspec import UNSET, Raw, UnsetType

from contextlab.core.texts import clean_value
from contextlab.importers.lines import Decode
from contextlab.importers.values import LARGEST

NOTHING = Raw(b"")


class Line(msgspec.Struct, gc=False):
    """One record of a transcript. Every field may be missing."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent: str | UnsetType | None = msgspec.field(default=UNSET, name="parentUuid")
    session: str | None = msgspec.field(default=None, name="sessionId")
    agent: str | None = msgspec.field(default=None, name="agentId")
    sidechain: bool | None = msgspec.field(default=None, name="isSidechain")
    meta: bool | None = msgspec.field(default=None, name="isMeta")
    compact_summary: bool | None = msgspec.field(default=None, name="isCompactSummary")
    transcript_only: bool | None = msgspec.field(default=None, name="isVisibleInTranscriptOnly")
    api_error: bool | None = msgspec.field(default=None, name="isApiErrorMessage")
    timestamp: str | None = None
    cwd: str | None = None
    branch: str | None = msgspec.field(default=None, name="gitBranch")
    version: str | None = None
    message: Raw = NOTHING
    result: Raw = msgspec.field(default=NOTHING, name="toolUseResult")
    compact: Raw = msgspec.field(default=NOTHING, name="compactMetadata")
    microcompact: Raw = msgspec.field(default=NOTHING, name="microcompactMetadata")
    attachment: Raw = NOTHING
    data: Raw = NOTHING
    content: Raw = NOTHING
    error: Raw = NOTHING
    origin: Raw = NOTHING
    forked_from: Raw = msgspec.field(default=NOTHING, name="forkedFrom")
    parent_tool: str | None = msgspec.field(default=None, name="parentToolUseID")
    operation: str | None = None
    reason: str | None = None
    summary: str | None = None
    leaf: str | None = msgspec.field(default=None, name="leafUuid")
    custom_title: str | None = msgspec.field(default=None, name="customTitle")
    ai_title: str | None = msgspec.field(default=None, name="aiTitle")
    title: str | None = None


class Tokens(msgspec.Struct, gc=False):
    """`message.usage`; None = not reported."""

    input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def figures(self) -> dict[str, int | None]:
        """By name."""
        return {name: getattr(self, name) for name in self.__struct_fields__}

    @property
    def impossible(self) -> bool:
        """Whether one of them is no number of tokens."""
        found = (
            self.input_tokens or 0, self.cache_read_input_tokens or 0, self.cache_creation_input_tokens or 0,
            self.output_tokens or 0,
        )  # fmt: skip
        return min(found) < 0 or max(found) > LARGEST


class MediaSource(msgspec.Struct, gc=False):
    """Where an image's bytes are; the bytes themselves are never decoded."""

    media_type: str | None = None
    data: Raw = NOTHING
    url: Raw = NOTHING


class Part(msgspec.Struct, gc=False):
    """A part of a result's content."""

    type: str | None = None
    text: str | None = None
    source: MediaSource | None = None


class Block(msgspec.Struct, gc=False):
    """A content block of a message, of any type."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: Raw = NOTHING
    data: Raw = NOTHING
    id: str | None = None
    name: str | None = None
    input: Raw = NOTHING
    tool_use_id: str | None = None
    content: Raw = NOTHING
    is_error: bool | None = None
    source: MediaSource | None = None


class Message(msgspec.Struct, gc=False):
    """The provider's message inside a record."""

    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Tokens | None = None
    content: str | list[Block] | None = None


decode_line: Decode = msgspec.json.Decoder(Line).decode
_message = msgspec.json.Decoder(Message).decode
_blocks = msgspec.json.Decoder(list[Raw]).decode
_block = msgspec.json.Decoder(Block).decode
_parts: Decode = msgspec.json.Decoder(str | list[Part] | None).decode
_string = msgspec.json.Decoder(str).decode

BadShape = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)
"""What decoding raises when content is not what it should be."""


def as_line(value: Any) -> Line | None:
    """The record from a plain value whose fields may have wrong types; None when it is no object."""
    if not isinstance(value, dict):
        return None
    fields: dict[str, Any] = {}
    for info in msgspec.structs.fields(Line):
        if info.encode_name not in value:
            continue
        given = value[info.encode_name]
        if info.type is Raw:
            fields[info.name] = Raw(json.dumps(clean_value(given), ensure_ascii=False).encode())
        elif given is None or isinstance(given, bool if info.encode_name[:2] == "is" else str):
            fields[info.name] = given
    return Line(**fields)


def as_message(raw: Raw) -> tuple[Message | None, int]:
    """The message of a record (None when it is no object) and how many of its blocks are none and were left out."""
    try:
        return _message(raw), 0
    except BadShape:
        pass
    whole = plain(raw)
    if not isinstance(whole, dict):
        return None, 0
    text = {key: whole[key] for key in ("id", "model", "stop_reason") if isinstance(whole.get(key), str)}
    message = Message(**text, usage=_tokens(whole.get("usage")))
    content = whole.get("content")
    if isinstance(content, str):
        message.content = content
    if not isinstance(content, list):
        return message, 0
    message.content = [block for given in content if (block := _as_block(given)) is not None]
    return message, len(content) - len(message.content)


def raw_blocks(raw: Raw) -> list[Raw]:
    """The blocks of a message as logged; empty when they cannot be told apart."""
    try:
        content = msgspec.json.decode(raw, type=_RawMessage).content
        return _blocks(content)
    except BadShape:
        return []


class _RawMessage(msgspec.Struct):
    content: Raw = NOTHING


def as_parts(raw: Raw) -> str | list[Part] | None:
    """A result's content: a text, its parts, or None when it is of another shape."""
    if not raw:
        return ""
    try:
        return cast("str | list[Part] | None", _parts(raw))
    except BadShape:
        return None


def as_string(raw: Raw) -> str | None:
    """The text in a raw field, None when it holds something else or nothing."""
    if not raw:
        return None
    try:
        return _string(raw)
    except BadShape:
        return None


def plain(raw: Raw) -> Any:
    """The plain value in a raw field; None when there is none or it cannot be decoded."""
    if not raw:
        return None
    try:
        return msgspec.json.decode(raw)
    except BadShape:
        pass
    try:
        return clean_value(json.loads(as_logged(raw), strict=False))
    except BadShape:
        return None


def as_logged(raw: Raw) -> str:
    """The raw JSON text, character by character as it stands in the log."""
    return bytes(raw).decode("utf-8", "replace")


def _tokens(value: Any) -> Tokens | None:
    if not isinstance(value, dict):
        return None
    names = msgspec.structs.fields(Tokens)
    whole = {name.name: value[name.name] for name in names if type(value.get(name.name)) is int}
    return Tokens(**whole)


def _as_block(value: Any) -> Block | None:
    if not isinstance(value, dict):
        return None
    try:
        return _block(json.dumps(value, ensure_ascii=False).encode())
    except BadShape:
        pass
    fields: dict[str, Any] = {}
    for info in msgspec.structs.fields(Block):
        given = value.get(info.name)
        if info.type is Raw and info.name in value:
            fields[info.name] = Raw(json.dumps(given, ensure_ascii=False).encode())
        elif isinstance(given, str) and info.name != "source":
            fields[info.name] = given
    fields.pop("is_error", None)
    return Block(**fields)
