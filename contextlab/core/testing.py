"""Doubles for tests of programs that use the core: a scripted model and an id source that counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from contextlab.core.language_model import ModelError, ModelMessage, ModelReply, ModelUsage


@dataclass(slots=True)
class ScriptedModel:
    """Answers what it was told to, in order: a text, a ModelReply, or an exception to raise.

    After the script it answers SUM, SUM2, SUM3 ... (counted over all calls). `calls` holds every request.
    """

    script: list[str | ModelReply | Exception] = field(default_factory=list)
    calls: list[tuple[ModelMessage, ...]] = field(default_factory=list)

    @classmethod
    def saying(cls, answers: Iterable[str | ModelReply | Exception]) -> ScriptedModel:
        """A model that gives these answers."""
        return cls(list(answers))

    def complete(  # every argument is part of the protocol
        self,
        messages: Sequence[ModelMessage],
        *,
        json_mode: bool = False,  # noqa: ARG002
        max_output_tokens: int | None = None,  # noqa: ARG002
        timeout: float | None = None,  # noqa: ARG002
    ) -> ModelReply:
        """The next answer of the script."""
        self.calls.append(tuple(messages))
        number = len(self.calls)
        answer = self.script.pop(0) if self.script else ("SUM" if number == 1 else f"SUM{number}")
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, ModelReply):
            return answer
        return ModelReply(answer, ModelUsage(input_tokens=sum(len(m.content) for m in messages) // 4))


class CountingIds:
    """Ids `summary-1`, `summary-2` ...: the same order of calls gives the same ids."""

    def __init__(self) -> None:
        """Nothing counted yet."""
        self._counts: Counter[str] = Counter()

    def __call__(self, what: str) -> str:
        """The next id for a `what`."""
        self._counts[what] += 1
        return f"{what}-{self._counts[what]}"


__all__ = ["CountingIds", "ModelError", "ScriptedModel"]
