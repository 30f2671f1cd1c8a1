"""python -m bench.ledger [FILE ...]

CPU milliseconds of the audit per megabyte of summarised text, and its growth: made sessions of 1 to 16 MB that look
like an agent's (nine parts of results, one of talk and calls), then the files named (logs with compactions). Ledger
alone (facts, verdicts) and the whole audit (with replay, consequences, decay, findings). Exit code 1 where a made
session misses 80 ms per MB or the exponent 1.15; the aim stands beside what was measured.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Callable, Iterator

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
from contextlab.core.timeline import Assembler
from contextlab.importers import read_file
from contextlab.importers.discover import discover

AIM = 80.0
LINEAR = 1.15
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


def spent(work: Callable[[], object]) -> float:
    """CPU seconds, the best of three runs."""
    best = math.inf
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def measured(events: Iterator[Event] | list[Event]) -> list[tuple[float, float, float]]:
    """Per compaction with a text: megabytes that left, seconds of its ledger, seconds of the whole audit."""
    assembler, texts = Assembler(SessionStart("")), list[str]()
    for event in events:
        row = assembler.feed(event)
        if row is not None:
            texts.append(row.event.text)
    timeline = assembler.timeline
    done = audit(timeline, texts.__getitem__, assembler.compactions)
    whole = spent(lambda: audit(timeline, texts.__getitem__, assembler.compactions))
    found = []
    start = 0
    for one in done.compactions:
        if one.micro or one.summary is None or not texts[one.summary]:
            continue
        left = range(start, one.upto)
        summary = texts[one.summary]
        alone = spent(
            lambda left=left, summary=summary: ledger_of(
                timeline, texts.__getitem__, left, (), summary=summary
            )
        )  # type: ignore[misc]
        found.append((one.ledger.characters / 1e6, alone, whole))
        start = one.upto
    return found


def _logs(paths: list[str]) -> Iterator[tuple[str, list[Event]]]:
    for source in discover(paths, problems=[]):
        events: dict[str, list[Event]] = {}
        for key, event in read_file(source, FileReport()):
            events.setdefault(key, []).append(event)
        for found in events.values():
            if any(isinstance(event, Compaction) for event in found):
                yield str(source.path), found


def main() -> int:
    """Measure and print."""
    rows = [(f"made, {size} MB", *measured(session(size))[0]) for size in SIZES]
    print(f"{'session':<44} {'MB left':>8} {'ledger ms':>10} {'ms per MB':>10} {'whole audit ms':>15}")
    for name, size, alone, whole in rows:
        print(
            f"{name:<44} {size:>8.2f} {1e3 * alone:>10.1f} {1e3 * alone / size:>10.1f} {1e3 * whole:>15.1f}"
        )
    logs = [(name[-44:], *figures) for name, found in _logs(sys.argv[1:]) for figures in measured(found)]
    for name, size, alone, whole in logs:
        print(
            f"{name:<44} {size:>8.2f} {1e3 * alone:>10.1f} {1e3 * alone / size:>10.1f} {1e3 * whole:>15.1f}"
        )
    if logs:
        size, alone = sum(row[1] for row in logs), sum(row[2] for row in logs)
        print(f"{'all logs':<44} {size:>8.2f} {1e3 * alone:>10.1f} {1e3 * alone / size:>10.1f}")
    first, last = rows[0], rows[-1]
    exponent = math.log(last[2] / first[2]) / math.log(last[1] / first[1])
    worst = max(1e3 * alone / size for _, size, alone, _ in rows)
    print(f"\nat most {worst:.1f} ms per MB (aim {AIM:.0f}), exponent {exponent:.2f} (aim {LINEAR})")
    return 0 if worst <= AIM and exponent <= LINEAR else 1


if __name__ == "__main__":
    sys.exit(main())
