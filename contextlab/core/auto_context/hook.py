"""Before a model call: compress if it is due, and tell the agent how to get back what was put aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from contextlab.core.agent.reload_tool import PARAMETER, RELOAD_TOOL
from contextlab.core.auto_context.tags import FORM
from contextlab.core.compaction import Deps, Outcome, Snapshot
from contextlab.core.errors import CompactError
from contextlab.core.items import Item, Kind

INSTRUCTION = f"""Parts of this conversation were shortened to save room. Where a message ends with a mark like
{FORM.format("ID")}
you see a preview or a summary; the full original is stored under that ID. When you need details that the shortened
text lacks, call the tool {RELOAD_TOOL} with {PARAMETER} set to the ID. Do not guess what the original says, do not ask
for it again when you have just read it, and never write such a mark yourself."""
"""What the system message says about tags."""
INSTRUCTION_ID = "context_reload_instruction"


class Compresses(Protocol):
    """What the hook needs of a policy."""

    @property
    def mode(self) -> str:
        """`safe` or `reference`."""
        ...

    def compact(self, snapshot: Snapshot, deps: Deps) -> Outcome:
        """Compress if it is due."""
        ...


@dataclass(slots=True, frozen=True)
class Prepared:
    """What goes to the model (`items`), the memory to go on with, and what the compression came to."""

    items: tuple[Item, ...]
    memory: Snapshot
    outcome: Outcome | None = None
    """To be committed with its offloads; None where compression failed."""
    error: CompactError | None = None
    """Why it failed. Memory is as it was."""


def before_model_call(snapshot: Snapshot, policy: Compresses, deps: Deps) -> Prepared:
    """Compress, and hand out the memory with the instruction; a failure leaves memory as it is and is told.

    In reference mode a failure is raised, as the original lets it stop the agent.
    """
    try:
        outcome = policy.compact(snapshot, deps)
    except CompactError as error:
        if policy.mode == "reference":
            raise
        return Prepared(with_instruction(snapshot.items), snapshot, error=error)
    memory = outcome.memory or snapshot
    return Prepared(with_instruction(memory.items), memory, outcome)


def with_instruction(items: Sequence[Item]) -> tuple[Item, ...]:
    """A prompt's items with the instruction: behind the first system item's text, else as a system item of its own."""
    first = items[0] if items else None
    if first is None or first.kind != Kind.SYSTEM:
        return (Item(INSTRUCTION_ID, Kind.SYSTEM, INSTRUCTION), *items)
    if INSTRUCTION in first.text:
        return tuple(items)
    text = f"{first.text}\n\n{INSTRUCTION}" if first.text else INSTRUCTION
    return (replace(first, text=text, chars=-1, tokens=None), *items[1:])
