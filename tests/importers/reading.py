"""Reading made or real logs in tests: bytes or a path in, events folded by session out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from contextlab.core.assembler import Assembler
from contextlab.core.events import Event, FileReport, ItemEvent, SessionStart
from contextlab.core.recorded import RecordedReplayer
from contextlab.core.spans import verdicts_at
from contextlab.importers import read_file
from contextlab.importers.streams import Source

CHECKOUT = Path(__file__).resolve().parents[2]
LOGS = CHECKOUT / "tests" / "logs"
CORPUS = CHECKOUT.parent / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the corpus of real logs is not beside the project"
)

Kind = TypeVar("Kind")


@dataclass
class Read:
    """What a file came to."""

    report: FileReport
    events: list[tuple[str, Event]] = field(default_factory=list)
    sessions: dict[str, Assembler] = field(default_factory=dict)

    @property
    def session(self) -> Assembler:
        """The only session."""
        (only,) = self.sessions.values()
        return only

    def of(self, kind: type[Kind]) -> list[Kind]:
        """All events of one type."""
        return [event for _, event in self.events if isinstance(event, kind)]

    @property
    def items(self) -> list[ItemEvent]:
        """All item events."""
        return self.of(ItemEvent)

    def item(self, start: str) -> ItemEvent:
        """The first item whose text starts so."""
        return next(item for item in self.items if item.text.startswith(start))

    def texts(self, *kinds: str) -> list[str]:
        """The texts of the items of these kinds."""
        return [item.text for item in self.items if item.kind in kinds]

    def context(self, step: int) -> list[str]:
        """The texts that stood in the context of a step of the only session, by the recorded view."""
        replayer = RecordedReplayer(self.session.timeline)
        result = next(result for result in replayer.run() if result.step.number == step)
        fates = verdicts_at(replayer.spans(), step, range(result.step.upto))
        texts = [item.text for item in self.items]
        return [
            texts[at] for at, (verdict, _) in enumerate(fates) if verdict in ("kept", "pinned", "offloaded")
        ]


def read(data: bytes | str | Path, name: str = "log") -> Read:
    """Read bytes, text or a path with whatever importer fits."""
    if isinstance(data, Path):
        source = Source(data.name, path=data, relative=data.name)
    else:
        source = Source(name, data=data.encode() if isinstance(data, str) else data)
    made = Read(FileReport())
    for key, event in read_file(source, made.report):
        made.events.append((key, event))
        if key not in made.sessions:
            assert isinstance(event, SessionStart), "the first event of a session is its start"
            made.sessions[key] = Assembler(dataclasses.replace(event))
        made.sessions[key].feed(event)
    return made


def lines(*records: Any) -> bytes:
    """JSON Lines of these records."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def comparable(events: Iterable[tuple[str, Event]]) -> Iterator[tuple[str, Event]]:
    """Events without their places, to compare what two files say."""
    for key, event in events:
        yield key, dataclasses.replace(event, place=None) if hasattr(event, "place") else event
