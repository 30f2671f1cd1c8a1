"""Whatever the bytes are: nothing raises, nothing is lost in silence, and a longer file only adds."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from contextlab.core.events import Event, FileReport, StepEvent
from contextlab.importers import codex, contextlab_events, openai_chat, read_file
from contextlab.importers.contextlab_events import write_sessions
from contextlab.importers.streams import Source, UnreadableFile
from tests.importers.codex_log import Rollout, message
from tests.importers.reading import LOGS, lines, read

IMPORTERS = {"codex": codex, "openai-chat": openai_chat, "contextlab-events": contextlab_events}


def rollout() -> bytes:
    """A rollout with a bit of everything."""
    log = Rollout()
    log.task("t1")
    log.say("developer", "<permissions instructions>\nx")
    log.say("user", "# AGENTS.md instructions", "<environment_context>")
    log.say("user", "go \U0001f389")
    log.think()
    log.call("c1")
    log.item("web_search_call", action={"type": "search"})
    log.count(100, cached=10)
    log.compacted("", [message("user", "go \U0001f389"), {"type": "compaction", "encrypted_content": "zz"}])
    log.after(50)
    log.say("assistant", "done")
    log.count(60)
    log.event("thread_rolled_back", num_turns=1)
    log.done("t1")
    return log.text().encode()


def chat() -> bytes:
    """Exchanges, as JSON Lines."""
    asked = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    answer = {"role": "assistant", "content": "yes", "tool_calls": [{"id": "c", "function": {"name": "f"}}]}
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    return lines(
        {"request": {"messages": asked}, "response": {"choices": [{"message": answer}], "usage": usage}},
        {"messages": [*asked, answer, {"role": "tool", "tool_call_id": "c", "content": "x"}]},
        asked[0],
    )


def events() -> bytes:
    """The rollout, as events."""
    return "\n".join(write_sessions(iter(read(rollout()).events))).encode()


FILES = {"codex": rollout(), "openai-chat": chat(), "contextlab-events": events()}


def consumed(name: str, data: bytes) -> FileReport:
    """Read to the end by a given importer; only a file that cannot be opened as text may raise."""
    report = FileReport()
    for key, event in IMPORTERS[name].read(Source("f", data=data), report):
        assert isinstance(key, str)
        assert event is not None
    return report


@pytest.mark.parametrize("name", FILES)
def test_mutated_bytes_never_raise(name):
    """Bytes changed, cut out, doubled and inserted at random places."""
    rng = random.Random(7)
    for _ in range(400):
        data = bytearray(FILES[name])
        for _ in range(rng.randint(1, 8)):
            at = rng.randrange(len(data))
            choice = rng.randrange(4)
            if choice == 0:
                data[at] = rng.randrange(256)
            elif choice == 1:
                del data[at : at + rng.randrange(1, 60)]
            elif choice == 2:
                data[at:at] = data[at : at + rng.randrange(1, 60)]
            else:
                data[at:at] = rng.choice(
                    [b"null", b"[", b"{", b"\x00", b"\xff", b"\n", b'"', b"1e999", b"NaN", b"-1"]
                )
        try:
            consumed(name, bytes(data))
        except UnreadableFile as error:
            assert "f:" in str(error)


def reshaped(rng: random.Random, value: object, depth: int = 0) -> object:
    """A JSON value with parts of other kinds in the place of some of its own."""
    if rng.random() < 0.06 and depth:
        return rng.choice(
            [None, True, -1, 2**70, 1.5, "", "x", [], {}, [[]], {"type": 3}, ["a"], {"content": [1]}]
        )
    if isinstance(value, dict):
        return {key: reshaped(rng, part, depth + 1) for key, part in value.items() if rng.random() > 0.03}
    if isinstance(value, list):
        return [reshaped(rng, part, depth + 1) for part in value]
    return value


@pytest.mark.parametrize("name", FILES)
def test_values_of_other_kinds_never_raise(name):
    """Any field may be missing, null, a number, a list: each costs at most its record."""
    rng = random.Random(11)
    records = [json.loads(line) for line in FILES[name].splitlines()]
    for _ in range(400):
        made = lines(*(reshaped(rng, record) for record in records))
        report = consumed(name, made)
        assert report.records + report.skipped_total >= len(records) or name == "openai-chat"
        if name == "openai-chat":
            consumed(name, json.dumps(reshaped(rng, records), indent=1).encode())


@pytest.mark.parametrize("name", FILES)
def test_nasty_texts_are_kept_clean(name):
    """NUL and lone surrogates never leave an importer; the rest of the text does."""
    data = FILES[name].replace(b'"hi"', b'"a\\u0000b\\ud800c"').replace(b'"done"', b'"a\\u0000b\\ud800c"')
    assert data != FILES[name]
    found = [event.text for _, event in read(data).events if getattr(event, "text", "").startswith("a")]
    assert "a\u2400b\ufffdc" in found


@pytest.mark.parametrize("name", FILES)
def test_deep_nesting_and_huge_numbers_cost_their_record(name):
    """A line of 100,000 brackets, a number of 5,000 digits."""
    deep = (
        b'{"type":"response_item","payload":{"type":"message","role":"user","content":'
        + b"[" * 100_000
        + b"\n"
    )
    wide = b'{"type":"event_msg","payload":' + b"9" * 5_000 + b"}\n"
    report = consumed(name, FILES[name] + b"\n" + deep + wide)
    assert len(report.skipped) == 2


@pytest.mark.parametrize("name", ["codex", "contextlab-events"])
def test_a_prefix_of_a_file_gives_a_prefix_of_its_events(name):
    """A log that grows adds events; only what an open step held back may move."""
    data = FILES[name]
    whole = settled(read(data).events)
    for cut in range(200, len(data), 97):
        part = settled(read(data[:cut]).events)
        known = (
            len(part)
            - 1
            - next((back for back, one in enumerate(reversed(part)) if is_step(one)), len(part) - 1)
        )
        assert part[: max(known, 0)] == whole[: max(known, 0)]


def test_a_prefix_of_chat_lines_gives_a_prefix_of_its_events():
    """Every line of messages is final."""
    data = lines(*({"role": "user" if n % 2 == 0 else "assistant", "content": f"m{n}"} for n in range(12)))
    whole = read(data).events
    for cut in range(60, len(data), 13):
        part = read(data[:cut]).events
        assert part == whole[: len(part)]


def is_step(one: tuple[str, Event]) -> bool:
    """Whether an event begins a step."""
    return isinstance(one[1], StepEvent)


def settled(found: list[tuple[str, Event]]) -> list[tuple[str, Event]]:
    """Events as they are once their step is over: its window and the size behind a compaction come late."""
    for _, event in found:
        if isinstance(event, StepEvent):
            event.limit = None
        if hasattr(event, "post_tokens"):
            event.post_tokens = None
    return found


OURS = ("codex", "openai-chat", "swe-agent", "mini-swe-agent", "agentdojo", "tau-bench", "contextlab-events")
SMALL = sorted(path for name in OURS for path in (LOGS / name).rglob("*") if path.is_file())


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.name)
def test_every_log_of_the_tests_is_read_whole(path: Path):
    """No line skipped, no type unknown, no call or result without its partner."""
    report = FileReport()
    list(read_file(Source(path.name, path=path), report))
    assert not report.skipped
    assert not report.unknown_types
    assert not report.warnings
