"""AgentScope: the six strategies, putting aside and fetching back, the hook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextlab.core.auto_context.current_round import sizes_of
from contextlab.core.auto_context.estimate import tokens_of
from contextlab.core.auto_context.messages import View
from contextlab.core.auto_context.options import AutoContextOptions
from contextlab.core.auto_context.preview import CUT
from contextlab.core.auto_context.prompts import size_requirement
from contextlab.core.auto_context.tags import body, offload_of, tag
from contextlab.core.compaction import CompactEvent
from contextlab.core.items import Item, Kind
from contextlab.core.language_model import ModelError
from contextlab.core.policies.auto_context import is_due
from contextlab.core.projection import NONE, pair_up
from contextlab.core.testing import ScriptedModel
from tests.core.conformance.agentscope_prose import PROSE
from tests.core.conformance.agentscope_session import NAMES, SAME, Session, message_items
from tests.core.conformance.compare import Raised
from tests.core.conformance.given import Given, Unsupported, entries

LETTERS = {Kind.USER: "U", Kind.ASSISTANT: "A", Kind.SYSTEM: "S"}
GOES_ON = "<id of the call message "


__all__ = ["PROSE", "run"]


def run(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """What a case's messages become."""
    if case["component"] != "auto_context":
        raise Unsupported(f"unknown component {case['component']!r}")
    options = case["options"]
    settings = AutoContextOptions(
        **options.only(*SAME), **{NAMES[key]: value for key, value in options.only(*NAMES).items()}, mode=mode
    )
    items = [item for row in case["input"]["messages"] for item in message_items(row)]
    for name in options.get("already_compressed", ()):
        _mark_compressed(items, name)
    session = Session(settings, tuple(items), _model(options))
    session.attempt("path" in options and options["path"] == "auto")
    sequence = [bool(session.events)]
    sequence += [session.compress() for _ in range(1, options.get("calls", 1))]
    return _seen(session, case, sequence)


def _model(options: Given) -> ScriptedModel:
    if "model_error" in options:
        return ScriptedModel.saying([ModelError("unreachable", options["model_error"])])
    if "model_error_at_call" in options:
        answers: list[Any] = ["SUM", "SUM2", "SUM3"]
        answers[options["model_error_at_call"] - 1] = ModelError("unreachable", "down")
        return ScriptedModel.saying(answers)
    return ScriptedModel()


def _mark_compressed(items: list[Item], name: str) -> None:
    for item in items:
        if item.id == name:
            mark = f"\n{tag('earlier')}"
            item.text = item.text[: -len(mark)] + mark


def _seen(session: Session, case: Mapping[str, Any], sequence: list[bool]) -> dict[str, Any]:
    """Everything that cases ask about."""
    memory, events = session.memory.items, session.events
    view = View.of(memory)
    return {
        "returned": sequence[0],
        "returned_sequence": sequence,
        "triggered": is_due(View.of(session.items), session.options).due,
        "default_token_threshold": AutoContextOptions().token_threshold,
        "default_msg_threshold": AutoContextOptions().msg_threshold,
        "working": [_label(message.items) for message in view.messages],
        "working_count": len(view),
        "working_unchanged": session.is_unchanged(),
        "original_count": len(entries(session.given.items)),
        "offloads": len(session.offloads),
        "model_calls": len(session.model.calls),
        "events": _events(session, case),
        "events_types": [event.kind for event in events],
        "raises": None if session.error is None else Raised(session.error),
        "no_orphans": _orphans(memory) <= _orphans(session.items),
        "s5_event": any(event.kind == "CURRENT_ROUND_LARGE_MESSAGE_SUMMARY" for event in events),
        "size_after_greater_than_before": tokens_of(view.messages)
        > tokens_of(View.of(session.items).messages),
        **_previews(session),
        **_round(session),
        **_groups(session),
    }


def _events(session: Session, case: Mapping[str, Any]) -> list[Any]:
    """The events as the case writes them: names alone, or with what stands around."""
    wanted = {**case["expected"], **case.get("expected_reference_mode", {})}.get("events", [])
    if wanted and isinstance(wanted[0], str):
        return [event.kind for event in session.events]
    told = [_event(session, event) for event in session.events]
    for one, other in zip(told, wanted, strict=False):
        if str(other.get("previous", "")).startswith(GOES_ON):
            calls = _calling(session.items, other["previous"].removeprefix(GOES_ON).removesuffix(">"))
            one["previous"] = other["previous"] if one["previous"] in calls else one["previous"]
    return told


