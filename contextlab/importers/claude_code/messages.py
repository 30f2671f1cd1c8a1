"""Records of type user and assistant: answers, results, prompts, and what the client put in."""

from __future__ import annotations

from contextlab.core.events import ItemEvent, StepEvent, TurnEnd
from contextlab.core.items import Injected, Kind
from contextlab.core.texts import clean
from contextlab.importers.claude_code import prompts
from contextlab.importers.claude_code.compactions import summary
from contextlab.importers.claude_code.content import (
    OFFLOADED,
    Content,
    assistant_contents,
    original_of,
    readable,
    user_contents,
)
from contextlab.importers.claude_code.ids import bounded
from contextlab.importers.claude_code.reader import Reader, ui_item
from contextlab.importers.claude_code.records import Line, Message, as_message, plain
from contextlab.importers.claude_code.thread import PARTS, Thread
from contextlab.importers.claude_code.tree import NONE, item_id
from contextlab.importers.lines import Record, skip, warn
from contextlab.importers.values import warn_of_figures


def assistant(reader: Reader, line: Line, record: Record) -> None:
    """A chunk of a provider's answer, or a reply that the client made up by itself."""
    message = _message(reader, line, record)
    uuid = reader.identity(line, record) if message is not None else None
    if message is None or uuid is None:
        return
    thread = reader.thread_of(line)
    contents = assistant_contents(message, line.message)
    if message.model == "<synthetic>" or line.api_error:
        _made_by_client(reader, thread, line, record, uuid, readable(contents))
        return
    step = bounded(message.id or uuid)
    group = thread.groups.get(step)
    if group is None:
        group = thread.tree.add_group()
        thread.groups.set(step, group)
        node = reader.enter(thread, line, record, uuid, group)
        model = clean(message.model) if message.model else None
        thread.begin_step(StepEvent(step, model, line.timestamp, record.place), node)
    else:
        reader.report.merged += 1
        node = reader.enter(thread, line, record, uuid, group)
    for part, content in enumerate(contents):
        thread.add_part(_item(item_id(uuid, part), step, content, line, record, step))
        if content.kind == Kind.TOOL_CALL and content.call_id is not None:
            thread.calls[content.call_id] = group
            if content.tool in ("Task", "Agent"):
                thread.remember_task(content.call_id, content.text)
    thread.tree.items[node] = min(len(contents), PARTS)
    thread.add_usage(step, group, message.usage, message.stop_reason is not None)
    if message.usage is not None and message.usage.impossible:
        warn_of_figures(reader.report, message.usage.figures, record.line)


def user(reader: Reader, line: Line, record: Record) -> None:
    """Results, a prompt, a summary, or what the client put in."""
    message = _message(reader, line, record)
    uuid = reader.identity(line, record) if message is not None else None
    if message is None or uuid is None:
        return
    thread = reader.thread_of(line)
    contents = user_contents(message, line.message)
    if line.compact_summary:
        summary(reader, thread, line, record, uuid, readable(contents))
    elif any(content.kind == Kind.TOOL_RESULT for content in contents):
        _results(reader, thread, line, record, uuid, contents)
    else:
        _prompt(reader, thread, line, record, uuid, contents)


def _prompt(
    reader: Reader, thread: Thread, line: Line, record: Record, uuid: str, contents: list[Content]
) -> None:
    node = reader.enter(thread, line, record, uuid, root=True)
    if node == 0 and thread is not reader.main:
        reader.link_side(thread, readable(contents))
    if line.transcript_only:
        thread.add(ui_item(uuid, readable(contents), "transcript_only", line, record))
        return
    meta = bool(line.meta) or b"task-notification" in bytes(line.origin)
    voices = [prompts.voice_of(content.text, meta) for content in contents]
    spoken = [index for index, voice in enumerate(voices) if voice.trigger]
    # Words name the turn better than the picture beside them.
    opening = next((index for index in spoken if contents[index].text), next(iter(spoken), None))
    if opening is not None:
        thread.begin_turn(uuid, line.timestamp, voices[opening].trigger or "prompt")
        text = contents[opening].text
        thread.queue.became_prompt(text)
        named = prompts.command_title if voices[opening].label == "command" else prompts.title_from
        thread.name(named(text), "prompt")
    for part, (content, voice) in enumerate(zip(contents, voices, strict=True)):
        event = _item(item_id(uuid, part), uuid, content, line, record)
        event.injected, event.label = voice.injected, event.label or voice.label
        event.opens_turn = part == opening
        thread.add(event)
    thread.tree.items[node] = min(len(contents), PARTS)
    if any(voice.aborts for voice in voices):
        thread.add(TurnEnd(thread.turn, line.timestamp, "aborted"))


