"""The working copy of one compression: what the strategies change, and what is committed if all goes well.

| change       | made by | rule                                                                                        |
|--------------|---------|---------------------------------------------------------------------------------------------|
| fold a range | 1, 4, 6 | the messages become one summary; they (4: and the question) are put aside under one id      |
| swap a part  | 2, 3, 5 | one item's text becomes a shorter one; same id, kind, entry and call; it is put aside       |

Safe mode refuses a change after which the replacement, without its tag, is not smaller than what it replaces: nothing
of it remains. The memory that was given is never touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from contextlab.core.auto_context.estimate import message_tokens, tokens_of
from contextlab.core.auto_context.messages import Message, View
from contextlab.core.auto_context.options import AutoContextOptions
from contextlab.core.auto_context.preview import CUT
from contextlab.core.auto_context.requests import Written, summary_of
from contextlab.core.auto_context.tags import body, offload_of, tagged
from contextlab.core.compaction import CompactEvent, Deps, Snapshot
from contextlab.core.errors import CompactError
from contextlab.core.items import Item, Kind, Reason, Verdict
from contextlab.core.language_model import ModelUsage
from contextlab.core.offload import Offload
from contextlab.core.projection import NONE, Fate, pair_up
from contextlab.core.summarising.asking import added
from contextlab.core.summarising.outcomes import pinned_ids


@dataclass(slots=True, frozen=True)
class Change:
    """Who makes a change: a strategy's name, its event and the reason that stands in fates."""

    strategy: str
    event: str
    reason: Reason
    answers: bool = False
    """Reference mode: its summaries count as answers."""


