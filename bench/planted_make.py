"""Made transcripts with planted damage: which facts, which fate, among which talk. The same seed makes the same."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.planted_formats import FORMATS, OPENING, Said, write

TEXTS = json.loads((Path(__file__).parent / "planted_texts.json").read_text(encoding="utf-8"))
LANGUAGES = ("en", "en", "en", "zh", "ja", "de")


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
    talk = [Said("user", _ASKING[language])]
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


_ASKING = {
    "en": "Please help me with this service.",
    "de": "Hilf mir bitte mit diesem Dienst.",
    "zh": "请帮我处理这个服务。",
    "ja": "このサービスを手伝ってください。",
}
_LINES = (
    "value = compute({})", "INFO worker took {} ms", "retry after {}", "return items[{}]", "GET /v1/orders/{} 200",
    "id={} state=open", "assert total == {}", "port = {}", "# line {}", "timeout {} reached", "version 0.{}.1",
)  # fmt: skip


def _told_filler(roll: random.Random) -> list[str]:
    lines = ["The helper in src/common/text.py was cleaned up.", "All tests of the module pass.",
             "Next: write the documentation.", "The user asked for help with a service.",
             "Some files were read to understand the flow."]  # fmt: skip
    return roll.sample(lines, k=roll.randint(1, 4))
