"""Protocol repair: a step's context as messages that every provider accepts.

Nothing is invented: what the source lacks gets a labelled stand-in, what no provider takes back is left out, and
each such repair is listed. The current turn's opening user item is brought back where the projection lost it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from contextlab.core.budget import Mode
from contextlab.core.items import IN_CONTEXT, Injected, Kind, Media, Reason, Verdict
from contextlab.core.projecting.stand_ins import NO_RESULT, SUMMARY, attachment, orphan_result, provider_call

Role = Literal["system", "user", "assistant", "results"]


class Seal(StrEnum):
    """What the secret of a reasoning item is: each provider takes back its own only."""

    SIGNATURE = "signature"
    """Of an Anthropic thinking block, whose text may be empty."""
    REDACTED = "redacted"
    """The data of an Anthropic block that has no text."""
    ENCRYPTED = "encrypted"
    """The encrypted content of a Responses item, or its id alone."""


@dataclass(slots=True)
class ExportItem:
    """An item of a step: what is sent of it (`text`) and what became of it."""

    id: str
    kind: Kind
    text: str
    entry: str = ""
    verdict: Verdict = Verdict.KEPT
    reason: Reason | None = None
    tool: str | None = None
    call_id: str | None = None
    error: bool | None = None
    injected: Injected | None = None
    media: tuple[Media, ...] = ()
    needs_result: bool = True
    provider_id: str | None = None
    """The provider's own id of the item (`rs_...`), needed to send reasoning back."""
    secret: str | None = None
    """Signature or encrypted content of reasoning, byte for byte."""
    seal: Seal | None = None
    """What the secret is; None = not told: it is taken for one of the provider that is written for."""

    @property
    def sent(self) -> bool:
        """Whether the item can be sent as it stands (cleared reasoning cannot)."""
        return self.verdict in IN_CONTEXT and self.verdict != Verdict.REASONING_CLEARED


@dataclass(slots=True)
class Text:
    """A text."""

    text: str


@dataclass(slots=True)
class Thought:
    """Reasoning. A format that cannot carry it leaves it out."""

    text: str
    provider_id: str | None
    secret: str | None
    seal: Seal | None = None


@dataclass(slots=True)
class Call:
    """A tool call; ids are unique in the conversation."""

    id: str
    tool: str
    arguments: str


@dataclass(slots=True)
class Answer:
    """The result of a call."""

    call: str
    text: str
    error: bool = False


Part = Text | Thought | Call | Answer


