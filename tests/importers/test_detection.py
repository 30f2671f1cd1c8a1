"""The format of a file is told by its content: what is known, what is guessed, what cannot be read at all."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace

import pytest

import contextlab.importers as registry
from contextlab.importers.base import UnknownFormat, UnreadableFile
from contextlab.importers.streams import Source
from tests.importers.codex_log import Rollout
from tests.importers.reading import CORPUS, lines, needs_corpus, read

EVENTS = lines({"format": "contextlab-events", "version": 1, "session": {"id": "s"}})
CLAUDE = lines(
    {
        "type": "user",
        "uuid": "a",
        "parentUuid": None,
        "sessionId": "s",
        "message": {"role": "user", "content": "hi"},
    }
)


def detect(data: bytes, name: str = "file") -> str:
    """The format found in these bytes."""
    return registry.detect(Source(name, data=data)).FORMAT


def refusal(data: bytes) -> str:
    """Why these bytes cannot be read."""
    with pytest.raises(UnreadableFile) as caught:
        detect(data, "log.bin")
    return str(caught.value)


def test_our_formats_are_found():
    """Six importers, each knows its own."""
    assert {one.FORMAT for one in registry.importers()} >= {
        "claude-code",
        "codex",
        "openai-chat",
        "openai-responses",
        "anthropic-messages",
        "contextlab-events",
    }
    assert detect(Rollout().text().encode()) == "codex"
    assert detect(CLAUDE) == "claude-code"
    assert detect(EVENTS) == "contextlab-events"
    assert detect(b'[{"role": "user", "content": "hi"}]') == "openai-chat"
    claude = {"model": "claude-opus-4-6", "system": "s", "messages": [{"role": "user", "content": "x"}]}
    assert detect(json.dumps(claude).encode()) == "anthropic-messages"
    assert detect(b'{"object": "response", "output": []}') == "openai-responses"


def test_a_name_decides_nothing():
    """A label says Gemini, the content is a transcript (formats.md 4.12)."""
    assert detect(CLAUDE, "gemini-cli/session.json") == "claude-code"
    assert detect(Rollout().text().encode(), "chat.json") == "codex"


def test_a_long_first_line_does_not_hide_the_format():
    """A system prompt longer than what is looked at."""
    assert detect(Rollout(prompt="x" * 400_000).text().encode()) == "codex"
    assert detect(json.dumps([{"role": "user", "content": "x" * 400_000}]).encode()) == "openai-chat"


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ({"sessionId": "s", "projectHash": "h", "messages": []}, "a Gemini CLI session"),
        ({"resourceSpans": [{"scopeSpans": []}]}, "an OTLP export"),
        ({"info": {"id": "x"}, "messages": [{"info": {}, "parts": []}]}, "an opencode export"),
        ({"type": "session.start", "data": {}}, "a Copilot CLI session"),
        ({"trace": {"id": "t"}, "observations": []}, "a Langfuse export"),
        ([{"id": 0, "source": "agent", "action": "run", "args": {}}], "an OpenHands trajectory"),
        ({"kind": "MessageEvent", "id": "1"}, "OpenHands SDK events"),
        ({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": []}, "an Inspect log"),
    ],
)
def test_formats_without_an_importer_are_named(value, what):
    """The message says what the file seems to be, what is supported, and the way out."""
    told = refusal(json.dumps(value).encode())
    assert what in told
    assert "has no importer yet" in told
    assert all(one.LABEL in told for one in registry.importers())
    assert "contextlab-events" in told


def test_an_inspect_archive_is_named():
    """A ZIP is binary, yet this one is a log."""
    data = b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + b"\x00" * 16 + b"_journal/start.json" + b"\xff" * 100
    assert "Inspect .eval archive" in refusal(data)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is empty"),
        (b" \n\n\t", "is empty"),
        (bytes(range(256)) * 40, "is a binary file"),
        (b"\x89PNG\r\n\x1a\n" + b"\x00\xff" * 90, "is a picture"),
        (b"PK\x03\x04" + b"\x00" * 60, "is a ZIP archive"),
        (b"just words\nand more words\n", "looks like plain text"),
        (b"<html><body>hi</body></html>", "looks like a web page"),
        (b'{"a": 1}', "fits no known log"),
    ],
)
def test_what_cannot_be_read_says_why(data, told):
    """Empty, binary, or simply something else: a sentence, with the file's name."""
    message = refusal(data)
    assert told in message
    assert message.startswith("log.bin")


@pytest.fixture
def fresh():
    """The registry is looked for again, before and after."""
    registry.importers.cache_clear()
    yield
    registry.importers.cache_clear()


def stranger(name: str, **names: object) -> SimpleNamespace:
    """An entry point of another package."""
    importer = SimpleNamespace(
        FORMAT=name, LABEL=name, CANNOT_CONTAIN=(), sniff=lambda head: 0, read=None, **names
    )
    return SimpleNamespace(name=name, value=f"package:{name}", load=lambda: importer)


def test_strangers_come_through_the_same_door(monkeypatch, fresh):
    """An entry point adds a format."""
    entry = stranger("lab-log")
    entry.load().sniff = lambda head: 100 if head.startswith(b"LAB") else 0
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    assert detect(b"LAB 1\n") == "lab-log"


def test_a_broken_stranger_is_logged_and_left_out(monkeypatch, fresh, caplog):
    """It costs itself only."""

    def fail() -> None:
        raise ImportError("no such module")

    broken = SimpleNamespace(name="b", value="package:b", load=fail)
    half = SimpleNamespace(name="h", value="package:h", load=lambda: SimpleNamespace(FORMAT="h"))
    monkeypatch.setattr(registry, "entry_points", lambda group: [broken, half])
    with caplog.at_level(logging.ERROR):
        assert detect(EVENTS) == "contextlab-events"
    assert "package:b" in caplog.text
    assert "package:h" in caplog.text


def test_two_importers_of_one_format_are_an_error(monkeypatch, fresh):
    """Nobody could say which one reads."""
    monkeypatch.setattr(registry, "entry_points", lambda group: [stranger("codex")])
    with pytest.raises(registry.ImporterError, match="codex"):
        registry.importers()


def test_the_report_names_the_format_and_what_it_lacks():
    """Read or not, the doctor page knows what such a log cannot contain."""
    report = read(Rollout().text()).report
    assert report.format == "codex"
    assert any("encrypted" in sentence for sentence in report.cannot_contain)


OURS = {
    "claude-code",
    "codex",
    "openai-chat",
    "swe-agent",
    "mini-swe-agent",
    "openai-responses",
    "anthropic-messages",
}


CHAT = {"test_agents", "test_agents_with_events_with_no_content"}
"""Recordings in the folder of Responses that hold chat exchanges only."""


@needs_corpus
def test_real_files_are_told_apart():
    """Every file of a format we read is found, and none of another is taken for it."""
    for path in sorted(path for path in CORPUS.rglob("*") if path.is_file() and path.parent != CORPUS):
        folder = path.relative_to(CORPUS).parts[0]
        try:
            found = registry.detect(Source(path.name, path=path)).FORMAT
        except UnknownFormat:
            found = None
        except UnreadableFile as error:
            assert "binary" in str(error), path
            found = None
        expected = {"swe-agent": "openai-chat", "mini-swe-agent": "openai-chat"}.get(folder, folder)
        # The SDK's completion logs are recorded chat exchanges.
        expected = "openai-chat" if folder == "openhands-sdk" or path.stem in CHAT else expected
        assert found == (expected if folder in {*OURS, "openhands-sdk"} else None), path
