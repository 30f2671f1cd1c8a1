"""One call of a model: the conversation becomes a user message that announces a summary, and the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.compaction import Deps
from contextlab.core.documents.options import Options
from contextlab.core.errors import PolicyError
from contextlab.core.items import Injected, Item, Kind
from contextlab.core.summarising.compressing import PLACE, SUMMARY_HEADING, ask, new_id
from contextlab.core.summarising.transcript import transcript

INSTRUCTION = (
    "Shorten this record of a conversation with an agent so that the work can go on from it. Keep facts, numbers, "
    "identifiers, paths, what the user asked for and ruled out, decisions with their reasons, results, and what is "
    "still open. Add nothing that is not in it."
)


@dataclass(slots=True, frozen=True)
class ModelSummary:
    """Asks a model for one summary.

    Raises ValueError for a blank instruction.
    """

    kind: ClassVar[str] = "model_summary"
    needs_model: ClassVar[bool] = True
    instruction: str = INSTRUCTION
    timeout_seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse to ask a model for nothing."""
        if not self.instruction.strip():
            raise ValueError("the instruction must not be blank")

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:  # noqa: ARG003 - the same in both
        """Read `instruction` and `timeout_seconds`; raises PolicyError."""
        return cls(*read_asking(options, INSTRUCTION))

    def compress(self, items: Sequence[Item], deps: Deps) -> list[Item]:
        """Heading and summary; nothing, and no call, for no items. Raises ModelError."""
        if not items:
            return []
        text = ask(deps, self.instruction, transcript(items), timeout=self.timeout_seconds)
        asked = Item(
            new_id(deps, "summary_request", items), Kind.USER, SUMMARY_HEADING, injected=Injected.SYNTHETIC
        )
        return [asked, Item(new_id(deps, "summary", items), Kind.ASSISTANT, text)]


COMPRESSOR = ModelSummary


def read_asking(options: Mapping[str, object], instruction: str) -> tuple[str, float | None]:
    """The options of a compressor that asks a model: instruction and time limit; raises PolicyError."""
    given = Options(options, ("instruction", "timeout_seconds"), PLACE)
    text = given.text("instruction", instruction)
    if not text.strip():
        raise PolicyError("must not be blank", given.place("instruction"))
    seconds = given.limit("timeout_seconds")
    if seconds is not None and seconds <= 0:
        raise PolicyError(f"must be positive, not {seconds}", given.place("timeout_seconds"))
    return text, seconds
