"""How far a compaction is, in a person's words: the stages, the one it is at, and what is left of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextlab.queries.compaction import CompactionPage

STAGES = {
    "planning": "planning the cut", "asking": "asking the model", "parsing": "reading its answer",
    "checking": "checking the result", "writing": "writing the memory",
}  # fmt: skip
ONLY_WITH_MODEL = ("asking", "parsing")


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage: done, now or next."""

    words: str
    state: str


@dataclass(frozen=True, slots=True)
class Progress:
    """What the panel shows while a compaction waits or works."""

    headline: str
    detail: str
    stages: Sequence[Stage]


def progress_of(page: CompactionPage) -> Progress:
    """Of a run that has not ended."""
    run, now = page.run, _stage(page)
    names = [name for name in STAGES if page.allow_model or name not in ONLY_WITH_MODEL]
    at = names.index(now) if now in names else -1
    states = ["done" if place < at else "now" if place == at else "next" for place in range(len(names))]
    stages = [Stage(STAGES[name], state) for name, state in zip(names, states, strict=True)]
    if run.cancel_requested:
        return Progress("Stopping…", "It stops at its next request or check; memory stays as it is.", stages)
    if run.state == "queued":
        again = f"It will be tried again: {run.error}" if run.error else ""
        return Progress("Waiting for its turn", again, stages)
    headline = STAGES.get(now, "starting")
    unit = "chunk " if now == "asking" else ""
    detail = f"{unit}{run.done:,} of {run.total:,}" if run.total else ""
    return Progress(headline[:1].upper() + headline[1:], detail, stages)


def _stage(page: CompactionPage) -> str:
    """The stage by the words of the run: each part says what it is at."""
    doing = page.run.doing.lower()
    if page.run.state == "queued":
        return ""
    if doing.startswith("reading the answer"):
        return "parsing"
    return next((name for name in STAGES if doing.startswith(name)), "")