@dataclass(slots=True)
class Message:
    """Parts of one role. A message of role `results` holds one answer for each call of the one before it."""

    role: Role
    parts: list[Part] = field(default_factory=list)

    def texts(self) -> str:
        """All its texts, a blank line between them."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, Text))

    def calls(self) -> list[Call]:
        """Its calls, in order."""
        return [part for part in self.parts if isinstance(part, Call)]


@dataclass(slots=True)
class Conversation:
    """Messages in order, and what was repaired to make them so."""

    messages: list[Message]
    repairs: list[str]

    def keep_reasoning(self, taken: Callable[[Thought], bool]) -> None:
        """Leave out the reasoning that a provider would not take back, and say how much that is."""
        left_out = 0
        for message in self.messages:
            kept = [part for part in message.parts if not isinstance(part, Thought) or taken(part)]
            left_out += len(message.parts) - len(kept)
            message.parts = kept
        if left_out:
            what = "1 piece" if left_out == 1 else f"{left_out} pieces"
            self.repairs.append(f"left out {what} of reasoning that this provider has not signed")


def repair(items: Sequence[ExportItem], mode: Mode = "safe") -> Conversation:
    """The conversation of a step. `items` are all of its memory, left out ones too (one may be brought back)."""
    repairs: list[str] = []
    sent = _with_opening(items, repairs)
    builder = _Builder(_answers(sent), repairs, mode)
    for item in sent:
        builder.take(item)
    return Conversation(builder.finish(), repairs)


def _with_opening(items: Sequence[ExportItem], repairs: list[str]) -> list[ExportItem]:
    """What is sent, and the last prompt in any case."""
    prompts = [item for item in items if item.kind == Kind.USER and item.injected is None]
    opening = prompts[-1] if prompts else None
    if opening is not None and not opening.sent:
        repairs.append(f"brought back the prompt of the current turn: {opening.id}")
    repairs += [
        f"left out cleared reasoning: {item.id}"
        for item in items
        if item.verdict == Verdict.REASONING_CLEARED
    ]
    return [item for item in items if item.kind != Kind.UI and (item.sent or item is opening)]


def _answers(items: list[ExportItem]) -> dict[int, ExportItem]:
    """The result of each call (by index): the nearest waiting call before it that has its id."""
    waiting: dict[str | None, list[int]] = {}
    answers: dict[int, ExportItem] = {}
    for index, item in enumerate(items):
        if item.kind == Kind.TOOL_CALL and item.needs_result:
            waiting.setdefault(item.call_id, []).append(index)
        elif item.kind == Kind.TOOL_RESULT and item.call_id is not None and waiting.get(item.call_id):
            answers[waiting[item.call_id].pop()] = item
    return answers


class _Builder:
    """Lays items out as messages."""

    def __init__(self, answers: dict[int, ExportItem], repairs: list[str], mode: Mode) -> None:
        self.messages: list[Message] = []
        self.repairs = repairs
        self.mode = mode
        self._answers = answers
        self._placed = {id(answer) for answer in answers.values()}
        self._ids: set[str] = set()
        self._index = -1
        self._pending: list[Answer] = []
        """Answers to the calls of the last message."""

    def take(self, item: ExportItem) -> None:
        """The next item."""
        self._index += 1
        if item.kind in (Kind.ASSISTANT, Kind.REASONING, Kind.TOOL_CALL):
            self._assistant(item)
        elif item.kind != Kind.TOOL_RESULT:
            self._say(item)
        elif id(item) in self._placed:
            self._flush()
        else:
            self.repairs.append(f"labelled a result without a call: {item.id}")
            self._add("user", Text(f"{orphan_result(item.call_id)}\n{item.text}"))

    def finish(self) -> list[Message]:
        """All messages; those without content are gone."""
        self._flush()
        for message in self.messages:
            if message.role == "assistant":
                while message.parts and isinstance(message.parts[-1], Thought):
                    message.parts.pop()
                    self.repairs.append("left out reasoning that nothing follows")
        return _joined([message for message in self.messages if message.parts])

    def _say(self, item: ExportItem) -> None:
        words = [item.text] if item.text.strip() else []
        words += [attachment(media.type, media.mime) for media in item.media]
        if item.kind == Kind.SUMMARY:
            role: Role = "user" if self.mode == "safe" else "system"
            words = [f"{SUMMARY}\n{item.text}"] if self.mode == "safe" else words
        else:
            role = "system" if item.kind == Kind.SYSTEM else "user"
        for text in words:
            self._add(role, Text(text))

    def _assistant(self, item: ExportItem) -> None:
        if item.kind == Kind.REASONING:
            self._add("assistant", Thought(item.text, item.provider_id, item.secret, item.seal))
        elif item.kind == Kind.ASSISTANT:
            if item.text.strip():
                self._add("assistant", Text(item.text))
        elif not item.needs_result:
            self._add("assistant", Text(f"{provider_call(item.tool)} {item.text}".rstrip()))
        else:
            self._call(item)

    def _call(self, item: ExportItem) -> None:
        name = self._unique(item.call_id or f"call_{self._index}")
        self._add("assistant", Call(name, item.tool or "tool", item.text))
        answer = self._answers.get(self._index)
        if answer is None:
            self.repairs.append(f"stood in for the missing result of {item.id}")
            self._pending.append(Answer(name, NO_RESULT))
        else:
            media = [attachment(media.type, media.mime) for media in answer.media]
            text = "\n".join([*([answer.text] if answer.text else []), *media])
            self._pending.append(Answer(name, text, bool(answer.error)))

    def _unique(self, name: str) -> str:
        """An id that no call has yet: logs use ids again."""
        number, free = 2, name
        while free in self._ids:
            free, number = f"{name}_{number}", number + 1
        self._ids.add(free)
        return free

    def _add(self, role: Role, part: Part) -> None:
        if role != "assistant":
            self._flush()
        if not self.messages or self.messages[-1].role != role:
            self.messages.append(Message(role))
        self.messages[-1].parts.append(part)

    def _flush(self) -> None:
        """Close the message of the calls that wait, with their answers."""
        if self._pending:
            self.messages.append(Message("results", [*self._pending]))
            self._pending = []


def _joined(messages: list[Message]) -> list[Message]:
    """Neighbours of one role as one message."""
    joined: list[Message] = []
    for message in messages:
        if joined and joined[-1].role == message.role != "results":
            joined[-1].parts += message.parts
        else:
            joined.append(message)
    return joined
