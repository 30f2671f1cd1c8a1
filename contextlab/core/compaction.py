"""The compaction policy's contract: memory is replaced by a shorter snapshot, and what came of it is told.

A policy is pure: it is given a snapshot and what it may use (`Deps`), and answers with an `Outcome`: a result, or the
reason why there is none. It never changes the snapshot. Whoever commits an outcome (AgentSession, the compaction
service) checks the gain, validates the items and swaps the memory; a policy's `compact` does none of that. An error
of the model is raised, never turned into a summary: the automatic path swallows and reports it, the manual path
tells the person.

| who decides        | what                                                                            |
|--------------------|---------------------------------------------------------------------------------|
| `should_compact`   | whether to compact before this step; the figures of the decision go with it     |
| `compact`          | which items are replaced, by what; nothing to summarise = no call, no result    |
| the committer      | gain (after < before), protocol, compare-and-set, all-or-nothing with offloads  |
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self, TypeVar

from contextlab.core.items import Item
from contextlab.core.language_model import LanguageModel, ModelUsage
from contextlab.core.offload import Offload, OffloadStore
from contextlab.core.projection import Fate, TokenCount
from contextlab.core.report import Report

Known = TypeVar("Known")
METHODS = ("rules", "model", "mechanical")
"""Who wrote a summary: rules over the log, a model, or no one (a mechanical line only)."""


@dataclass(slots=True, frozen=True)
class Line:
    """One entry of a section, with the ids of the items that support it (empty where that cannot be told)."""

    text: str
    items: tuple[str, ...] = ()


@dataclass(slots=True)
class Sections:
    """What a structured summary says, list by list. Empty = nothing was said, not that there was nothing."""

    goal: str | None = None
    completed: list[Line] = field(default_factory=list)
    pending: list[Line] = field(default_factory=list)
    decisions: list[Line] = field(default_factory=list)
    changed_artifacts: list[Line] = field(default_factory=list)
    failed_commands: list[Line] = field(default_factory=list)
    test_results: list[Line] = field(default_factory=list)
    user_confirmations: list[Line] = field(default_factory=list)
    sandbox_state: list[Line] = field(default_factory=list)
    open_questions: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class CompactResult:
    """What a compaction came to; its JSON names are those of the command line's contract."""

    sections: Sections = field(default_factory=Sections)
    summary: str = ""
    """The text that stands for the replaced items in memory."""
    read_files: list[str] = field(default_factory=list)
    modified_files: list[str] = field(default_factory=list)
    """Both cumulative over earlier compactions, in order of first use."""
    report: Report | None = None
    method: str = "mechanical"
    strategy: str = ""
    """The policy's own word for what it did (checkpoint-delta, previous_rounds ...)."""
    usage: ModelUsage | None = None
    raw_reply: str | None = None
    """The model's answer as it came."""
    notes: list[str] = field(default_factory=list)
    """What a reader should know of how it came about; they stand in the report."""


@dataclass(slots=True, frozen=True)
class Snapshot:
    """A frozen memory: its items without the summary, the summary, and the result that made it."""

    items: tuple[Item, ...] = ()
    summary: str | None = None
    last_result: CompactResult | None = None
    version: int = 0
    _known: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def names(self) -> Sequence[str]:
        """Ids of the items, in their order."""
        return self.once("names", lambda: [item.id for item in self.items])

    def numbered(self, version: int) -> Snapshot:
        """The same memory under another version; what is known of it stays known."""
        made = replace(self, version=version)
        object.__setattr__(made, "_known", self._known)
        return made

    def once(self, what: Hashable, make: Callable[[], Known]) -> Known:
        """What `make` works out of this memory, kept under the name `what`: neither it nor its items change."""
        if what not in self._known:
            self._known[what] = make()
        found: Known = self._known[what]
        return found


@dataclass(slots=True)
class CompactEvent:
    """One strategy's work inside a compaction, with the sizes it was judged by."""

    kind: str
    items: tuple[str, ...]
    """Ids of the items that were replaced."""
    before: str | None = None
    after: str | None = None
    """Ids of the items next to the replaced ones, before the replacement."""
    replacement: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    usage: ModelUsage | None = None


