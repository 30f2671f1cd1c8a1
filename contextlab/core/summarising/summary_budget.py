"""A summary's request has a budget of its own: what is too long is cut, then asked for in parts that are merged.

| step   | rule                                                                                                     |
|--------|----------------------------------------------------------------------------------------------------------|
| fits   | the request goes as it is                                                                                |
| prune  | long texts of the material keep their beginning and their end, with a mark that says how much is missing |
| chunk  | lines of the material in parts that fit, each summarised by itself, in order                             |
| merge  | the parts' summaries are the material of one last request, or again of several where they do not fit it  |
| learn  | a provider that refuses the length is asked again within half of the budget, LEARNS times                |

What is no material (the system message, the person's wishes) goes with each part as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from contextlab.core.compaction import Progress
from contextlab.core.items import estimate_tokens
from contextlab.core.language_model import LanguageModel, ModelError, ModelMessage, ModelReply, ask_model
from contextlab.core.summarising.asking import is_too_long
from contextlab.core.summarising.transcript import BEGIN, END

LONGEST = 4_000
"""Characters of one text that pruning leaves."""
LEAST = 500
"""Characters of a part's summary that are never cut; where they are too many together, they are merged in parts too."""
LEARNS = 2
MOST_PARTS = 64


Ask = Callable[[Sequence[ModelMessage]], ModelReply]


class WithinBudget:
    """A model that is never asked for more than so many tokens at once."""

    def __init__(self, model: LanguageModel, budget: int, progress: Progress | None = None) -> None:
        """`budget` in tokens, estimated; the answer's room is part of it. `progress` is told of parts."""
        self._model, self._budget, self._progress = model, budget, progress

    def complete(
        self,
        messages: Sequence[ModelMessage],
        *,
        json_mode: bool = False,
        max_output_tokens: int | None = None,
        timeout: float | None = None,
    ) -> ModelReply:
        """Answer; raises ModelError (`prompt_too_long` where even parts do not fit)."""
        ask = partial(
            ask_model, self._model, json_mode=json_mode, max_output_tokens=max_output_tokens, timeout=timeout
        )
        budget = self._budget
        for _ in range(LEARNS):
            try:
                return self._within(messages, ask, budget)
            except ModelError as error:
                if not is_too_long(error):
                    raise
                budget = min(budget, error.limit or budget) // 2
        return self._within(messages, ask, budget)

    def _within(self, messages: Sequence[ModelMessage], ask: Ask, budget: int) -> ModelReply:
        if tokens_of(messages) <= budget:
            return ask(messages)
        shorter = _Request(messages).pruned()
        if tokens_of(shorter) <= budget:
            return ask(shorter)
        request = _Request(shorter)
        parts = request.in_parts(budget)
        while len(parts) > 1:
            found = []
            for number, part in enumerate(parts, 1):
                self._tell(number, len(parts) + 1)
                found.append(ask(part).text)
                if not found[-1].strip():
                    raise ModelError(
                        "empty", f"the model answered with nothing to part {number} of {len(parts)}"
                    )
            self._tell(len(parts) + 1, len(parts) + 1)
            request = _Request(request.merging(found, budget))
            parts = request.in_parts(budget)
            if len(parts) >= len(found):
                raise ModelError(
                    "prompt_too_long", "the summaries of the parts are too long to be put together"
                )
        return ask(parts[0])

    def _tell(self, number: int, total: int) -> None:
        if self._progress is not None:
            self._progress("asking", number, total)


def tokens_of(messages: Sequence[ModelMessage]) -> int:
    """The size of a request, estimated."""
    return sum(estimate_tokens(message.content) for message in messages)


