"""What stands in an agent's memory: items, their kinds, and what can happen to them.

An item is one content part (a text, a call, a result, a reasoning block, an image). The parts of one
provider message share an entry. Items never change; what changes from step to step is their verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What an item is. `ui` items are never part of a context."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    REASONING = "reasoning"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    SUMMARY = "summary"
    UI = "ui"


KINDS: tuple[Kind, ...] = tuple(Kind)
"""Kinds in a fixed order; a kind's place here is its code in columns and in the database."""

KIND_CODE: dict[str, int] = {kind: code for code, kind in enumerate(KINDS)}


class Verdict(StrEnum):
    """One item's fate at a step."""

    PINNED = "pinned"
    KEPT = "kept"
    CLEARED = "cleared"
    REASONING_CLEARED = "reasoning_cleared"
    OFFLOADED = "offloaded"
    SUMMARISED = "summarised"
    DROPPED = "dropped"


VERDICTS: tuple[Verdict, ...] = tuple(Verdict)
VERDICT_CODE: dict[str, int] = {verdict: code for code, verdict in enumerate(VERDICTS)}
IN_CONTEXT = frozenset(
    {Verdict.PINNED, Verdict.KEPT, Verdict.CLEARED, Verdict.OFFLOADED, Verdict.REASONING_CLEARED}
)
"""Verdicts under which something of the item (itself or a stub) still stands in the context.

A reasoning item that the provider strips (reason `provider_strips`) is the exception: nothing of it is sent.
"""

LEFT_OUT = frozenset({Verdict.SUMMARISED, Verdict.DROPPED})


class Reason(StrEnum):
    """Why an item has its verdict."""

    MAX_ITEMS = "max_items"
    MAX_CHARS = "max_chars"
    MAX_TOKENS = "max_tokens"
    TIER1 = "tier1"
    TIER2 = "tier2"
    PAIR_GUARD = "pair_guard"
    PINNED_PREFIX = "pinned_prefix"
    PINNED_BY_PERSON = "pinned_by_person"
    SYSTEM = "system"
    COMPACTED = "compacted"
    MICRO_COMPACTED = "micro_compacted"
    PREVIEWED = "previewed"
    PROVIDER_STRIPS = "provider_strips"
    LOG_OFFLOADED = "log_offloaded"
    ABANDONED_BRANCH = "abandoned_branch"
    CONTEXT_CLEARED = "context_cleared"
    ROLLED_BACK = "rolled_back"
    EARLIER_FILE = "earlier_file"
    LOG_SUMMARY = "log_summary"
    UI_ONLY = "ui_only"
    MAX_TURNS = "max_turns"
    MAX_MESSAGES = "max_messages"
    TOOL_TURN_COMPACTED = "tool_turn_compacted"
    ORPHAN_PREFIX = "orphan_prefix"
    STRATEGY_1 = "strategy_1"
    STRATEGY_2 = "strategy_2"
    STRATEGY_3 = "strategy_3"
    STRATEGY_4 = "strategy_4"
    STRATEGY_5 = "strategy_5"
    STRATEGY_6 = "strategy_6"


class Injected(StrEnum):
    """Why a user item is not the words of a person at a turn's start. Such items never start a turn."""

    META = "meta"
    TASK = "task_notification"
    COMMAND_OUTPUT = "command_output"
    ATTACHMENT = "attachment"
    QUEUED = "queued"
    CONTEXT = "context"
    SYNTHETIC = "synthetic"
    MIDTURN = "midturn"


@dataclass(slots=True, frozen=True)
class Media:
    """An image or a file inside an item. Its token count is unknown until a provider reports it."""

    type: str
    """`image`, `file` or `audio`."""
    mime: str | None = None
    size: int | None = None
    """Encoded size in characters as it stands in the log, None where the log only names it."""


@dataclass(slots=True)
class Item:
    """One content part of memory.

    `text` is a text as it was, a call's arguments as logged, a result's text; `chars` counts code points
    (for a call its name and its arguments); `tokens` is None until counted.
    """

    id: str
    kind: Kind
    text: str = ""
    entry: str = ""
    tool: str | None = None
    call_id: str | None = None
    chars: int = -1
    tokens: int | None = None
    pinned: bool = False
    injected: Injected | None = None
    opens_turn: bool = False
    media: tuple[Media, ...] = ()
    needs_result: bool = True
    """False for calls that the provider answers by itself (web search)."""
    error: bool | None = None
    """For results: whether it is marked as failed; None where nobody says."""

    def __post_init__(self) -> None:
        """Fill the entry with the item's own id and `chars` from the text where they were not given."""
        if not self.entry:
            self.entry = self.id
        if self.chars < 0:
            self.chars = measure(self.kind, self.text, self.tool)


@dataclass(slots=True)
class LiveItem(Item):
    """An item of a live session, with what a provider wants to see again byte by byte."""

    provider_id: str | None = None
    """The provider's own id of a reasoning item."""
    secret: str | None = None
    """Signature or encrypted content of reasoning."""


def measure(kind: str, text: str, tool: str | None) -> int:
    """Size in code points: the text, and for a call its name as well (rulings: `chars`)."""
    return len(text) + (len(tool) if tool and kind == Kind.TOOL_CALL else 0)


def estimate_tokens(text: str, tool: str | None = None) -> int:
    """Token estimate before anything is counted: a quarter of the UTF-8 bytes, rounded up; 0 for nothing."""
    # Whether a text is ASCII is known without looking at it.
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return (size + (len(tool) if tool else 0) + 3) // 4