@dataclass(slots=True)
class Outcome:
    """A result with the memory after it, or (`result` is None) the reason why nothing was done."""

    result: CompactResult | None = None
    reason: str = ""
    memory: Snapshot | None = None
    """Memory after: to be committed by the caller."""
    fates: dict[str, Fate] = field(default_factory=dict)
    """Verdict of every item of the snapshot that was given, by id."""
    covered: tuple[str, ...] = ()
    """Ids of the items that stand only in the summary now."""
    offloads: list[Offload] = field(default_factory=list)
    """Originals to be stored together with the memory: all or nothing."""
    events: list[CompactEvent] = field(default_factory=list)

    @property
    def compacted(self) -> bool:
        """Whether memory is to be replaced."""
        return self.result is not None


@dataclass(slots=True, frozen=True)
class Decision:
    """Whether a trigger fires, with the figures that decided it (for the decision log)."""

    due: bool
    rule: str
    """The rule in words: `items > 50`, `tokens >= 98,304`."""
    estimate: int | None = None
    threshold: int | None = None


@dataclass(slots=True)
class Deps:
    """What a policy may use. Everything is passed in: the core has no clock, no ids and no I/O of its own."""

    model: LanguageModel | None = None
    count: TokenCount | None = None
    """Counts tokens; estimated without it."""
    new_id: IdSource | None = None
    offloads: OffloadStore | None = None
    plan: object | None = None
    """The agent's plan, where the framework has one (AgentScope's plan hint)."""
    instructions: str = ""
    """What the person wants kept or left out, in their words."""
    pins: frozenset[str] = frozenset()
    """Ids of items that must stay as they are."""
    progress: Progress | None = None
    force: bool = False
    """A person asked for it: a policy with thresholds of its own does not look at them."""
    write_lines: Callable[[Sequence[dict[str, str]]], str] | None = None
    """A faster way to write a transcript's lines (summarising/transcript.py); the standard library's without it."""
    age: float | None = None
    """Seconds since the last compaction (the first item without one), as the caller's clock says."""


class IdSource(Protocol):
    """Gives ids: `new_id("summary")`. Same order of calls, same ids (tests) or random ones (production)."""

    def __call__(self, what: str) -> str:
        """A new id for a `what`."""
        ...


class Progress(Protocol):
    """Told what a compaction is doing: `progress("chunk", 2, 5)`. May raise to stop it (cancel)."""

    def __call__(self, doing: str, done: int = 0, total: int | None = None) -> None:
        """Take note, or raise."""
        ...


class CompactPolicy(Protocol):
    """What a module of `core/policies` offers as POLICY, and a plug-in under its entry point."""

    kind: ClassVar[str]
    """Its name in policy documents (`compaction.kind`)."""
    needs_model: ClassVar[bool]

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Make one from a document's options; raises PolicyError that names the key which it does not know."""
        ...

    def should_compact(self, snapshot: Snapshot) -> Decision:
        """Whether this policy by itself would compact now (a trigger of the document overrules it)."""
        ...

    def compact(self, snapshot: Snapshot, deps: Deps) -> Outcome:
        """Compact; raises CompactError (ModelError, StaleHistory, ConcurrentCompression ...) on failure."""
        ...


class Trigger(Protocol):
    """What a module of `core/triggers` offers: decides from a snapshot whether a compaction is due."""

    kind: ClassVar[str]

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Make one from a document's options."""
        ...

    def decide(self, snapshot: Snapshot, deps: Deps) -> Decision:
        """Due or not, with the figures."""
        ...


class Compressor(Protocol):
    """What a module of `core/compressors` offers: a list of items becomes a shorter one."""

    kind: ClassVar[str]

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Make one from a document's options."""
        ...

    def compress(self, items: Sequence[Item], deps: Deps) -> list[Item]:
        """The shorter list; the input is not changed."""
        ...
