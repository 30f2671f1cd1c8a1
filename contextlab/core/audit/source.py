"""Items as the audit reads them: whose words they are, and which call a result answers.

| item                                          | voice     | read for                                           |
|-----------------------------------------------|-----------|----------------------------------------------------|
| prompt, or words that a person sent meanwhile | user      | everything; rules and corrections only here        |
| assistant, reasoning, earlier summary         | assistant | everything but rules                               |
| tool call                                     | call      | its command, its paths, settings in what it writes |
| result, injected text, system                 | result    | how it ended, errors, what short ones say          |
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from contextlab.core.call_arguments import arguments_of
from contextlab.core.items import KINDS, Kind
from contextlab.core.timeline import FLAG_ERROR, FLAG_INJECTED, UNKNOWN, Timeline

Texts = Callable[[int], str]
USER, ASSISTANT, CALL, RESULT = "user", "assistant", "call", "result"
_CALL, _RESULT, _USER = Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.USER
_VOICES = {
    Kind.USER: USER, Kind.TOOL_CALL: CALL, Kind.ASSISTANT: ASSISTANT, Kind.REASONING: ASSISTANT,
    Kind.SUMMARY: ASSISTANT,
}  # fmt: skip
"""Of the other kinds it is that of results."""


@dataclass(slots=True)
class SourceItem:
    """One item with its text."""

    position: int
    kind: Kind
    text: str
    voice: str
    tool: str = ""
    """Of a call its tool, of a result the tool that was called."""
    call: int | None = None
    """Of a result the position of its call."""
    result: int | None = None
    """Of a call the position of its result."""
    failed: bool = False
    _arguments: dict[str, object] | None = field(default=None, repr=False)

    @property
    def arguments(self) -> dict[str, object]:
        """A call's arguments, empty where they are no JSON object."""
        if self._arguments is None:
            self._arguments = arguments_of(self.text) if self.kind == _CALL else {}
        return self._arguments

    def argument(self, *names: str) -> str:
        """The first of these arguments that is a text, else an empty one."""
        arguments = self.arguments
        for name in names:
            value = arguments.get(name)
            if isinstance(value, str):
                return value
        return ""


class Source:
    """The items of a session by position, made when they are asked for."""

    def __init__(self, timeline: Timeline, texts: Texts, spoken: Collection[int] = ()) -> None:
        """`spoken`: positions of injected items that are a person's words all the same (queued, sent mid-turn)."""
        self.timeline = timeline
        self._texts = texts
        self._spoken = frozenset(spoken)
        self._made: dict[int, SourceItem] = {}

    def __len__(self) -> int:
        """Number of items."""
        return len(self.timeline)

    def item(self, position: int) -> SourceItem:
        """The item at a position."""
        made = self._made.get(position)
        if made is None:
            made = self._made[position] = self._make(position)
        return made

    def items(self, positions: Iterable[int]) -> list[SourceItem]:
        """The items at positions, without those that are for the person's eyes only."""
        kinds, shown = self.timeline.kinds, KINDS.index(Kind.UI)
        return [self.item(position) for position in positions if kinds[position] != shown]

    def _make(self, position: int) -> SourceItem:
        timeline = self.timeline
        kind, flags, pair = (
            KINDS[timeline.kinds[position]],
            timeline.flags[position],
            timeline.pairs[position],
        )
        partner = None if pair == UNKNOWN else pair
        is_call, is_result = kind is _CALL, kind is _RESULT
        return SourceItem(
            position,
            kind,
            self._texts(position),
            self._voice(position, kind, bool(flags & FLAG_INJECTED)),
            tool=timeline.tools.get(position if is_call else pair, "") if is_call or is_result else "",
            call=partner if is_result else None,
            result=partner if is_call else None,
            failed=bool(flags & FLAG_ERROR),
        )

    def _voice(self, position: int, kind: Kind, injected: bool) -> str:
        if injected and kind is _USER and position not in self._spoken:
            return RESULT
        return _VOICES.get(kind, RESULT)


_MADE = tuple(KINDS.index(kind) for kind in (Kind.ASSISTANT, Kind.REASONING, Kind.TOOL_CALL))


class StepOf:
    """Steps by position."""

    def __init__(self, timeline: Timeline) -> None:
        """Steps begin behind what they saw."""
        self._timeline = timeline
        self._upto = [step.upto for step in timeline.steps]

    def of(self, position: int) -> int | None:
        """For what an agent said or called the step that did; else the first step that saw it; None for neither."""
        at = bisect_right(self._upto, position)
        if self._timeline.kinds[position] in _MADE:
            return at or None
        return at + 1 if at < len(self._upto) else None
