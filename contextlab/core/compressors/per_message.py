"""The same messages, shorter: one call of a model gives a text for each of them.

| of the items           | what becomes of them                                              |
|------------------------|-------------------------------------------------------------------|
| texts of user and      | replaced by the model's text for their id; id, entry and the rest |
| assistant              | stay. Not named by the model, or named with a blank: untouched    |
| messages with a call,  | untouched, whatever the model says of them                        |
| results, pinned items  |                                                                   |

The model answers with a JSON array of {"messageId", "summary"}, alone or as one fenced block. Anything else raises
ModelError. (Reference mode appends an assistant's new text to the old one, as the original does.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from contextlab.core.budget import Mode
from contextlab.core.compaction import Deps
from contextlab.core.compressors.model_summary import read_asking
from contextlab.core.documents.options import read_mode
from contextlab.core.items import Item, Kind
from contextlab.core.language_model import ModelError
from contextlab.core.summarising.compressing import ask, copies
from contextlab.core.turns import has_text

INSTRUCTION = (
    "Shorten each message on its own. Keep facts, numbers, identifiers, wishes of the user and decisions."
)
ANSWER = (
    "Answer with a JSON array and nothing else, one element for each message: "
    '[{"messageId": "...", "summary": "..."}, ...]'
)
_FENCED = re.compile(r"\A```\w*\s*\n(.*)\n\s*```\Z", re.DOTALL)


@dataclass(slots=True, frozen=True)
class PerMessage:
    """Asks a model for shorter texts.

    Raises ValueError for a blank instruction.
    """

    kind: ClassVar[str] = "per_message"
    needs_model: ClassVar[bool] = True
    instruction: str = INSTRUCTION
    timeout_seconds: float | None = None
    mode: Mode = "safe"

    def __post_init__(self) -> None:
        """Refuse to ask a model for nothing."""
        if not self.instruction.strip():
            raise ValueError("the instruction must not be blank")

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Read `instruction` and `timeout_seconds`; raises PolicyError."""
        return cls(*read_asking(options, INSTRUCTION), read_mode(mode))

    def compress(self, items: Sequence[Item], deps: Deps) -> list[Item]:
        """The items with shorter texts; no call where there is none to shorten. Raises ModelError."""
        texts = _replaceable(items, deps)
        if not texts:
            return copies(items)
        sent = [{"messageId": item.id, "role": str(item.kind), "text": item.text} for item in texts]
        content = json.dumps(sent, ensure_ascii=False)
        shorter = _read(ask(deps, f"{self.instruction}\n{ANSWER}", content, timeout=self.timeout_seconds))
        wanted = {item.id: shorter[item.id] for item in texts if item.id in shorter}
        return [self._shortened(item, wanted.get(item.id)) for item in items]

    def _shortened(self, item: Item, text: str | None) -> Item:
        if text is None or item.kind not in (Kind.USER, Kind.ASSISTANT):
            return copies([item])[0]
        if self.mode == "reference" and item.kind == Kind.ASSISTANT:
            text = item.text + text
        return replace(item, text=text, chars=-1, tokens=None)


COMPRESSOR = PerMessage


def _replaceable(items: Sequence[Item], deps: Deps) -> list[Item]:
    calling = {item.entry for item in items if item.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT)}
    return [
        item
        for item in items
        if item.kind in (Kind.USER, Kind.ASSISTANT) and item.entry not in calling and has_text(item)
        if not item.pinned and item.id not in deps.pins
    ]


def _read(answer: str) -> dict[str, str]:
    """The model's texts by message id."""
    fenced = _FENCED.match(answer.strip())
    try:
        rows = json.loads(fenced.group(1) if fenced else answer)
    except (ValueError, RecursionError) as error:
        raise ModelError(
            "bad_answer", "The model's answer is not the JSON array that was asked for."
        ) from error
    if not isinstance(rows, list):
        raise ModelError("bad_answer", "The model's answer is JSON, but not the array that was asked for.")
    pairs = ((row.get("messageId"), row.get("summary")) for row in rows if isinstance(row, dict))
    return {
        name: text for name, text in pairs if isinstance(name, str) and isinstance(text, str) and text.strip()
    }