@dataclass(slots=True)
class Work:
    """Memory in work. After an error in reference mode it holds what the original leaves behind."""

    options: AutoContextOptions
    deps: Deps
    snapshot: Snapshot
    view: View
    offloads: list[Offload] = field(default_factory=list)
    events: list[CompactEvent] = field(default_factory=list)
    fates: dict[str, Fate] = field(default_factory=dict)
    written: list[Written] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """What was put in the place of something, without tags."""
    notes: list[str] = field(default_factory=list)
    strategies: list[str] = field(default_factory=list)
    """Those that changed something, in order."""

    @classmethod
    def start(cls, snapshot: Snapshot, options: AutoContextOptions, deps: Deps) -> Work:
        """A working copy of a memory."""
        items = snapshot.items
        fixed = fixed_ids(items, deps) if options.safe else frozenset[str]()
        return cls(options, deps, snapshot, View.of(items, options.safe, fixed))

    @property
    def usage(self) -> ModelUsage | None:
        """What all model calls took together."""
        total: ModelUsage | None = None
        for one in self.written:
            total = added(total, one.usage)
        return total

    def ask(
        self, messages: Sequence[Message], change: Change, size: tuple[int, int] | None = None
    ) -> Written:
        """The model's summary of messages; raises ModelError. What it took is counted, used or not."""
        try:
            written = summary_of(messages, change.strategy, self.options, self.deps, size)
        except CompactError:
            if not self.options.safe:  # the original puts aside first and forgets to take it back
                self._put_aside([item for message in messages for item in message.items], change)
            raise
        self.written.append(written)
        return written

    def fold(self, place: range, by: Written, change: Change, aside: range | None = None) -> bool:
        """Put a summary in the place of messages; `aside` are those that are put aside (the same by default)."""
        replaced = self.view.messages[place.start : place.stop]
        gone = [item for message in replaced for item in message.items]
        kind = Kind.ASSISTANT if change.answers and not self.options.safe else Kind.SUMMARY
        sizes = tokens_of(replaced), message_tokens(Message((Item("", kind, by.text),), ("",)))
        if self._is_vain(sizes):
            return False
        kept = self.view.messages[(aside or place).start : (aside or place).stop]
        offload = self._put_aside([item for message in kept for item in message.items], change)
        summary = Item(self._id("summary", change, gone), kind, tagged(by.text, offload))
        self._note_event(place, gone, summary.id, sizes, by, change)
        self._set_fates(gone, Fate(Verdict.SUMMARISED, change.reason))
        self._replace(place, [summary])
        return True

    def swap(self, place: int, item: Item, by: Written, change: Change) -> bool:
        """Put a shorter text in the place of an item's text; the rest of its message stays."""
        message = self.view.messages[place]
        shorter = with_text(item, by.text)
        sizes = message_tokens(message), message_tokens(_with(message, item, shorter))
        if self._is_vain(sizes):
            return False
        stub = with_text(item, tagged(by.text, self._put_aside([item], change)))
        self._note_event(range(place, place + 1), [item], None, sizes, by, change)
        self._set_fates([item], Fate(Verdict.OFFLOADED, change.reason))
        self.view.messages[place] = _with(message, item, stub)
        return True

    def keep_first(self, place: int, by: Written, change: Change) -> bool:
        """Reference mode: a message becomes its first item with another text; the others are lost."""
        message = self.view.messages[place]
        offload = self._put_aside(message.items, change)
        stub = with_text(message.items[0], tagged(by.text, offload))
        self._rebuild(place, [stub], by, change)
        return True

    def add_text(self, place: int, by: Written, change: Change) -> bool:
        """Reference mode: a message becomes a text and its calls."""
        message = self.view.messages[place]
        offload = self._put_aside(message.items, change)
        name, entry = self._id("text", change, message.items), message.id
        stub = Item(name, Kind.ASSISTANT, tagged(by.text, offload), entry)
        calls = [item for item in message.items if item.kind == Kind.TOOL_CALL]
        self._rebuild(place, [stub, *calls], by, change)
        return True

    def is_stub(self, item: Item) -> bool:
        """Whether a text is what a compression left of an original that is kept.

        Anybody can write a tag, a page that a tool reads too: behind more than a preview its original must be in the
        store. Without a store nobody can tell, and the text stays as it is.
        """
        name = offload_of(item.text)
        if name is None or not self.options.safe:
            return name is not None
        if len(body(item.text)) <= self.options.offload_single_preview + len(CUT):
            return True
        return any(one.id == name for one in self.offloads) or self._is_kept(name)

    def _is_kept(self, offload_id: str) -> bool:
        try:
            return self.deps.offloads is None or bool(self.deps.offloads.get(offload_id))
        except Exception:  # a store that is down
            return True

    def _rebuild(self, place: int, left: Sequence[Item], by: Written, change: Change) -> None:
        message = self.view.messages[place]
        after = Message(tuple(left), tuple(item.tool or "" for item in left))
        sizes = message_tokens(message), message_tokens(after)
        self._note_event(range(place, place + 1), message.items, None, sizes, by, change)
        gone = [item for item in message.items if item not in left]
        self._set_fates(gone, Fate(Verdict.OFFLOADED, change.reason))
        self._replace(range(place, place + 1), left)

    def _set_fates(self, items: Sequence[Item], fate: Fate) -> None:
        for item in items:
            self.fates[item.id] = fate

    def _put_aside(self, items: Sequence[Item], change: Change) -> str:
        """Keep originals under a new id, to be committed with the memory."""
        name = self._id("offload", change, items)
        self.offloads.append(Offload(name, tuple(items), change.reason))
        return name

    def _is_vain(self, sizes: tuple[int, int]) -> bool:
        before, after = sizes
        return self.options.safe and after >= before

    def _note_event(
        self,
        place: range,
        gone: Sequence[Item],
        replacement: str | None,
        sizes: tuple[int, int],
        by: Written,
        change: Change,
    ) -> None:
        messages = self.view.messages
        before = messages[place.start - 1].items[-1].id if place.start > 0 else None
        after = messages[place.stop].items[0].id if place.stop < len(messages) else None
        ids = tuple(item.id for item in gone)
        self.events.append(CompactEvent(change.event, ids, before, after, replacement, *sizes, by.usage))
        self.texts.append(by.text)

    def _replace(self, place: range, by: Sequence[Item]) -> None:
        messages = self.view.messages
        fixed = frozenset(item.id for message in messages if message.fixed for item in message.items)
        before = [item for message in messages[: place.start] for item in message.items]
        after = [item for message in messages[place.stop :] for item in message.items]
        self.view = View.of([*before, *by, *after], self.options.safe, fixed)

    def _id(self, what: str, change: Change, items: Sequence[Item]) -> str:
        """An id from the id source, else one made from what it stands for."""
        if self.deps.new_id is not None:
            return self.deps.new_id(what)
        return derived_id(what, change.strategy, items)


def fixed_ids(items: Sequence[Item], deps: Deps) -> frozenset[str]:
    """Ids of what must stay: system items, pins, the other one of their pairs, what a pinned thought led to."""
    fixed = pinned_ids(items, deps)
    if not any(item.kind == Kind.REASONING and item.id in fixed for item in items):
        return frozenset(fixed)
    pairs = pair_up(items)
    for index, item in enumerate(items[:-1]):
        if item.kind == Kind.REASONING and item.id in fixed:
            led_to = index + 1
            fixed.add(items[led_to].id)
            if pairs[led_to] != NONE:
                fixed.add(items[pairs[led_to]].id)
    return frozenset(fixed)


def derived_id(what: str, strategy: str, items: Sequence[Item]) -> str:
    """An id made from what it stands for: other content, another id."""
    said = "\0".join([strategy, *(part for item in items for part in (item.id, item.text))])
    return f"{what}-{sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def with_text(item: Item, text: str) -> Item:
    """The same item with another text."""
    return replace(item, text=text, chars=-1, tokens=None)


def _with(message: Message, item: Item, other: Item) -> Message:
    """A message with another item in the place of one of its own."""
    return replace(message, items=tuple(other if one is item else one for one in message.items))
