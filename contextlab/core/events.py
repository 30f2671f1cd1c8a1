"""The facts of a log in the order in which they became true: what every importer yields.

The order of events is the meaning. A step's context is the items whose events stand before its `StepEvent`
and that no `Compaction` or `Cleared` event took out again; what the step itself produced follows it. An importer
therefore holds back what belongs behind (the chunks of one answer, results between them) until the next step
begins, and yields: step, its parts, then results and prompts in file order, then the next step.

Each event is yielded as `(session_key, event)`: one file may hold several sessions (inline subagents, lists of
trajectories). The first event of a key is its `SessionStart`; a later `SessionStart` of the same key updates the
fields that are not None.

Everything here is data. Ids come from the log (uuid, message id, call id) or, where the format has none, from a
hash and its occurrence; no clock and no random number is used, so the same bytes give the same events.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from contextlab.core.items import Injected, Kind, Media, Reason, Verdict


@dataclass(slots=True, frozen=True)
class Place:
    """Where a fact stands in the log: line (from 1), byte offset and length of its record."""

    line: int
    offset: int
    length: int


@dataclass(slots=True)
class SessionStart:
    """A session of the log, or an update of what is known about it. None = not known (yet)."""

    native_id: str
    title: str | None = None
    title_origin: str | None = None
    """`record` (a title record), `prompt` (the first real prompt), `summary`."""
    agent: str | None = None
    """Name or type of the agent, for subagents mostly."""
    model: str | None = None
    project: str | None = None
    """Working directory or repository as the log names it."""
    branch: str | None = None
    version: str | None = None
    started_at: str | None = None
    parent: str | None = None
    """native_id of the session whose tool call started this one (a subagent)."""
    parent_call_id: str | None = None
    forked_from: str | None = None
    role: str | None = None
    """None for a main session, `subagent`, or `compaction` (the summariser's own request and reply)."""


@dataclass(slots=True)
class ItemEvent:
    """An item entered memory (or, for kind `ui`, was shown to the person only).

    `step` is the id of the step that produced it (None for input). `entry` groups the parts of one provider
    message. `opens_turn` is set on the prompt that follows a `TurnStart`.
    """

    id: str
    kind: Kind
    text: str
    entry: str
    ts: str | None = None
    place: Place | None = None
    step: str | None = None
    tool: str | None = None
    call_id: str | None = None
    error: bool | None = None
    """For results: whether the log marks it as failed; None when it does not say."""
    injected: Injected | None = None
    opens_turn: bool = False
    media: tuple[Media, ...] = ()
    opaque_chars: int = 0
    """Characters of signature or encrypted content that stand beside the text (reasoning)."""
    original: str | None = None
    """Path (relative to the log file) of the original that the agent itself offloaded; text is the preview."""
    needs_result: bool = True
    """False for calls that the provider answers by itself (web search)."""
    label: str | None = None
    """What a `ui` item is (`api_error`, `local_command` ...) or what the injected text is, in the log's own word."""


@dataclass(slots=True)
class StepEvent:
    """A model call begins here; its context is what stands before."""

    id: str
    model: str | None = None
    ts: str | None = None
    place: Place | None = None
    limit: int | None = None
    """Context window in tokens as the log states it for this call; None when it does not."""
    exact: bool = False
    """True when the request itself was captured, not reconstructed."""


@dataclass(slots=True)
class Usage:
    """What the provider reported for a step. `input` excludes cache reads and writes. None = not reported.

    Several may name one step: the last wins, field by field (None does not overwrite).
    """

    step: str
    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    partial: bool = False
    """True when the final output figure was never written (no stop reason)."""


@dataclass(slots=True)
class TurnStart:
    """A turn begins; the item that asked for it follows (if the log has one)."""

    id: str
    ts: str | None = None
    trigger: str = "prompt"
    """`prompt`, `command`, `queued`, `task` (Codex task_started)."""


@dataclass(slots=True)
class TurnEnd:
    """The log says that the turn ended: `completed`, `aborted` ..."""

    id: str | None = None
    ts: str | None = None
    status: str = "completed"


@dataclass(slots=True)
class Compaction:
    """Memory was replaced: every item in context is summarised from the next step on, except `keeps`.

    The summary (if the log has its text) is the item event `summary`, which follows directly. Unknown is None.
    """

    id: str
    ts: str | None = None
    place: Place | None = None
    origin: str = "recorded"
    trigger: str | None = None
    pre_tokens: int | None = None
    post_tokens: int | None = None
    opaque: bool = False
    """True when the replacement is encrypted or has no text: what it says cannot be told."""
    summary: str | None = None
    keeps: tuple[str, ...] = ()
    """Ids of items that stay in the context as they are."""
    tokens_saved: int | None = None


@dataclass(slots=True)
class Cleared:
    """The log says that these items have another fate from the next step on.

    A micro-compaction clears results (`cleared`, `micro_compacted`); a rewind drops a branch (`dropped`,
    `abandoned_branch`) and may bring one back (`kept`); `/clear` drops everything (`all_before` is then True and
    `items` may be empty). Ids that the session does not have are ignored.
    """

    id: str
    items: tuple[str, ...] = ()
    verdict: Verdict = Verdict.CLEARED
    reason: Reason = Reason.MICRO_COMPACTED
    ts: str | None = None
    place: Place | None = None
    all_before: bool = False
    trigger: str | None = None
    tokens_saved: int | None = None


@dataclass(slots=True)
class Link:
    """A tool call of this session started another session (a subagent)."""

    child: str
    call_id: str
    agent: str | None = None


@dataclass(slots=True)
class Note:
    """Something a reader of the session should know, with its place.

    `code` is one of: skipped (record not read; `text` is the reason), unknown_type (`text` is the type), warning,
    orphan_result, no_result, missing_parent, clock, restart, context_after (tokens in `value`), fork, other.
    """

    code: str
    text: str = ""
    place: Place | None = None
    ts: str | None = None
    value: int | None = None


Event = (
    SessionStart | ItemEvent | StepEvent | Usage | TurnStart | TurnEnd | Compaction | Cleared | Link | Note
)


@dataclass(slots=True)
class FileReport:
    """What reading one file came to (the import report, "doctor"). Counts are of records, places are lines."""

    format: str | None = None
    lines: int = 0
    records: int = 0
    merged: int = 0
    """Records that joined an earlier one (chunks of one answer, repeated metadata)."""
    duplicates: int = 0
    skipped: list[tuple[int, str]] = field(default_factory=list)
    """(line, reason); at most SKIPPED_KEPT are listed, `skipped_total` counts all."""
    skipped_total: int = 0
    unknown_types: dict[str, int] = field(default_factory=dict)
    ignored_types: dict[str, int] = field(default_factory=dict)
    """Known records that carry no context (progress, snapshots): kept raw, not shown as items."""
    warnings: list[str] = field(default_factory=list)
    cannot_contain: tuple[str, ...] = ()
    """What this kind of log never holds (system prompt, tool schemas ...), as sentences for people."""


SKIPPED_KEPT = 200
