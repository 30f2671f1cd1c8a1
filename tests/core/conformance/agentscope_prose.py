"""The cases of AgentScope that describe their input in words, translated by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from contextlab.core.agent.reload_tool import ReloadTool
from contextlab.core.auto_context.estimate import message_tokens, tokens_of
from contextlab.core.auto_context.hook import INSTRUCTION, before_model_call
from contextlab.core.auto_context.messages import View
from contextlab.core.auto_context.options import AutoContextOptions
from contextlab.core.auto_context.plan import WRAPPER, plan_hint
from contextlab.core.auto_context.prompts import END_OF_MATERIAL, PROMPTS
from contextlab.core.auto_context.tags import offload_ids, offload_of
from contextlab.core.compaction import Snapshot
from contextlab.core.items import Item, Kind
from contextlab.core.language_model import ModelMessage
from contextlab.core.offload import InMemoryOffloadStore, Offload, OffloadStore
from contextlab.core.policies.auto_context import AutoContext
from tests.core.conformance.agentscope_session import Session, message_items, settings_of
from tests.core.conformance.cases import case_by_id
from tests.core.conformance.given import entries


def _tool_rows(*calls: tuple[str, str]) -> list[Item]:
    return [
        item
        for name, tool in calls
        for item in (
            Item(name, Kind.TOOL_CALL, "", tool=tool, call_id=name),
            Item(f"r-{name}", Kind.TOOL_RESULT, f"r-{name}", call_id=name),
        )
    ]


def _many_groups(mode: str) -> dict[str, Any]:
    """AGS-10."""
    items: list[Item] = []
    for number in range(6):
        items.append(Item(f"q{number}", Kind.USER, f"q{number}"))
        items += _tool_rows((f"k{number}", "t"), (f"l{number}", "t"))
        items.append(Item(f"a{number}", Kind.ASSISTANT, f"a{number}"))
    items += [Item(name, Kind.USER, name) for name in ("p1", "p2")]
    session = Session(settings_of("AGS-10", mode), tuple(items))
    session.compress()
    return {
        "model_calls": len(session.model.calls),
        "working_count": len(entries(session.memory.items)),
        "original_count": len(entries(session.given.items)),
    }


def _plan_tools(mode: str) -> dict[str, Any]:
    """AGS-34."""
    items = [Item("q1", Kind.USER, "q1"), *_tool_rows(("k1", "create_plan"), ("k2", "t"))]
    items += [Item("a1", Kind.ASSISTANT, "a1"), Item("q2", Kind.USER, "q2")]
    session = Session(settings_of("AGS-34", mode), tuple(items))
    session.compress()
    return {
        "prompt_shape": [_shape(message) for message in session.model.calls[0]],
        "offloaded_count": len(session.offloads[0].items),
    }


def _shape(message: ModelMessage) -> str:
    if message.content in PROMPTS.values():
        return f"{message.role}(prompt)"
    if message.content == END_OF_MATERIAL:
        return f"{message.role}(end marker)"
    row = _json(message.content)
    return f"{row['kind']} {row['call_id']}"


def _json(text: str) -> dict[str, Any]:
    return dict(json.loads(text))


def _plan(mode: str) -> dict[str, Any]:
    """AGS-35."""
    hint = plan_hint(case_by_id("AGS-35")["input"]["plan"])
    assert hint is not None
    session = Session(
        settings_of("AGS-26", mode), (Item("q", Kind.USER, "q"), *_tool_rows(("k", "t"), ("l", "t")))
    )
    session.plan = case_by_id("AGS-35")["input"]["plan"]
    session.compress()
    assert session.model.calls[-1][-1].content == hint
    lines = hint.splitlines()
    heads = ("Goal", "Current Progress", "Progress", "Expected Outcome")
    closed = lines[0] == f"<{WRAPPER}>" and lines[-1] == f"</{WRAPPER}>"
    return {
        "hint_lines": [line for line in lines if line.partition(":")[0] in heads],
        "wrapper": WRAPPER if closed else None,
    }


def _offload(mode: str) -> dict[str, Any]:
    """AGS-39."""
    store, items = InMemoryOffloadStore(), (Item("m", Kind.USER, "original"),)
    store.put(Offload("u", items))
    found = "original messages" if store.get("u") == items else store.get("u")
    unknown = list(store.get("nope"))
    store.clear("u")
    return {"results": [found, unknown, "ok", list(store.get("u"))]}


class Broken(InMemoryOffloadStore):
    """A store that cannot be read."""

    def get(self, offload_id: str) -> tuple[Item, ...]:
        raise OSError("down")


def _tool(mode: str) -> dict[str, Any]:
    """AGS-40."""
    stores: list[OffloadStore | None] = [None, InMemoryOffloadStore(), Broken()]
    ids = [*case_by_id("AGS-40")["input"]["ids"], "known"]
    answers = [ReloadTool(store).call(name) for store in stores for name in ids]
    is_text = all(isinstance(answer, str) and answer.strip() for answer in answers)
    return {"raises": None, "is_text_message": is_text}


def _tags(mode: str) -> dict[str, Any]:
    """AGS-41."""
    texts = case_by_id("AGS-41")["input"]["texts"]
    found = {uuid for text in texts for uuid in [*offload_ids(f"a {text} b"), offload_of(f"a\n{text}")]}
    return {"uuid": found.pop() if len(found) == 1 else found}


def _estimate(mode: str) -> dict[str, Any]:
    """AGS-42."""
    messages = [
        [Item("a", Kind.USER, "hello")],
        [Item("b", Kind.TOOL_CALL, "", tool="t", call_id="k1")],
        [Item("c", Kind.TOOL_RESULT, "hello", tool="t", call_id="k1")],
        [Item("d", Kind.USER, "你好世界啊")],
    ]
    assert tokens_of([]) == 0
    return {"tokens": [message_tokens(View.of(items).messages[0]) for items in messages]}


def _hook(mode: str) -> dict[str, Any]:
    """AGS-43."""
    items = (
        Item("s", Kind.SYSTEM, "you help"),
        Item("q", Kind.USER, "q"),
        *_tool_rows(("k", "t"), ("l", "t")),
    )
    policy = AutoContext(
        AutoContextOptions(msg_threshold=3, mode="reference" if mode == "reference" else "safe")
    )
    for given in (items, items[1:]):
        session = Session(policy.options, given)
        prepared = before_model_call(Snapshot(given), policy, session.deps())
        first = prepared.items[0]
        assert first.kind == Kind.SYSTEM
        assert first.text.endswith(INSTRUCTION)
        assert first.text.startswith("you help") == (given is items)
        rest = prepared.memory.items[given is items :]
        assert prepared.items[1:] == rest
        assert prepared.outcome is not None
        assert prepared.outcome.compacted
    return {"first_message": "system with reload instruction", "rest": "working memory"}


def _original(mode: str) -> dict[str, Any]:
    """AGS-44: the log is what was given; deleting from the memory that a compression made leaves it alone."""
    case = case_by_id("AGS-04")
    items = tuple(item for row in case["input"]["messages"] for item in message_items(row))
    session = Session(settings_of("AGS-04", mode), items)
    assert session.compress()
    session.memory = Snapshot(session.memory.items[1:])
    return {"original_count": len(entries(session.given.items))}


def _one_strategy(mode: str) -> dict[str, Any]:
    """AGS-45: a run of tools and a large question; the run goes, the question stays."""
    items = (
        Item("q1", Kind.USER, "." * 150),
        *_tool_rows(("k1", "t"), ("k2", "t")),
        Item("a1", Kind.ASSISTANT, "a1"),
        Item("q2", Kind.USER, "q2"),
    )
    session = Session(settings_of("AGS-45", mode), items)
    session.compress()
    assert session.memory.items[0] == items[0]
    return {"strategies_applied": len({event.kind for event in session.events})}


PROSE: dict[str, Callable[[str], dict[str, Any]]] = {
    "AGS-10": _many_groups,
    "AGS-34": _plan_tools,
    "AGS-35": _plan,
    "AGS-36": lambda mode: {"hint": plan_hint(case_by_id("AGS-36")["input"]["plan"])},
    "AGS-39": _offload,
    "AGS-40": _tool,
    "AGS-41": _tags,
    "AGS-42": _estimate,
    "AGS-43": _hook,
    "AGS-44": _original,
    "AGS-45": _one_strategy,
}
"""Cases whose input is described in words, by hand."""
