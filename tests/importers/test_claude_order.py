"""Which items stand before which step: the importer against the plain rule, on made and on real logs."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import pytest

from contextlab.core import Verdict
from contextlab.core.recorded import RecordedReplayer
from tests.importers.claude_log import CORPUS, Log, call, needs_corpus, read_path, text
from tests.importers.claude_reference import expected_contexts

SEEDS = int(os.environ.get("CLAUDE_ORDER_SEEDS", "300"))


class RandomLog:
    """A session that does everything a real one can, in random order."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.log = Log()
        self.open: list[tuple[str, str]] = []
        self.messages: list[str] = []
        self.uuids: list[str] = []
        self.calls = 0
        self.relinked: dict[str, str] = {}
        """Heads of kept runs: from then on they hang below their compaction."""

    def make(self, moves: int) -> bytes:
        """The bytes of a log of some moves."""
        self._keep(self.log.user("begin", parent=None))
        for _ in range(moves):
            self.random.choices(
                [
                    self.prompt,
                    self.answer,
                    self.results,
                    self.late,
                    self.noise,
                    self.rewind,
                    self.compact,
                    self.clear,
                ],
                [3, 8, 8, 1, 4, 1, 0.4, 0.2],
            )[0]()
        return self.log.data

    def _keep(self, uuid: str) -> None:
        self.uuids.append(uuid)

    def prompt(self) -> None:
        """Words of a person, sometimes of the client, sometimes with a parent that is gone."""
        lost: dict[str, Any] = {"parent": "gone"} if self.random.random() < 0.05 else {}
        content: Any = [text("one"), text("two")] if self.random.random() < 0.2 else "go on"
        self._keep(self.log.user(content, isMeta=self.random.random() < 0.2, **lost))

    def answer(self) -> None:
        """An answer of one to four chunks with results between them."""
        message = f"m{len(self.messages)}"
        self.messages.append(message)
        for _ in range(self.random.randint(1, 4)):
            self._chunk(message)
            if self.random.random() < 0.3:
                self.results()
            if self.random.random() < 0.2:
                self.noise()

    def _chunk(self, message: str, **fields: Any) -> None:
        blocks: list[dict[str, Any]] = [text("words")]
        if self.random.random() < 0.6:
            self.calls += 1
            blocks = [call(f"t{self.calls}")]
        uuid = self.log.answer(message, *blocks, **fields)
        self._keep(uuid)
        if blocks[0]["type"] == "tool_use":
            self.open.append((f"t{self.calls}", uuid))

    def results(self) -> None:
        """Results of some open calls, in any order, as children of their call or of what came last."""
        self.random.shuffle(self.open)
        for _ in range(min(len(self.open), self.random.randint(0, 3))):
            name, owner = self.open.pop()
            below: dict[str, Any] = {"parent": owner} if self.random.random() < 0.7 else {}
            self._keep(self.log.result(name, **below))

    def late(self) -> None:
        """One more chunk of an earlier message."""
        if self.messages:
            self._chunk(self.random.choice(self.messages[-5:]))

    def noise(self) -> None:
        """Progress that takes part in the tree, or a leaf beside it."""
        last = self.log.last
        self._keep(self.log.add("progress", data={"type": "bash_progress"}))
        if self.random.random() < 0.5:
            self.log.last = last

    def rewind(self) -> None:
        """The person goes back to an earlier record, also over a compaction."""
        self.log.last = self.random.choice(self.uuids)

    def compact(self) -> None:
        """A compaction, with its summary or without, sometimes keeping the newest records."""
        metadata: dict[str, Any] = {"trigger": "auto", "preTokens": 1000}
        if self.random.random() < 0.5 and len(self.uuids) > 4:
            chain = self._chain(self.random.randint(0, 5))
            metadata["preservedSegment"] = {"headUuid": chain[-1], "tailUuid": chain[0], "anchorUuid": "k"}
        boundary = self.log.boundary(compactMetadata=metadata)
        self._keep(boundary)
        if "preservedSegment" in metadata:
            self.relinked[chain[-1]] = boundary
        if self.random.random() < 0.8:
            self._keep(self.log.summary())
        if "preservedSegment" in metadata and self.random.random() < 0.5:
            self.log.last = metadata["preservedSegment"]["tailUuid"]

    def _chain(self, length: int) -> list[str]:
        parents = {record["uuid"]: record["parentUuid"] for record in map(json.loads, self.log.lines)}
        parents |= self.relinked
        chain = [str(self.log.last)]
        while len(chain) <= length and parents.get(parents[chain[-1]]) is not None:
            chain.append(parents[chain[-1]])
        return chain

    def clear(self) -> None:
        """/clear: a root after the first."""
        self._keep(self.log.user("<command-name>/clear</command-name>", parent=None))


@pytest.mark.parametrize("start", range(0, SEEDS, 50))
def test_context_of_every_step_is_what_the_plain_rule_gives(start: int) -> None:
    """Following the events gives each step exactly the items of its path, its messages and their results."""
    for seed in range(start, start + 50):
        data = RandomLog(seed).make(60)
        got = {step: set(items) for step, items in _read(data).contexts().items()}
        assert got == expected_contexts(data), f"seed {seed}"


@pytest.mark.parametrize("start", range(0, SEEDS, 100))
def test_the_recorded_view_has_the_same_contexts(start: int) -> None:
    """Its memory at each step is what following the events gives; nothing is summarised without a summary there."""
    for seed in range(start, start + 100):
        got = _read(RandomLog(seed).make(60))
        replayer = RecordedReplayer(got.main.timeline)
        order = sorted((got.main.position_of(event.id), event.id) for event in got.items())
        wanted = got.contexts()
        for result in replayer.run():
            inside = [order[position][1] for position in replayer.memory]
            assert inside == sorted(wanted[result.step.id], key=inside.index), f"seed {seed} {result.step.id}"
            folded = {
                at for at in range(result.step.upto) if replayer.ledger.fate(at).verdict == Verdict.SUMMARISED
            }
            told = [row for row in got.main.compactions if row.at_step <= result.step.number]
            if folded and all(row.summary is not None for row in told):
                assert any(row.summary in replayer.memory for row in told), f"seed {seed} {result.step.id}"


def _read(data: bytes) -> Any:
    from tests.importers.claude_log import read

    return read(data)


@needs_corpus
@pytest.mark.parametrize(
    "name", ["entireio-cli", "marot-spotter", "packmind-context-evaluator", "obra-episodic-memory"]
)
def test_context_in_real_logs_is_what_the_plain_rule_gives(name: str) -> None:
    """Real transcripts, with their parallel calls and resumed sessions, give what the plain rule gives."""
    for path in sorted((CORPUS / "claude-code" / name).rglob("*.jsonl")):
        got = {
            step: {item for item in items if not item.startswith("queued-")}
            for step, items in read_path(path).contexts().items()
        }
        assert got == expected_contexts(_one_record_a_line(path.read_bytes())), path.name


def _one_record_a_line(data: bytes) -> bytes:
    decoder, lines = json.JSONDecoder(), []
    for line in data.decode().splitlines():
        position = 0
        while position < len(line.rstrip()):
            value, position = decoder.raw_decode(line, position)
            lines.append(json.dumps(value))
    return "\n".join(lines).encode()
