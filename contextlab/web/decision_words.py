"""What decisions of automatic compaction came to, in words."""

from __future__ import annotations

from dataclasses import dataclass

from contextlab.core.agent.auto_compaction import COOL_DOWN, PINS_ALONE, USELESS
from contextlab.core.replaying import decisions as log
from contextlab.queries.decisions import StepDecision

UNDER_WAY, STOPPED = "under_way", "stopped"

WORDS = {
    log.NOT_DUE: "not due", log.MADE: "made", log.NOOP: "nothing to do", log.PAUSED: "paused",
    log.QUEUED: "under way",
    log.FAILED: "failed", log.CONFLICT: "conflict", log.NEEDS_MODEL: "would fire", log.UNKNOWN: "not evaluated",
}  # fmt: skip
MEANINGS = {
    log.NOT_DUE: "evaluated, and the rule did not fire",
    log.QUEUED: "fired, and the compaction has not ended yet",
    log.MADE: "fired, and memory was replaced",
    log.NOOP: "fired, and nothing was to be done",
    log.PAUSED: "due, but nothing was tried",
    log.FAILED: "fired, and went wrong: memory was left as it was",
    log.CONFLICT: "fired, and memory was changed meanwhile",
    log.NEEDS_MODEL: "would have fired, and needs a model: nobody was asked",
    log.UNKNOWN: "not evaluated: memory behind a compaction that was not made is not known",
}
REASONS = {
    COOL_DOWN: "nothing new has come since the last one",
    USELESS: "the last three were of too little use",
    PINS_ALONE: "what is pinned is over the budget by itself",
    UNDER_WAY: "another compaction of this memory had not ended",
    STOPPED: "somebody stopped it",
    "nothing_to_summarise": "there was nothing to summarise",
    "no_gain": "memory would not have become smaller",
}


@dataclass(frozen=True, slots=True)
class Told:
    """A decision with what it came to in words."""

    decision: StepDecision
    word: str
    reason: str


def told(decision: StepDecision | None) -> Told | None:
    """A step's decision for its page; None where none was made."""
    if decision is None:
        return None
    return Told(decision, WORDS[decision.outcome], ": ".join(filter(None, reason_words(decision.reason))))


def figure_source(rule: str, threshold: int | None, counted: bool) -> str:
    """Where the figure is from that a rule held against its threshold; empty for what is a number of things.

    A rule with a measure of its own says so itself.
    """
    what = "" if threshold is None else rule.partition(f" {threshold:,}")[0].rstrip(" >=")
    if what.endswith("estimated tokens"):
        return "estimated"
    return ("counted" if counted else "estimated") if what.endswith("tokens") else ""


def reason_words(reason: str) -> tuple[str, str]:
    """A reason in words, and the part that is too big where it names one."""
    name, _, part = reason.partition(": ")
    return REASONS.get(name, name.replace("_", " ") if name.isidentifier() else reason), (
        part if name in REASONS else ""
    )
