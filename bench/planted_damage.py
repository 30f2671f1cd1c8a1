"""python -m bench.planted_damage [--sessions 600] [--seed 1] [--show]

Plants damage into made transcripts of four formats and four languages, audits them, and prints the confusion table:
what was planted against the verdict that the ledger gives, the precision of `changed`, the recall of dropped rules
and of broken rules. Exit code 1 where a figure misses its target.

| planted      | what the summary does                                        | right verdicts                    |
|--------------|--------------------------------------------------------------|-----------------------------------|
| kept value   | tells it, in its own words                                   | kept (partial counts beside it)   |
| changed value| tells a wrong one                                            | changed                           |
| dropped value| is silent                                                    | dropped, resupplied               |
| kept rule    | tells it, in other words or another language                 | kept                              |
| dropped rule | is silent; half of them are broken later                     | dropped                           |
| trap         | tells the truth in another form, or a rule was taken back    | anything but changed              |

Every change that the ledger reports counts for the precision, also one that nobody planted. In Codex logs the
person's own messages stay in the context: what they say is kept, whatever the summary says.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from dataclasses import dataclass, field

from bench.planted_make import Planted, Transcript, make
from contextlab.core.assembler import Assembler
from contextlab.core.audit.auditing import audit
from contextlab.core.audit.results import (
    Audit,
    CompactionAudit,
    ConsequenceKind,
    Entry,
    FactKind,
    FactVerdict,
)
from contextlab.core.events import FileReport, SessionStart
from contextlab.importers import read_file
from contextlab.importers.base import Source

LOST = (FactVerdict.DROPPED, FactVerdict.RESUPPLIED)


def audited(made: Transcript) -> tuple[Audit, list[str]]:
    """The audit of a transcript, through its importer, with the texts of its items."""
    source = Source("planted.json", data=made.text.encode())
    sessions: dict[str, Assembler] = {}
    texts: dict[str, list[str]] = {}
    for key, event in read_file(source, FileReport()):
        assembler = sessions.setdefault(
            key, Assembler(event if isinstance(event, SessionStart) else SessionStart(key))
        )
        row = assembler.feed(event)
        if row is not None:
            texts.setdefault(key, []).append(row.event.text)
    [(key, assembler)] = sessions.items()
    return audit(assembler.timeline, texts[key].__getitem__, assembler.compactions), texts[key]


@dataclass
class Score:
    """The confusion table and its figures."""

    table: Counter[tuple[str, str]] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    """Reported changes: `right`, `wrong`."""
    broken: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)


def score(made: Transcript, done: Audit, texts: list[str], into: Score) -> None:
    """Compare what was planted with what the ledger says."""
    [one] = done.compactions
    origin = "detected" if made.kind == "openai-chat" else "recorded"
    if one.origin != origin:
        into.misses.append(f"{made.kind}: origin {one.origin}")
    for planted in made.planted:
        found = [entry for entry in one.ledger.entries if _is(entry, planted, texts)]
        if planted.stays:
            into.table[f"{planted.what} in an item that stays", _verdict(found, planted)] += 1
            if any(entry.verdict != FactVerdict.KEPT for entry in found):
                into.misses.append(
                    f"{made.kind}/{made.language} stays, but {_verdict(found, planted)}: {planted.name}"
                )
            continue
        if planted.what == "trap":
            _score_trap(made, planted, found, into)
            continue
        verdict = _verdict(found, planted)
        into.table[f"{planted.fate} {planted.what}", verdict] += 1
        if not _right(planted.fate, verdict):
            into.misses.append(
                f"{made.kind}/{made.language} {planted.fate} {planted.what} -> {verdict}: "
                f"{planted.needle} | {planted.name}"
            )
        if planted.broken:
            seen = _broken(one, planted)
            into.broken["found" if seen else "missed"] += 1
            if not seen:
                into.misses.append(f"{made.kind}/{made.language} not seen as broken: {planted.name}")
    for entry in one.ledger.entries:
        if entry.verdict == FactVerdict.CHANGED:
            right = any(_is_change(entry, planted) for planted in made.planted)
            into.changes["right" if right else "wrong"] += 1
            if not right:
                into.misses.append(
                    f"{made.kind}/{made.language} wrong change: {entry.fact.text} -> {entry.became}"
                )


def _score_trap(made: Transcript, planted: Planted, found: list[Entry], into: Score) -> None:
    """A trap is fallen into where one of its facts counts as changed, or a rule that was taken back as lost."""
    fallen = any(
        entry.verdict == FactVerdict.CHANGED or (planted.needle and entry.fact.kind == FactKind.RULE)
        for entry in found
    )
    into.table["trap", "changed" if fallen else "kept" if found else "not listed"] += 1
    if fallen:
        told = ", ".join(f"{entry.fact.text} {entry.verdict} {entry.became}" for entry in found)
        into.misses.append(f"{made.kind}/{made.language} trap {planted.name}: {told}")


def _verdict(found: list[Entry], planted: Planted) -> str:
    """The verdict of the fact that was planted; of several that say it the most telling."""
    if not found:
        return "not listed"
    verdicts = {entry.verdict for entry in found}
    if planted.what == "value":
        order = (FactVerdict.CHANGED, FactVerdict.KEPT, FactVerdict.PARTIAL, *LOST)
    else:
        order = (FactVerdict.CHANGED, *LOST, FactVerdict.PARTIAL, FactVerdict.KEPT)
    return next((str(verdict) for verdict in order if verdict in verdicts), str(next(iter(verdicts))))


def _is(entry: Entry, planted: Planted, texts: list[str]) -> bool:
    fact = entry.fact
    if not any(words in texts[fact.position] for words in planted.said):
        return False
    if planted.what == "rule":
        return fact.kind == FactKind.RULE
    if planted.what == "trap":
        return planted.needle in fact.text
    edges = r"(?<![\w.])" if planted.needle[0].isdigit() else ""
    told = re.search(f"{edges}{re.escape(planted.needle)}(?![0-9])", fact.text)
    return told is not None and fact.kind not in (FactKind.RULE, FactKind.DECISION, FactKind.COMMAND)


def _is_change(entry: Entry, planted: Planted) -> bool:
    became = entry.became or ""
    return (
        planted.fate == "changed"
        and not planted.stays
        and planted.needle in entry.fact.text
        and planted.wrong in became
    )


def _broken(one: CompactionAudit, planted: Planted) -> bool:
    return any(
        after.kind == ConsequenceKind.RULE_BROKEN and planted.needle.lower() in after.entry.fact.text.lower()
        for after in one.consequences
    )


def _right(fate: str, verdict: str) -> bool:
    return verdict in ("dropped", "resupplied") if fate == "dropped" else verdict == fate


def main() -> int:
    """Make, audit, count, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.planted_damage")
    parser.add_argument("--sessions", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="list what is not as planted")
    asked = parser.parse_args()
    into = Score()
    for seed in range(asked.seed, asked.seed + asked.sessions):
        made = make(seed)
        score(made, *audited(made), into)
    print("\n".join(report(into, asked.sessions)))
    if asked.show:
        for miss, count in Counter(into.misses).most_common():
            print(f"{count:>4}  {miss}", file=sys.stderr)
    return 0 if passed(into) else 1


