"""Promises that hold for any bytes: nothing raises, nothing is read twice, what was complete stays as it was."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from contextlab.core.events import Note, SessionStart, StepEvent
from contextlab.importers import claude_code
from contextlab.importers.streams import UnreadableFile
from tests.importers.claude_log import CORPUS, LOGS, Log, Read, call, needs_corpus, read, text
from tests.importers.test_claude_order import RandomLog

SPLICES = (
    b"\x00",
    b"\xff",
    b'"',
    b"{",
    b"}",
    b"\n",
    b"\\u0000",
    b"\\ud800",
    b"null",
    b"[",
    b"1e999",
    b"-1",
    b"\\",
    b"{}",
)


def mutated(data: bytes, random_: random.Random) -> bytes:
    """The bytes with some damage: flipped, cut, joined, repeated, spliced."""
    for _ in range(random_.randint(1, 6)):
        at = random_.randrange(len(data) or 1)
        other = random_.randrange(len(data) or 1)
        start, end = min(at, other), max(at, other)
        move = random_.randrange(6)
        if move == 0:
            data = data[:at] + bytes([random_.randrange(256)]) + data[at + 1 :]
        elif move == 1:
            data = data[:at] + random_.choice(SPLICES) + data[at:]
        elif move == 2 and end - start < 500:
            data = data[:start] + data[end:]
        elif move == 3 and end - start < 2000:
            data = data[:end] + data[start:end] + data[end:]
        elif move == 4:
            data = data.replace(b"\n", b"", 1)
        else:
            lines = data.split(b"\n")
            random_.shuffle(lines)
            data = b"\n".join(lines)
    return data


def sound(got: Read) -> None:
    """What holds for every reading: first things first, ids unique, texts storable, records accounted for."""
    seen: set[str] = set()
    steps: set[tuple[str, str]] = set()
    for key, event in got.events:
        if key not in seen:
            assert isinstance(event, SessionStart)
            seen.add(key)
        if isinstance(event, StepEvent):
            assert (key, event.id) not in steps
            steps.add((key, event.id))
        for name in event.__slots__:
            value = getattr(event, name)
            if isinstance(value, str):
                value.encode("utf-8")
                assert "\x00" not in value
    ids = [item.id for item in got.items()]
    assert len(ids) == len(set(ids))
    assert all(item.step is None or any(item.step == step for _, step in steps) for item in got.items())


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_no_damage_raises(start: int) -> None:
    """Damaged logs are read as far as they can be: no exception, the same result each time, all texts storable."""
    logs = [path.read_bytes() for path in sorted(LOGS.glob("*.jsonl"))]
    for seed in range(start, start + 100):
        random_ = random.Random(seed)
        data = mutated(random_.choice(logs) if seed % 3 else RandomLog(seed).make(12), random_)
        try:
            got = read(data)
        except UnreadableFile:
            continue
        sound(got)
        assert claude_code.sniff(data) in range(101)
        assert got.events == read(data).events


@pytest.mark.parametrize("seed", range(20))
def test_prefix_of_a_file_gives_a_prefix_of_the_events(seed: int) -> None:
    """While a file grows its earlier events stay: only what waits behind the newest step may still move."""
    data = RandomLog(seed).make(40)
    whole = list(settled(read(data)))
    lines = data.splitlines(keepends=True)
    for count in range(1, len(lines), 3):
        part = read(b"".join(lines[:count]))
        sure = list(settled(part, drop_open=True))
        assert whole[: len(sure)] == sure


def test_half_a_line_at_the_end_changes_nothing() -> None:
    """A file cut inside a line gives what the whole lines give, and says that a line is still being written."""
    data = RandomLog(1).make(30)
    lines = data.splitlines(keepends=True)
    whole, cut = read(b"".join(lines[:20])), read(b"".join(lines[:20]) + lines[20][:50])
    assert cut.events == whole.events
    assert cut.report.warnings[-1] == "line 21: incomplete, still being written"


def settled(got: Read, drop_open: bool = False) -> Iterator[object]:
    """The events without usage, which comes when a step closes; with `drop_open` only up to the newest step."""
    steps = [at for at, (_, event) in enumerate(got.events) if isinstance(event, StepEvent)]
    end = (steps[-1] + 1 if steps else 1) if drop_open else len(got.events)
    for _, event in got.events[:end]:
        yield event


def test_same_file_twice_is_the_same() -> None:
    """The same bytes give the same events; a file with every record repeated gives them once."""
    log = Log()
    log.user("Go", parent=None)
    log.answer("m1", text("I look."), call("t1"), stop="tool_use")
    log.result("t1")
    got, again, doubled = log.read(), log.read(), read(log.data * 2)
    assert got.events == again.events
    assert [event for _, event in doubled.events if not isinstance(event, Note)] == [
        event for _, event in got.events
    ]
    assert doubled.report.duplicates == 3


@needs_corpus
def test_usage_does_not_depend_on_how_answers_are_split() -> None:
    """For every real log the figures of a step are the largest of its lines, each counted once."""
    import json

    for path in sorted((CORPUS / "claude-code" / "entireio-cli").glob("*.jsonl"))[:8]:
        expected: dict[str, dict[str, int]] = {}
        for line in path.read_bytes().splitlines():
            record = json.JSONDecoder().raw_decode(line.decode())[0]
            message = record.get("message") if record.get("type") == "assistant" else None
            if message and message.get("model") != "<synthetic>":
                figures = expected.setdefault(message["id"], {})
                for name, value in message["usage"].items():
                    if type(value) is int:
                        figures[name] = max(value, figures.get(name, 0))
        steps = read(path.read_bytes()).main.timeline.steps
        assert {step.id: (step.input, step.cache_read, step.cache_write, step.output) for step in steps} == {
            name: (
                figures["input_tokens"],
                figures["cache_read_input_tokens"],
                figures["cache_creation_input_tokens"],
                figures["output_tokens"],
            )
            for name, figures in expected.items()
        }