@dataclass(frozen=True, slots=True)
class _Material:
    """A message's lines that are summarised, with the frame that stands around them, if one does."""

    head: str
    lines: Sequence[str]
    tail: str

    @classmethod
    def of(cls, content: str) -> Self:
        """Of a message: all its lines, where there are no marks.

        A text inside may hold the first mark, but never with a line end behind it, which JSON writes as an escape.
        """
        start, end = content.rfind(f"{BEGIN}\n"), content.rfind(END)
        if not 0 <= start < end:
            return cls("", content.split("\n"), "")
        lines = content[start + len(BEGIN) : end].strip("\n").split("\n")
        return cls(f"{content[:start]}{BEGIN}\n", lines, f"\n{content[end:]}")

    def holding(self, lines: Sequence[str]) -> str:
        """The message with other lines."""
        return self.head + "\n".join(lines) + self.tail


class _Request:
    """A request and the lines of its material: of the messages that are marked as that, else of the last one."""

    def __init__(self, messages: Sequence[ModelMessage]) -> None:
        self._messages = messages
        marked = [at for at, message in enumerate(messages) if message.material] or [len(messages) - 1]
        self._material = {at: _Material.of(messages[at].content) for at in marked}

    def pruned(self) -> list[ModelMessage]:
        """The request without long texts in its material."""
        return self._holding(
            {at: [_shorter(line, LONGEST) for line in one.lines] for at, one in self._material.items()}
        )

    def in_parts(self, budget: int) -> list[list[ModelMessage]]:
        """The request once for each part of its material; raises ModelError where nothing would fit."""
        room = self._room(budget)
        if room < LONGEST // 4:
            raise ModelError(
                "prompt_too_long", "the request is too long even without what it shall summarise"
            )
        parts: list[dict[int, list[str]]] = [{}]
        size = 0
        for at, line in self._lines(room):
            tokens = estimate_tokens(line) + 1
            if parts[-1] and size + tokens > room:
                parts.append({})
                size = 0
            parts[-1].setdefault(at, []).append(line)
            size += tokens
        if len(parts) > MOST_PARTS:
            raise ModelError(
                "prompt_too_long", f"the transcript would take {len(parts)} requests; at most {MOST_PARTS}"
            )
        return [self._holding(part) for part in parts]

    def merging(self, found: Sequence[str], budget: int) -> list[ModelMessage]:
        """The request that makes one summary of the parts' summaries, in their order."""
        most = max(LEAST, self._room(budget) * 3 // len(found) - 100)
        lines = [
            _as_line({"kind": "summary", "part": number, "text": _cut(text, most)})
            for number, text in enumerate(found, 1)
        ]
        return self._holding({min(self._material): lines})

    def _lines(self, room: int) -> Iterator[tuple[int, str]]:
        """The lines with their messages; one that would not fit alone is cut until it does."""
        for at, one in self._material.items():
            for line in one.lines:
                yield at, _fitting(line, room)

    def _room(self, budget: int) -> int:
        """Tokens that are left for lines."""
        return budget - tokens_of(self._holding(dict.fromkeys(self._material, ()))) - 50

    def _holding(self, lines: Mapping[int, Sequence[str]]) -> list[ModelMessage]:
        """The request with these lines in place of its material; a message that gets none is left out."""
        told = []
        for at, message in enumerate(self._messages):
            if at not in self._material:
                told.append(message)
            elif at in lines:
                told.append(replace(message, content=self._material[at].holding(lines[at])))
        return told


def _fitting(line: str, room: int) -> str:
    """A line of so many tokens at most: in some scripts a letter is one, and JSON writes some letters as six."""
    most = LONGEST
    while estimate_tokens(line) >= room and most > 1:
        most //= 2
        line = _shorter(line, most)
    return line


def _shorter(line: str, most: int) -> str:
    """A line of which no text is longer."""
    if len(line) <= most:
        return line
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return _cut(line, most)
    if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
        return _cut(line, most)
    return _as_line({**fields, "text": _cut(fields["text"], most)})


def _as_line(fields: Mapping[str, Any]) -> str:
    """An object on one line, which cannot close the frame."""
    return json.dumps(fields, ensure_ascii=False).replace(END, END.replace("/", "\\/"))


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} [{len(text) - 2 * half} characters left out] {text[-half:]}"