def _event(session: Session, event: CompactEvent) -> dict[str, Any]:
    gone = [item for item in session.items if item.id in event.items]
    return {
        "type": event.kind,
        "count": len(entries(gone)),
        "previous": event.before,
        "next": event.after,
        "compressed_message_id": event.replacement,
    }


def _calling(items: tuple[Item, ...], call_id: str) -> list[str]:
    return [item.id for item in items if item.kind == Kind.TOOL_CALL and item.call_id == call_id]


def _label(items: tuple[Item, ...]) -> str:
    """A message in the short form of the cases."""
    first = items[0]
    if first.kind == Kind.TOOL_RESULT:
        return "R:" + "+".join(map(_result_label, items))
    calls = [item.call_id or "" for item in items if item.kind == Kind.TOOL_CALL]
    if calls:
        return "C:" + "+".join(calls)
    text = _text_label(first)
    return text or f"{LETTERS[first.kind]}:{first.id}"


def _result_label(item: Item) -> str:
    if offload_of(item.text) is None:
        return str(item.call_id)
    return f"{item.call_id}({'summary' if body(item.text).startswith('SUM') else 'preview'}+tag)"


def _text_label(item: Item) -> str | None:
    return (
        "<summary+tag>" if offload_of(item.text) is not None and body(item.text).startswith("SUM") else None
    )


def _orphans(items: tuple[Item, ...]) -> set[str]:
    """Calls and results that have lost the other one; a call that nothing follows may wait."""
    pairs = pair_up(items)
    return {
        item.call_id or item.id
        for item, partner in zip(items, pairs, strict=True)
        if item.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT) and partner == NONE
    }


def _previews(session: Session) -> dict[str, Any]:
    """What is left of the message that was put aside first, and of all results."""
    seen: dict[str, Any] = {}
    items = session.memory.items
    stubs = [item for item in items if offload_of(item.text) is not None]
    if stubs and not session.model.calls:
        shown = body(stubs[0].text)
        seen |= {"preview_suffix": shown[-len(CUT) :], "preview_chars": len(shown) - len(CUT)}
    results = [item for item in items if item.kind == Kind.TOOL_RESULT]
    before = {item.id: item for item in session.items}
    seen["results_after"] = [_result_label(item) for item in results]
    seen["result_id_kept"] = all(item.call_id == before[item.id].call_id for item in results)
    texts = [label for item in items if item.kind == Kind.ASSISTANT and (label := _text_label(item))]
    seen["text"] = texts[0] if texts else None
    calls = [item for item in items if item.kind == Kind.TOOL_CALL]
    seen["call_block_kept"] = calls == [item for item in session.items if item.kind == Kind.TOOL_CALL]
    return seen


def _round(session: Session) -> dict[str, Any]:
    """What strategy 6 asked for and left."""
    view = View.of(session.items)
    question = view.last(question=True)
    if question == NONE:
        return {}
    chars, target = sizes_of(view.messages[question + 1 :], session.options.current_round_compression_ratio)
    last = [event for event in session.events if event.kind == "CURRENT_ROUND_MESSAGE_COMPRESS"]
    made = [item for item in session.memory.items if last and item.id == last[-1].replacement]
    marked = "compressed_current_round" if [item.kind for item in made] == [Kind.SUMMARY] else None
    seen: dict[str, Any] = {"original_chars": chars, "target_chars": target, "marked": marked}
    if last:
        planned = Session(session.options, session.items, plan={"goal": "g"})
        planned.compress()
        asked = [message.content for message in planned.model.calls[-1]]
        alone = session.model.calls[-1][-1].content
        demand = size_requirement(chars, target)
        seen["requirement_is_last_prompt_message_before_plan_hint"] = asked[-2] == alone == demand
    return seen


def _groups(session: Session) -> dict[str, Any]:
    """What became of the groups of calls whose ids begin with a and with b."""
    left = {item.id for item in session.memory.items}
    small = [item.id for item in session.items if (item.call_id or "").startswith("a")]
    large = [item.id for item in session.items if (item.call_id or "").startswith("b")]
    return {"small_group_untouched": left.issuperset(small), "large_group_summarised": left.isdisjoint(large)}
