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
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.planted_formats import FORMATS, OPENING, Said, write
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
from contextlab.core.timeline import Assembler
from contextlab.importers import read_file
from contextlab.importers.base import Source

TEXTS = json.loads((Path(__file__).parent / "planted_texts.json").read_text(encoding="utf-8"))
LANGUAGES = ("en", "en", "en", "zh", "ja", "de")
LOST = (FactVerdict.DROPPED, FactVerdict.RESUPPLIED)


@dataclass
class Planted:
    """One planted thing: what it is, how it is recognised, what became of it."""

    what: str
    """`value`, `rule` or `trap`."""
    fate: str
    needle: str
    wrong: str = ""
    name: str = ""
    stays: bool = False
    """The item that says it stays in the context."""
    broken: bool = False
    said: tuple[str, ...] = ()
    """The words that say it: its fact comes from an item that has them."""


@dataclass
class Transcript:
    """A made log with what was planted in it."""

    kind: str
    language: str
    text: str
    summary: str
    planted: list[Planted] = field(default_factory=list)


def make(seed: int) -> Transcript:
    """A transcript; the same seed makes the same."""
    roll = random.Random(seed)
    kind, language = FORMATS[seed % len(FORMATS)], roll.choice(LANGUAGES)
    made = Transcript(kind, language, "", "")
    before: list[list[Said]] = []
    told: list[str] = []
    after: list[Said] = []
    for value in roll.sample(
        _of("values", language), k=min(len(_of("values", language)), roll.randint(3, 9))
    ):
        _plant_value(roll, made, value, before, told)
    for rule in roll.sample(_of("rules", language), k=min(len(_of("rules", language)), roll.randint(1, 4))):
        _plant_rule(roll, made, rule, before, told, after)
    for trap in roll.sample(_of("traps", language), k=min(len(_of("traps", language)), roll.randint(1, 4))):
        before.append([_said(voice, words) for voice, words in trap["said"]])
        told.append(trap["told"])
        made.planted.append(
            Planted(
                "trap",
                "trap",
                trap["withdrawn"] or "",
                name=trap["name"],
                said=tuple(words for _, words in trap["said"]),
            )
        )
    roll.shuffle(before)
    roll.shuffle(told)
    talk = [Said("user", {"en": "Please help me with this service.", "de": "Hilf mir bitte mit diesem Dienst.",
                          "zh": "请帮我处理这个服务。", "ja": "このサービスを手伝ってください。"}[language])]  # fmt: skip
    for group in before:
        talk += [*group, *_filler(roll, language)]
    made.summary = OPENING[language] + "\n".join(f"- {line}" for line in [*told, *_told_filler(roll)])
    made.text = write(kind, f"planted-{seed}", talk, made.summary, [*_filler(roll, language), *after])
    return made


def _of(what: str, language: str) -> list[dict[str, Any]]:
    return [one for one in TEXTS[what] if one["language"] == language]


def _plant_value(
    roll: random.Random, made: Transcript, value: dict[str, Any], before: list[list[Said]], told: list[str]
) -> None:
    right, wrong = roll.choice(value["pairs"])
    fate = roll.choice(("kept", "changed", "dropped"))
    said = _said(value["voice"], value["said"].replace("{v}", right))
    before.append([said])
    if fate != "dropped":
        told.append(value["told"].replace("{v}", right if fate == "kept" else wrong))
    stays = made.kind == "codex" and said.who == "user"
    made.planted.append(Planted("value", fate, right, wrong, value["told"], stays, said=(said.text,)))


def _plant_rule(
    roll: random.Random,
    made: Transcript,
    rule: dict[str, Any],
    before: list[list[Said]],
    told: list[str],
    after: list[Said],
) -> None:
    fate = roll.choice(("kept", "dropped"))
    before.append([Said("user", rule["said"])])
    if fate == "kept":
        told.append(roll.choice(rule["kept"]))
    broken = fate == "dropped" and rule["breaks"] is not None and roll.random() < 0.5
    if broken:
        tool, arguments = rule["breaks"]
        after.append(Said("call", "done", tool, tuple(arguments.items())))
    made.planted.append(
        Planted("rule", fate, rule["needle"], "", rule["said"], made.kind == "codex", broken, (rule["said"],))
    )


def _said(voice: str, words: str) -> Said:
    if voice == "result":
        failed = words.startswith("ERROR")
        return Said("call", words, "Bash", (("command", "make run"),), failed)
    return Said(voice, words)


def _filler(roll: random.Random, language: str) -> Iterator[Said]:
    """Talk and outputs that say nothing that was planted: code, logs, numbers."""
    for _ in range(roll.randint(0, 2)):
        yield Said("assistant", roll.choice(TEXTS["chatter"][language]))
        if roll.random() < 0.6:
            lines = [
                f"{at:>4}  {roll.choice(_LINES).format(roll.randint(10, 99_999))}"
                for at in range(roll.randint(5, 60))
            ]
            yield Said(
                "call", "\n".join(lines), "Bash", (("command", f"cat src/part_{roll.randint(1, 99)}.txt"),)
            )


_LINES = (
    "value = compute({})", "INFO worker took {} ms", "retry after {}", "return items[{}]", "GET /v1/orders/{} 200",
    "id={} state=open", "assert total == {}", "port = {}", "# line {}", "timeout {} reached", "version 0.{}.1",
)  # fmt: skip


def _told_filler(roll: random.Random) -> list[str]:
    lines = ["The helper in src/common/text.py was cleaned up.", "All tests of the module pass.",
             "Next: write the documentation.", "The user asked for help with a service.",
             "Some files were read to understand the flow."]  # fmt: skip
    return roll.sample(lines, k=roll.randint(1, 4))


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
                f"{made.kind}/{made.language} {planted.fate} {planted.what} -> {verdict}: {planted.needle} | {planted.name}"
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
