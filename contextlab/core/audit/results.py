"""What an audit comes to, in frozen values: pages, reports, the API and the command line read these and nothing else.

    Audit
      compactions: CompactionAudit ...      one for each compaction, micro-compactions among them (`micro`)
        ledger: Ledger
          entries: Entry ...                 the facts worth a look, the heaviest first; each with its verdict
          folded: Folded ...                 how many lighter ones are not listed, by kind and verdict
        consequences: Consequence ...        what later happened because of it
      decay: DecayRow ...                    facts surviving compaction 1, 2, 3 ... by kind
      findings: Finding ...                  the short ranked list of what a person should look at

Positions are those of the timeline (from 0), steps are numbers (from 1), offsets are code points. Unknown is None.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class FactKind(StrEnum):
    """What sort of detail a fact is."""

    PATH = "path"
    PATH_LINE = "path_line"
    URL = "url"
    COMMAND = "command"
    ERROR = "error"
    IDENTIFIER = "identifier"
    COMMIT = "commit"
    TICKET = "ticket"
    VERSION = "version"
    PORT = "port"
    QUANTITY = "quantity"
    SETTING = "setting"
    DECISION = "decision"
    OPEN_QUESTION = "open_question"
    RULE = "rule"
    USER_CORRECTION = "user_correction"


class FactVerdict(StrEnum):
    """What became of a fact."""

    KEPT = "kept"
    """It stands in the summary, or in an item that stayed."""
    CHANGED = "changed"
    """The summary says another value of the same subject."""
    PARTIAL = "partial"
    """Something of it stands there: the file without the line, the object of a rule without the rule."""
    DROPPED = "dropped"
    RESUPPLIED = "resupplied"
    """Dropped, and later brought back by a result or a person."""
    CANNOT_TELL = "cannot_tell"
    """The summary has no text that could be read."""


class ConsequenceKind(StrEnum):
    """What happened because a fact was gone or wrong."""

    RULE_BROKEN = "rule_broken"
    REREAD = "reread"
    SAME_ERROR = "same_error"
    USED_UNSEEN = "used_unseen"
    USER_REPEATED = "user_repeated"


class Severity(StrEnum):
    """How much a finding matters."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(slots=True, frozen=True)
class Place:
    """Where something stands in a text: code points, half-open, and the line (from 1)."""

    start: int
    end: int
    line: int


@dataclass(slots=True, frozen=True)
class Fact:
    """A typed detail, as it was first said among the items looked at; `position` and `offset` say where."""

    kind: FactKind
    subject: str
    """What it is about, normalised: two facts of one subject and different values contradict each other."""
    value: str
    """The value, normalised (numbers in base units); empty where the fact is its subject."""
    text: str
    """As people read it, on one line."""
    position: int
    offset: int
    length: int
    weight: float
    """From 0 (noise) to 100 (a rule of the person)."""
    said_by: str = "assistant"
    """`user`, `assistant`, `call` or `result`."""
    mentions: int = 1
    last_position: int = -1
    """Where it was said last."""
    words: frozenset[str] = frozenset()
    """Content words around a value, or the objects of a sentence: what it is matched by."""


@dataclass(slots=True, frozen=True)
class Entry:
    """A fact with its verdict in a ledger."""

    fact: Fact
    verdict: FactVerdict
    became: str | None = None
    """The other value, for `changed`."""
    place: Place | None = None
    """Where the summary says it (or the other value)."""
    visible_at: int | None = None
    """Position of an item that stayed and still says it."""
    resupplied_at: int | None = None
    """Position of the first later item that brought it (the right value, for `changed`) back."""
    why: str = ""
    """One sentence for a person."""


@dataclass(slots=True, frozen=True)
class Folded:
    """Facts that are counted and not listed."""

    kind: FactKind
    verdict: FactVerdict
    count: int


@dataclass(slots=True, frozen=True)
class Limits:
    """What was left unread to keep the time bounded; zeros mean that everything was read."""

    long_tokens: int = 0
    """Runs of more than 512 characters without a blank: not looked into."""
    cut_texts: int = 0
    """Texts of which only the beginning and the end were read closely."""
    cut_characters: int = 0
    facts_over: int = 0
    """Facts beyond the number that one item, or one ledger, may have."""


@dataclass(slots=True, frozen=True)
class Ledger:
    """The facts of what left, each with its verdict."""

    entries: tuple[Entry, ...] = ()
    folded: tuple[Folded, ...] = ()
    counts: tuple[tuple[FactKind, FactVerdict, int], ...] = ()
    """All facts by kind and verdict, listed and folded."""
    items: int = 0
    """Items that left."""
    characters: int = 0
    superseded: int = 0
    """Values that were given a newer one before they left, and rules that the person took back: not judged."""
    limits: Limits = field(default_factory=Limits)

    def count(self, verdict: FactVerdict) -> int:
        """Facts with a verdict, listed or folded."""
        return sum(number for _, found, number in self.counts if found == verdict)


@dataclass(slots=True, frozen=True)
class Consequence:
    """A later event that touches a fact which a compaction lost or changed."""

    kind: ConsequenceKind
    compaction: int
    """Number of the compaction (micro-compactions have numbers of their own, see `micro`)."""
    entry: Entry
    position: int
    step: int | None
    """The step that did it (a call), or the first that saw it (a person's words, a result)."""
    text: str
    """One line for a person."""
    tokens: int | None = None
    """Tokens spent again, for `reread`; counted where the timeline has counts, else estimated."""
    micro: bool = False


@dataclass(slots=True, frozen=True)
class CompactionAudit:
    """One compaction with its ledger."""

    number: int
    micro: bool
    origin: str
    """`recorded` (the log says so) or `detected` (a message says that it is a summary)."""
    evidence: str
    """For `detected`: the words that say it; for `recorded` empty."""
    at_step: int
    """The first step after it."""
    upto: int
    summary: int | None
    """Position of the summary; None where there is none, or none with a text."""
    opaque: bool
    ledger: Ledger
    consequences: tuple[Consequence, ...] = ()


@dataclass(slots=True, frozen=True)
class DecayRow:
    """Of the facts of one kind that first left at compaction `cohort`: how many the model could still see after it,
    after the next one, and so on."""

    kind: FactKind
    cohort: int
    facts: int
    surviving: tuple[int | None, ...]
    """None where a summary cannot be read."""


@dataclass(slots=True, frozen=True)
class Finding:
    """What a person should look at, with its evidence."""

    kind: str
    """`changed_value`, `rule_broken`, `lost_rule`, `lost_correction`, `user_repeated`, `same_error`, `reread`,
    `used_unseen`, `cannot_tell`."""
    severity: Severity
    title: str
    """One sentence."""
    compaction: int
    micro: bool
    step: int
    """Where to go first."""
    positions: tuple[int, ...]
    """Items that are the evidence, in the order in which a person should read them."""
    weight: float


@dataclass(slots=True, frozen=True)
class Audit:
    """All of a session."""

    compactions: tuple[CompactionAudit, ...] = ()
    decay: tuple[DecayRow, ...] = ()
    findings: tuple[Finding, ...] = ()
