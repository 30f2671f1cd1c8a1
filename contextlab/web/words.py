"""The words and CSS classes that pages use for kinds, verdicts, reasons, formats and sources of figures."""

from __future__ import annotations

from functools import cache

from contextlab.core.items import KINDS, VERDICTS, Kind, Reason, Verdict
from contextlab.importers import importers

KIND_CLASSES: dict[str, str] = {
    Kind.SYSTEM: "k-system",
    Kind.USER: "k-user",
    Kind.ASSISTANT: "k-assistant",
    Kind.REASONING: "k-reasoning",
    Kind.TOOL_CALL: "k-call",
    Kind.TOOL_RESULT: "k-result",
    Kind.SUMMARY: "k-summary",
    Kind.UI: "k-ui",
}
KIND_LABELS: dict[str, str] = {kind.value: kind.value.replace("_", " ") for kind in KINDS} | {
    "ui": "shown only"
}
VERDICT_LABELS: dict[str, str] = {verdict.value: verdict.value.replace("_", " ") for verdict in VERDICTS}

VERDICT_MEANINGS: dict[str, str] = {
    Verdict.PINNED: "always kept: a system item, the pinned beginning, or pinned by a person",
    Verdict.KEPT: "in the context as it is",
    Verdict.CLEARED: "in the context as a placeholder; the original is kept here",
    Verdict.REASONING_CLEARED: "earlier reasoning, no longer sent",
    Verdict.OFFLOADED: "in the context as a preview; the original lies elsewhere",
    Verdict.SUMMARISED: "only what the summary says of it is in the context",
    Verdict.DROPPED: "not in the context at all",
}

REASON_LABELS: dict[str, str] = {
    Reason.MAX_ITEMS: "over the item limit",
    Reason.MAX_CHARS: "over the character limit",
    Reason.MAX_TOKENS: "over the token limit",
    Reason.TIER1: "older than the results that are kept",
    Reason.TIER2: "earlier reasoning is trimmed",
    Reason.PAIR_GUARD: "its call or result is not in the context",
    Reason.PINNED_PREFIX: "part of the pinned beginning",
    Reason.PINNED_BY_PERSON: "pinned by a person",
    Reason.SYSTEM: "system items are always kept",
    Reason.COMPACTED: "replaced by the summary of a compaction",
    Reason.MICRO_COMPACTED: "cleared by the agent's micro-compaction",
    Reason.PREVIEWED: "the policy's micro-compaction left its beginning",
    Reason.PROVIDER_STRIPS: "the provider leaves out reasoning of earlier turns",
    Reason.LOG_OFFLOADED: "the agent stored the original in a file",
    Reason.ABANDONED_BRANCH: "on a branch that was abandoned",
    Reason.CONTEXT_CLEARED: "the context was cleared",
    Reason.ROLLED_BACK: "rolled back",
    Reason.EARLIER_FILE: "only in an earlier file",
    Reason.LOG_SUMMARY: "a summary that the log carries",
    Reason.UI_ONLY: "shown to the person, never sent",
    Reason.MAX_TURNS: "older than the turns that are attached",
    Reason.MAX_MESSAGES: "over the message limit",
    Reason.TOOL_TURN_COMPACTED: "a step inside a completed turn, of which question and answer stay",
    Reason.ORPHAN_PREFIX: "before the first user message",
    Reason.STRATEGY_1: "part of a run of tool calls that a summary stands for (strategy 1)",
    Reason.STRATEGY_2: "large, and older than the newest messages (strategy 2)",
    Reason.STRATEGY_3: "large, and before the last answer (strategy 3)",
    Reason.STRATEGY_4: "part of an earlier round that a summary stands for (strategy 4)",
    Reason.STRATEGY_5: "large, in the current round (strategy 5)",
    Reason.STRATEGY_6: "part of the current round that a summary stands for (strategy 6)",
}

_SHORT: dict[str, str] = {"claude-code": "Claude Code", "codex": "Codex", "openai-chat": "OpenAI chat"}
"""What people call the agent, where the importer's label names its kind of file."""

SOURCE_MEANINGS: dict[str, str] = {
    "reported": "as the provider reported it",
    "counted": "counted with the o200k_base tokenizer",
    "calibrated": "counted, then corrected for the model",
    "estimated": "estimated from the size of the text until it is counted",
    "assumed": "taken from the model table",
    "logged": "as the log states it",
    "table": "from the model table",
}


def sources_said(before: str, after: str) -> str:
    """Where two figures that stand side by side come from, in the words that go behind them."""
    known = dict.fromkeys(name for name in (before, after) if name)
    return " → ".join(known)


def kind_class(kind: str | int) -> str:
    """CSS class of a kind, by name or by its code in the database."""
    return KIND_CLASSES.get(_kind(kind), "k-ui")


def kind_label(kind: str | int) -> str:
    """The kind in words."""
    name = _kind(kind)
    return KIND_LABELS.get(name, name.replace("_", " "))


def verdict_name(verdict: str | int) -> str:
    """Name of a verdict, by name or by its code in the database."""
    return (
        VERDICTS[verdict].value if isinstance(verdict, int) and 0 <= verdict < len(VERDICTS) else str(verdict)
    )


def format_label(name: str) -> str:
    """The kind of log in words, as its importer calls it; a format without one keeps its machine name."""
    return _format_labels().get(name, name or "unknown format")


@cache
def _format_labels() -> dict[str, str]:
    return {importer.FORMAT: importer.LABEL for importer in importers()} | _SHORT


def _kind(kind: str | int) -> str:
    return KINDS[kind].value if isinstance(kind, int) and 0 <= kind < len(KINDS) else str(kind)
