"""python -m bench.ledger [FILE ...]

CPU milliseconds of the audit per megabyte of summarised text, and its growth: made sessions of 1 to 16 MB that look
like an agent's (nine parts of results, one of talk and calls), then the logs with compactions among the files and
folders that are named (else in the folder CONTEXTLAB_CORPUS). Ledger alone (facts, verdicts) and the whole audit (with
replay, consequences, decay, findings).

A machine that others use takes more processor time for the same work. So a fixed piece of work (the words of a
megabyte, counted) is timed beside every ledger; `paced` is the ledger's time where that work takes PACE. Exit code 1
where a paced figure misses its aim or the exponent misses its own.
"""

from __future__ import annotations

import math
import os
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from contextlab.core.assembler import Assembler
from contextlab.core.audit.auditing import audit, ledger_of
from contextlab.core.events import (
    Compaction,
    Event,
    FileReport,
    ItemEvent,
    SessionStart,
    StepEvent,
    TurnStart,
)
from contextlab.core.items import Kind
from contextlab.importers import read_file
from contextlab.importers.base import UnknownFormat
from contextlab.importers.discover import discover

AIM = 90.0
"""Of every made session: 80, and what the figures differ from run to run."""
AIM_OF_LOGS = 65.0
"""Of all real logs together."""
LINEAR = 1.1
PACE = 0.0215
"""CPU seconds that `steady` takes on a quiet machine."""
SIZES = (1, 2, 4, 8, 16)
_WORDS = (
    "session store queue worker the a of and returns raises reads writes table index order price value config client "
    "request response retry delete update insert commit branch test case fixture helper module class method".split()
)


def session(megabytes: int) -> Iterator[Event]:
    """A session with one compaction at its end."""
    roll = random.Random(megabytes)
    yield SessionStart(f"ledger-{megabytes}")
    size, number = 0, 0
    while size < megabytes * 1_000_000:
        number += 1
        for event in _turn(roll, number):
            size += len(event.text) if isinstance(event, ItemEvent) else 0
            yield event
    yield Compaction("c1", summary="summary")
    yield ItemEvent("summary", Kind.SUMMARY, _summary(roll), "summary")
    yield StepEvent("after")


def _turn(roll: random.Random, number: int) -> Iterator[Event]:
    yield TurnStart(f"t{number}")
    ask = f"Please look at src/part_{number % 300}/mod_{number % 40}.py, port {8000 + number % 500}. {_prose(roll, 12)}"
    yield ItemEvent(f"u{number}", Kind.USER, ask, f"u{number}", opens_turn=True)
    for step in range(5):
        name = f"{number}-{step}"
        yield StepEvent(f"s{name}")
        yield ItemEvent(f"a{name}", Kind.ASSISTANT, _prose(roll, 30), f"a{name}", step=f"s{name}")
        path = f"/home/dev/app/src/part_{roll.randint(0, 299)}/mod_{roll.randint(0, 39)}.py"
        reads = step % 2 == 0
        arguments = (
            f'{{"file_path": "{path}"}}' if reads else f'{{"command": "grep -n retry {path} | head -40"}}'
        )
        tool = "Read" if reads else "Bash"
        yield ItemEvent(
            f"c{name}", Kind.TOOL_CALL, arguments, f"a{name}", tool=tool, call_id=f"k{name}", step=f"s{name}"
        )
        yield ItemEvent(f"r{name}", Kind.TOOL_RESULT, _code(roll, 40), f"r{name}", call_id=f"k{name}")


def _prose(roll: random.Random, words: int) -> str:
    told = [roll.choice(_WORDS) for _ in range(words)]
    told[roll.randrange(words)] = f"`{roll.choice(_WORDS)}_{roll.choice(_WORDS)}()`"
    told[roll.randrange(words)] = f"{roll.randint(2, 90)} seconds"
    return " ".join(told).capitalize() + "."


def _code(roll: random.Random, lines: int) -> str:
    return "\n".join(
        f"{at:>5}\t    {roll.choice(_WORDS)}_{roll.choice(_WORDS)} = "
        f"self.{roll.choice(_WORDS)}({roll.randint(0, 9999)})"
        for at in range(lines)
    )


def _summary(roll: random.Random) -> str:
    lines = [
        f"- src/part_{roll.randint(0, 299)}/mod_{roll.randint(0, 39)}.py: {_prose(roll, 14)}"
        for _ in range(120)
    ]
    return "This session is being continued. Summary:\n" + "\n".join(lines)


