"""A summary's request has a budget of its own: what is too long is cut, then asked for in parts that are merged.

| step   | rule                                                                                                       |
|--------|------------------------------------------------------------------------------------------------------------|
| fits   | the request goes as it is                                                                                  |
| prune  | long texts of the transcript keep their beginning and their end, with a mark that says how much is missing |
| chunk  | lines of the transcript in parts that fit, each summarised by itself, in order                             |
| merge  | the parts' summaries are the transcript of one last request                                                |
| learn  | a provider that refuses the length is asked again within half of the budget, LEARNS times                  |
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from contextlab.core.compaction import Progress
from contextlab.core.items import estimate_tokens
from contextlab.core.language_model import LanguageModel, ModelError, ModelMessage, ModelReply
from contextlab.core.summarising.asking import is_too_long
from contextlab.core.summarising.transcript import BEGIN, END

LONGEST = 4_000
"""Characters of one text that pruning leaves."""
LEARNS = 2
MOST_PARTS = 64


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
        ask = _Asking(self._model, json_mode, max_output_tokens, timeout)
        budget = self._budget
        for _ in range(LEARNS):
            try:
                return self._within(messages, ask, budget)
            except ModelError as error:
                if not is_too_long(error):
                    raise
                budget = min(budget, error.limit or budget) // 2
        return self._within(messages, ask, budget)

    def _within(self, messages: Sequence[ModelMessage], ask: _Asking, budget: int) -> ModelReply:
        if tokens_of(messages) <= budget:
            return ask(messages)
        messages = [ModelMessage(one.role, pruned(one.content)) for one in messages]
        if tokens_of(messages) <= budget:
            return ask(messages)
        parts = in_parts(messages, budget)
        found = []
        for number, part in enumerate(parts, 1):
            self._tell(number, len(parts) + 1)
            found.append(ask(part).text)
        self._tell(len(parts) + 1, len(parts) + 1)
        return ask(merging(messages, found, budget))

    def _tell(self, number: int, total: int) -> None:
        if self._progress is not None:
            self._progress("asking", number, total)


class _Asking:
    """The model with the options of a request."""

    def __init__(
        self, model: LanguageModel, json_mode: bool, most: int | None, timeout: float | None
    ) -> None:
        self._model, self._json_mode, self._most, self._timeout = model, json_mode, most, timeout

    def __call__(self, messages: Sequence[ModelMessage]) -> ModelReply:
        return self._model.complete(
            messages, json_mode=self._json_mode, max_output_tokens=self._most, timeout=self._timeout
        )


def tokens_of(messages: Sequence[ModelMessage]) -> int:
    """The size of a request, estimated."""
    return sum(estimate_tokens(message.content) for message in messages)


def pruned(content: str) -> str:
    """A message whose transcript has no long texts any more."""
    head, lines, tail = _taken_apart(content)
    return _put_together(head, [_shorter(line) for line in lines], tail)


def in_parts(messages: Sequence[ModelMessage], budget: int) -> list[list[ModelMessage]]:
    """The request once for each part of its transcript; raises ModelError where nothing would fit."""
    *rest, last = messages
    head, lines, tail = _taken_apart(last.content)
    room = budget - tokens_of([*rest, ModelMessage("user", head + tail)]) - 50
    if room < LONGEST // 4:
        raise ModelError("prompt_too_long", "the request is too long even without the transcript")
    parts: list[list[str]] = [[]]
    size = 0
    for line in lines:
        tokens = estimate_tokens(line) + 1
        if parts[-1] and size + tokens > room:
            parts.append([])
            size = 0
        parts[-1].append(line)
        size += tokens
    if len(parts) > MOST_PARTS:
        raise ModelError(
            "prompt_too_long", f"the transcript would take {len(parts)} requests; at most {MOST_PARTS}"
        )
    return [[*rest, ModelMessage(last.role, _put_together(head, part, tail))] for part in parts]


def merging(messages: Sequence[ModelMessage], found: Sequence[str], budget: int) -> list[ModelMessage]:
    """The request that makes one summary of the parts' summaries, in their order."""
    *rest, last = messages
    head, _, tail = _taken_apart(last.content)
    room = max(500, (budget - tokens_of([*rest, ModelMessage("user", head + tail)])) * 3 // len(found) - 100)
    lines = [
        json.dumps({"kind": "summary", "part": number, "text": text[:room]}, ensure_ascii=False).replace(
            END, "<\\/"
        )
        for number, text in enumerate(found, 1)
    ]
    return [*rest, ModelMessage(last.role, _put_together(head, lines, tail))]


def _taken_apart(content: str) -> tuple[str, list[str], str]:
    """What stands before the transcript, its lines, and what stands behind it; all lines where there are no marks.

    A text inside may hold the first mark, but never with a line end behind it, which JSON writes as an escape.
    """
    start, end = content.rfind(f"{BEGIN}\n"), content.rfind(END)
    if not 0 <= start < end:
        return "", content.split("\n"), ""
    lines = content[start + len(BEGIN) : end].strip("\n").split("\n")
    return content[:start], lines, content[end + len(END) :]


def _put_together(head: str, lines: Sequence[str], tail: str) -> str:
    return f"{head}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{tail}"


def _shorter(line: str) -> str:
    if len(line) <= LONGEST:
        return line
    try:
        fields = json.loads(line)
    except ValueError:
        return _cut(line)
    if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
        return _cut(line)
    return json.dumps({**fields, "text": _cut(fields["text"])}, ensure_ascii=False).replace(
        END, END.replace("/", "\\/")
    )


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]} [{len(text) - 2 * half} characters left out] {text[-half:]}"
