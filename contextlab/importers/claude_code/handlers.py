"""What each type of record means, one function per type."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from contextlab.core.events import ItemEvent, TurnEnd
from contextlab.core.items import Injected, Kind
from contextlab.core.texts import clean
from contextlab.importers.claude_code import prompts
from contextlab.importers.claude_code.compactions import boundary, micro_boundary
from contextlab.importers.claude_code.content import attachment_text, error_text
from contextlab.importers.claude_code.ids import bounded
from contextlab.importers.claude_code.messages import assistant, user
from contextlab.importers.claude_code.reader import Reader, count, ui_item
from contextlab.importers.claude_code.records import BadShape, Line, as_string
from contextlab.importers.lines import Record

Handler = Callable[[Reader, Line, Record], None]


IGNORED = (
    "file-history-snapshot",
    "file-history-delta",
    "pr-link",
    "last-prompt",
    "tag",
    "agent-name",
    "agent-color",
    "agent-setting",
    "mode",
    "permission-mode",
    "worktree-state",
    "attribution-snapshot",
    "bridge-session",
    "relocated",
)
"""Types that are known and have no part in the context."""


class Progress(msgspec.Struct):
    """What we read of a progress record: who runs, never what it printed."""

    type: str | None = None
    agent: str | None = msgspec.field(default=None, name="agentId")
    hook: str | None = msgspec.field(default=None, name="hookEvent")
    hook_name: str | None = msgspec.field(default=None, name="hookName")


_progress = msgspec.json.Decoder(Progress).decode


def system(reader: Reader, line: Line, record: Record) -> None:
    """Boundaries, errors, and the client's own remarks."""
    uuid = reader.identity(line, record)
    if uuid is None:
        return
    thread = reader.thread_of(line)
    kind = clean(line.subtype or "unknown")
    if kind == "compact_boundary":
        boundary(reader, thread, line, record, uuid)
        return
    node = reader.enter(thread, line, record, uuid, root=True)
    if kind == "microcompact_boundary":
        micro_boundary(thread, line, record, uuid)
    elif kind == "local_command":
        text = clean(as_string(line.content) or "")
        event = ItemEvent(uuid, Kind.USER, text, uuid, line.timestamp, record.place)
        event.injected, event.label = Injected.COMMAND_OUTPUT, "local_command"
        thread.add(event)
        thread.tree.items[node] = 1
    elif kind == "api_error":
        thread.add(ui_item(uuid, error_text(line.error, line.content), kind, line, record))
    elif kind in ("turn_duration", "stop_hook_summary"):
        count(reader.report.ignored_types, f"system/{kind}")
        if kind == "turn_duration":
            thread.add(TurnEnd(thread.turn, line.timestamp, "completed"))
    elif (shown := as_string(line.content)) is not None:
        thread.add(ui_item(uuid, clean(shown), kind, line, record))
    else:
        count(reader.report.unknown_types, f"system/{kind}")


def progress(reader: Reader, line: Line, record: Record) -> None:
    """Only its place in the tree, and which subagent or session start it tells of."""
    uuid = reader.identity(line, record)
    if uuid is None:
        return
    count(reader.report.ignored_types, "progress")
    thread = reader.thread_of(line)
    reader.enter(thread, line, record, uuid, root=True)
    try:
        data = _progress(line.data)
    except BadShape:
        return
    if data.type == "agent_progress" and data.agent and line.parent_tool:
        reader.link(thread, data.agent, bounded(line.parent_tool))
    elif data.hook == "SessionStart" and data.hook_name != "SessionStart:compact":
        reader.restart(thread, "session start", record, line.timestamp)


def attachment(reader: Reader, line: Line, record: Record) -> None:
    """What the client attached to the conversation for the model to see."""
    uuid = reader.identity(line, record)
    if uuid is None:
        return
    thread = reader.thread_of(line)
    node = reader.enter(thread, line, record, uuid, root=True)
    kind, text = attachment_text(line.attachment)
    queued = kind == "queued_command"
    reader.main_thread(line).attaches = True
    if queued:
        thread.queue.has_own_record(text)
    event = ItemEvent(uuid, Kind.USER, text, uuid, line.timestamp, record.place, label=kind)
    voice = prompts.voice_of(text, meta=False) if queued else None
    event.injected = (voice.injected or Injected.QUEUED) if voice else Injected.ATTACHMENT
    thread.add(event)
    thread.tree.items[node] = 1


def queue_operation(reader: Reader, line: Line, record: Record) -> None:
    """What the person typed while the agent worked: sometimes its only record."""
    count(reader.report.ignored_types, "queue-operation")
    thread = reader.main_thread(line)
    if line.operation == "enqueue":
        if text := as_string(line.content):
            thread.queue.add(clean(text), line.timestamp, record.place)
    elif line.operation == "popAll":
        thread.queue.clear()
    elif line.operation == "dequeue":
        thread.trigger = "queued"
    elif line.operation == "remove" and (entry := thread.queue.take(as_string(line.content))) is not None:
        text, ts, place = entry
        # Newer versions attach what they deliver: without an attachment the text went elsewhere, or nowhere.
        elsewhere = thread.attaches or line.reason not in (None, "absorbed_mid_turn")
        if not elsewhere and not text.lstrip().startswith("/") and not prompts.is_task(text):
            voice = prompts.voice_of(text, meta=False)
            thread.deliver(text, ts, place, voice.injected or Injected.QUEUED)


def title(reader: Reader, line: Line, record: Record) -> None:
    """A name for a session: of this file's only where its leaf is here."""
    count(reader.report.ignored_types, line.type or "summary")
    if line.type == "custom-title":
        reader.main_thread(line).name(clean(line.custom_title or line.title or ""), "custom")
    elif line.type == "ai-title":
        reader.main_thread(line).name(clean(line.ai_title or line.title or ""), "ai")
    elif line.summary:
        reader.summary_title(clean(line.summary), line.leaf)
        if reader.main is not None:
            reader.restart(reader.main, "a summary line", record, line.timestamp)


def ignored(reader: Reader, line: Line, _record: Record) -> None:
    """Known, and without any part in the context."""
    count(reader.report.ignored_types, line.type or "unknown")


def unknown(reader: Reader, line: Line, record: Record) -> None:
    """A type that is not known: counted, noted once, and given its place in the tree."""
    kind = clean(line.type or "(no type)")[:80]
    count(reader.report.unknown_types, kind)
    if line.uuid is None:
        return
    uuid = reader.identity(line, record)
    if uuid is not None:
        thread = reader.thread_of(line)
        reader.enter(thread, line, record, uuid)
        if reader.report.unknown_types[kind] == 1:
            thread.note("unknown_type", kind, record.place, line.timestamp)


HANDLERS: dict[str | None, Handler] = {
    **dict.fromkeys(IGNORED, ignored),
    "assistant": assistant,
    "user": user,
    "system": system,
    "progress": progress,
    "attachment": attachment,
    "queue-operation": queue_operation,
    "summary": title,
    "custom-title": title,
    "ai-title": title,
}