class Row(NamedTuple):
    """Of one compaction: megabytes that left, CPU seconds of its ledger, the same paced, those of the whole audit."""

    size: float
    alone: float
    paced: float
    whole: float


def spent(work: Callable[[], object]) -> float:
    """CPU seconds, the best of three runs."""
    best = math.inf
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


_TEXT = "\n".join(event.text for event in session(1) if isinstance(event, ItemEvent))[:1_000_000]


def steady() -> Counter[str]:
    """The fixed piece of work that tells how fast the machine is at the moment."""
    return Counter(map(str.lower, re.findall(r"[A-Za-z_]\w*", _TEXT)))


def alternating(work: Callable[[], object], rounds: int = 5) -> tuple[float, float]:
    """CPU seconds of a piece of work, the best of several runs, and the same paced: by the steady work beside each."""
    best, paces = math.inf, []
    for _ in range(rounds):
        start = time.process_time()
        work()
        between = time.process_time()
        steady()
        best = min(best, between - start)
        paces.append((between - start) / (time.process_time() - between))
    return best, PACE * statistics.median(paces)


def measured(events: Iterator[Event] | list[Event]) -> list[Row]:
    """Per compaction with a text its figures."""
    assembler, texts = Assembler(SessionStart("")), list[str]()
    for event in events:
        row = assembler.feed(event)
        if row is not None:
            texts.append(row.event.text)
    timeline = assembler.timeline
    done = audit(timeline, texts.__getitem__, assembler.compactions)
    whole = spent(lambda: audit(timeline, texts.__getitem__, assembler.compactions))
    found: list[Row] = []
    start = 0
    for one in done.compactions:
        if one.micro or one.summary is None or not texts[one.summary]:
            continue
        left = range(start, one.upto)
        summary = texts[one.summary]
        alone, paced = alternating(
            lambda left=left, summary=summary: ledger_of(
                timeline, texts.__getitem__, left, (), summary=summary
            )
        )  # type: ignore[misc]
        found.append(Row(one.ledger.characters / 1e6, alone, paced, whole))
        start = one.upto
    return found


def _logs(paths: list[str]) -> Iterator[tuple[str, list[Event]]]:
    for source in discover(paths, problems=[]):
        events: dict[str, list[Event]] = {}
        try:
            for key, event in read_file(source, FileReport()):
                events.setdefault(key, []).append(event)
        except UnknownFormat:
            continue
        for found in events.values():
            if any(isinstance(event, Compaction) for event in found):
                yield str(source.path), found


def told(name: str, row: Row) -> str:
    """A line of the table."""
    by_size = (1e3 * row.alone / row.size, 1e3 * row.paced / row.size)
    return (
        f"{name[-44:]:<44} {row.size:>8.2f} {1e3 * row.alone:>10.1f} {by_size[0]:>10.1f} {by_size[1]:>8.1f} "
        f"{1e3 * row.whole:>15.1f}"
    )


def main() -> int:
    """Measure and print."""
    print(
        f"{'session':<44} {'MB left':>8} {'ledger ms':>10} {'ms per MB':>10} {'paced':>8} {'whole audit ms':>15}"
    )
    made = [measured(session(size))[0] for size in SIZES]
    for size, row in zip(SIZES, made, strict=True):
        print(told(f"made, {size} MB", row), flush=True)
    folder = os.environ.get("CONTEXTLAB_CORPUS", "")
    logs = []
    for name, events in _logs(sys.argv[1:] or ([folder] if folder else [])):
        for row in measured(events):
            logs.append(row)
            print(told(name, row), flush=True)
    real = 0.0
    if logs:
        whole = Row(*map(sum, zip(*logs, strict=True)))
        real = 1e3 * whole.paced / whole.size
        print(told("all logs", whole))
    worst = max(1e3 * row.paced / row.size for row in made)
    exponent = math.log(made[-1].paced / made[0].paced) / math.log(made[-1].size / made[0].size)
    print(f"\npaced, ms per MB: made sessions at most {worst:.1f} (aim {AIM:.0f}), ", end="")
    print(f"all logs {real:.1f} (aim {AIM_OF_LOGS:.0f}); exponent {exponent:.2f} (aim {LINEAR})")
    return 0 if worst <= AIM and real <= AIM_OF_LOGS and exponent <= LINEAR else 1


if __name__ == "__main__":
    sys.exit(main())