def _results(
    reader: Reader, thread: Thread, line: Line, record: Record, uuid: str, contents: list[Content]
) -> None:
    calls = [content.call_id for content in contents if content.kind == Kind.TOOL_RESULT and content.call_id]
    groups = [_group_of(thread, call) for call in calls]
    known = [group for group in groups if group is not None]
    node = reader.enter(thread, line, record, uuid, known[0] if known else NONE, result=True)
    for call, group in zip(calls, groups, strict=True):
        if group is None:
            thread.note("orphan_result", call, record.place, line.timestamp)
            warn(reader.report, f"line {record.line}: a result whose call is not in this file")
    for part, content in enumerate(contents):
        event = _item(item_id(uuid, part), uuid, content, line, record)
        if content.kind == Kind.TOOL_RESULT:
            if content.text.startswith(OFFLOADED):
                event.original = original_of(content.text, reader.in_subfolder)
            if content.call_id is not None:
                thread.answers[content.call_id] = node * PARTS + min(part, PARTS - 1)
        else:
            voice = prompts.voice_of(content.text, bool(line.meta))
            event.injected = voice.injected or Injected.MIDTURN
            event.label = event.label or voice.label or "midturn"
        thread.add(event)
    thread.tree.items[node] = min(len(contents), PARTS)
    if calls and b'"agentId"' in bytes(line.result):
        _started(reader, thread, plain(line.result), calls[0])


def _group_of(thread: Thread, call: str) -> int | None:
    """The message that holds the call of a result; None when this file has no such call."""
    group = thread.calls.pop(call, None)
    if group is None and call in thread.answers:
        return thread.tree.groups[thread.answers[call] // PARTS]
    return group


def _started(reader: Reader, thread: Thread, result: object, call: str) -> None:
    if isinstance(result, dict) and isinstance(result.get("agentId"), str):
        kind = result.get("agentType")
        reader.link(thread, result["agentId"], call, clean(kind) if isinstance(kind, str) else None)


def _made_by_client(reader: Reader, thread: Thread, line: Line, record: Record, uuid: str, text: str) -> None:
    reader.enter(thread, line, record, uuid)
    label = "api_error" if line.api_error else "synthetic"
    thread.add(ui_item(uuid, text, label, line, record))
    reader.restart(thread, "a reply made by the client", record, line.timestamp)


def _message(reader: Reader, line: Line, record: Record) -> Message | None:
    """The message of a record; None where it has nothing to read, which is said in the report.

    Such a record takes no place in the tree: one with the same uuid may follow that can be read.
    """
    message, left_out = as_message(line.message)
    if left_out:
        skip(reader.report, record.line, f"{left_out} content blocks that are no objects")
        return message if message is not None and message.content else None
    if message is None or (message.content is None and message.usage is None):
        skip(reader.report, record.line, f"a record of type {line.type} without content")
        return None
    return message


def _item(
    name: str, entry: str, content: Content, line: Line, record: Record, step: str | None = None
) -> ItemEvent:
    return ItemEvent(
        name,
        content.kind,
        content.text,
        entry,
        line.timestamp,
        record.place,
        step,
        content.tool,
        content.call_id,
        content.error,
        media=content.media,
        opaque_chars=content.opaque_chars,
        label=content.label,
    )