def figures(into: Score) -> dict[str, float]:
    """Precision and recalls, from 0 to 1."""

    def recall(row: str, *verdicts: str) -> float:
        total = sum(count for (planted, _), count in into.table.items() if planted == row)
        return sum(into.table[row, verdict] for verdict in verdicts) / total if total else 1.0

    changes = into.changes["right"] + into.changes["wrong"]
    broken = into.broken["found"] + into.broken["missed"]
    return {
        "changed values found": recall("changed value", "changed"),
        "precision of changed": into.changes["right"] / changes if changes else 1.0,
        "dropped rules found": recall("dropped rule", "dropped"),
        "kept rules called kept": recall("kept rule", "kept"),
        "broken rules tied to the compaction": into.broken["found"] / broken if broken else 1.0,
    }


TARGETS = {"changed values found": 1.0, "precision of changed": 0.95, "dropped rules found": 0.9}


def passed(into: Score) -> bool:
    """Whether all targets are met."""
    told = figures(into)
    return all(told[name] >= least for name, least in TARGETS.items())


def report(into: Score, sessions: int) -> list[str]:
    """The table and the figures, as Markdown."""
    columns = [str(verdict) for verdict in FactVerdict if any(key[1] == verdict for key in into.table)] + [
        "not listed"
    ]
    rows = sorted({row for row, _ in into.table})
    lines = [f"{sessions} transcripts, {sum(into.table.values()):,} things planted", ""]
    lines += ["| planted | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [
        f"| {row} | " + " | ".join(str(into.table[row, column]) for column in columns) + " |" for row in rows
    ]
    lines += ["", "| figure | value | target |", "|---|---|---|"]
    for name, value in figures(into).items():
        target = TARGETS.get(name)
        lines.append(
            f"| {name} | {100 * value:.1f} % | {'' if target is None else f'{100 * target:.0f} %'} |"
        )
    changes = into.changes
    lines.append(
        f"\n{changes['right'] + changes['wrong']:,} changes reported, {changes['wrong']:,} of them wrong"
    )
    return lines


if __name__ == "__main__":
    sys.exit(main())
