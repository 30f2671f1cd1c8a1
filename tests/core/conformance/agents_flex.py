"""The cases of Agents-Flex: the turn window, the compressors, the coordinator, its state, the chat memory.

Messages are written in the cases' notation: U user, A assistant, C call(s), T result, X for the person only; a message
whose id stands in angle brackets is written as that id.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from contextlab.core import Item, Kind, project
from contextlab.core.agent.chat_memory import ChatMessage, InMemoryChatMemory
from contextlab.core.agent.coordinator import Coordinator
from contextlab.core.compaction import Decision, Deps, Snapshot
from contextlab.core.compressors.incremental import Incremental
from contextlab.core.errors import ContextLabError
from contextlab.core.language_model import ModelError
from contextlab.core.projectors.turn_window import TurnWindow
from contextlab.core.registry import COMPRESSORS, TRIGGERS
from contextlab.core.state import MOST, CompressionState, InMemoryStateStore
from contextlab.core.summarising.compressing import EXCERPT_HEADING
from contextlab.core.testing import ScriptedModel
from tests.core.conformance.cases import case_by_id
from tests.core.conformance.compare import Raised
from tests.core.conformance.given import Unsupported, compact_json, items_of

WINDOW = {
    "max_turns": "max_attached_turns",
    "max_messages": "max_attached_messages",
    "compact_tool_turns": "compact_completed_tool_turns",
    "keep_recent": "compression_keep_recent_turns",
}
STRATEGIES = {"compact_completed_turns": "completed_turns", "model": "model_summary"}


class CompressorError(Exception):
    """A compressor failed: what our engine raises as ModelError, or as whatever the compressor itself raised."""


@dataclass
class Made:
    """A compressor that gives what it was told to, and remembers what it saw."""

    answer: Sequence[Item] = ()
    fails: bool = False
    saw: list[list[Item]] = field(default_factory=list)

    kind = "made"

    def compress(self, items: Sequence[Item], deps: Deps) -> list[Item]:
        self.saw.append(copy.deepcopy(list(items)))
        if self.fails:
            raise CompressorError("told to fail")
        return list(self.answer)


def run(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """What comes out of one case."""
    parts = {"context_window": window, "compressors": compressors, "coordinator": coordinator}
    if case["component"] not in parts:
        raise Unsupported(f"unknown component {case['component']!r}")
    return parts[case["component"]](case, mode)


def said(items: Iterable[Item]) -> list[str]:
    """Messages in the notation of the cases."""
    by_entry: dict[str, list[Item]] = {}
    for item in items:
        by_entry.setdefault(item.entry if item.kind == Kind.TOOL_CALL else item.id, []).append(item)
    return [_said(parts) for parts in by_entry.values()]


def _said(parts: list[Item]) -> str:
    one = parts[0]
    if one.id.startswith("<"):
        return one.id
    if one.kind == Kind.TOOL_CALL:
        return "C:" + "+".join(str(part.call_id) for part in parts)
    letter = {Kind.USER: "U", Kind.ASSISTANT: "A", Kind.TOOL_RESULT: "T", Kind.UI: "X"}[one.kind]
    return f"{letter}:{one.call_id if one.kind == Kind.TOOL_RESULT else one.id}"


def written(notation: Iterable[str]) -> list[Item]:
    """The items of messages in the notation."""
    items: list[Item] = []
    for number, word in enumerate(notation):
        letter, name = word.split(":")
        entry = f"{name}#{number}"
        if letter == "C":
            calls = name.split("+")
            items += [Item(f"{entry}/{call}", Kind.TOOL_CALL, "", entry, "t", call) for call in calls]
        elif letter == "T":
            items.append(Item(entry, Kind.TOOL_RESULT, name, entry, "t", name))
        else:
            items.append(Item(name, {"U": Kind.USER, "A": Kind.ASSISTANT, "X": Kind.UI}[letter], name))
    return items


# The turn window


def window(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """A window over the messages."""
    items = items_of(case["input"]["messages"])
    options = case["options"]
    named = {WINDOW[key]: value for key, value in options.only(*WINDOW).items()}
    compressor = _compressor_of(options)
    projector = replace(TurnWindow.from_options(named, mode), context_compressor=compressor, deps=Deps())
    before = copy.deepcopy(items)
    try:
        seen = project(items, projector)
    except (ContextLabError, CompressorError) as error:
        return {"raises": Raised(error), "model_called": False}
    saw = compressor.saw if compressor else []
    return {
        "messages": said(seen.items),
        "memory_unchanged": items == before,
        "compressor_saw": said(saw[0]) if saw else [],
    }


def _compressor_of(options: Mapping[str, Any]) -> Made | None:
    if "compressor_output" in options:
        return Made(written(options["compressor_output"]))
    kind = options.get("compressor")
    if kind is None:
        return None
    if kind not in ("two_message_summary", "raises"):
        raise Unsupported(f"unknown compressor {kind!r}")
    return Made(written(["U:SUM", "A:facts"]), fails=kind == "raises")


# The compressors


def compressors(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """One compressor over the messages."""
    items, options = items_of(case["input"]["messages"]), case["options"]
    if options["strategy"] == "incremental":
        return incremental(case, items, mode)
    model = ScriptedModel.saying(_answers(options))
    before = copy.deepcopy(items)
    try:
        left = _built(options, mode).compress(items, Deps(model=model))
    except ModelError as error:
        return {"raises": Raised(CompressorError(str(error)))}
    except ValueError as error:
        return {"raises": Raised(error)}
    return {
        "messages": said(left),
        "message_kinds": [str(item.kind) for item in left],
        "assistant_text": next((item.text for item in left if item.kind == Kind.ASSISTANT), None),
        "texts": {item.id: item.text for item in left},
        "untouched": [
            item.id for item in before if item.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT) and item in left
        ],
        "excerpt": left[0].text.removeprefix(EXCERPT_HEADING) if left else "",
        "model_calls": len(model.calls),
    }


def _answers(options: Mapping[str, Any]) -> list[str]:
    if "model_output_text" in options:
        return [options["model_output_text"]]
    if "model_output" not in options:
        return []
    output = options["model_output"]
    return [output if isinstance(output, str) else compact_json(output)]


def _built(options: Mapping[str, Any], mode: str) -> Any:
    kind = STRATEGIES.get(options["strategy"], options["strategy"])
    given = dict(options.only("instruction", "max_characters"))
    if "members" in options:
        given["members"] = [_member(one) for one in options["members"]]
    return COMPRESSORS.get(kind).from_options(given, mode)


def _member(written: str | None) -> dict[str, Any] | None:
    if written is None:
        return None
    strategy, _, size = written.partition(":")
    document: dict[str, Any] = {"kind": STRATEGIES.get(strategy, strategy)}
    return {**document, "max_characters": int(size)} if size else document


SUMMARY = Item("<summary>", Kind.USER, "SUM")


def incremental(case: Mapping[str, Any], items: list[Item], mode: str) -> dict[str, Any]:
    """The incremental compressor, on top of what came before."""
    options = case["options"]
    inner = Made([SUMMARY])
    compressor = Incremental(inner, mode)
    if "after" in options:
        earlier = case_by_id(options["after"])
        _repeat(compressor, items_of(earlier["input"]["messages"]), earlier["options"])
    if "state_covered_until" in options:
        compressor.restore([SUMMARY], options["state_covered_until"])
    if "restore" in options:
        kept = options["restore"]
        compressor.restore([Item(kept["summary"], Kind.USER)], kept["covered_until"])
    try:
        _repeat(compressor, items, options)
    except ContextLabError as error:
        return {"raises": Raised(error), "model_calls": len(inner.saw)}
    return {
        "model_calls": len(inner.saw),
        "covered_until": compressor.state[1],
        "compressor_saw": said(inner.saw[-1]) if inner.saw else [],
    }


def _repeat(compressor: Incremental, items: list[Item], options: Mapping[str, Any]) -> None:
    for _ in range(options.get("calls", 1)):
        compressor.compress(items, Deps())


# The coordinator


class Always:
    """A trigger that is always due."""

    kind = "always"

    def decide(self, snapshot: Snapshot, deps: Deps) -> Decision:
        return Decision(True, "always")


class Watched(InMemoryStateStore):
    """A store that counts saves and can be told to refuse them."""

    refuses = False

    def __init__(self) -> None:
        super().__init__()
        self.saves: list[int] = []

    def save(self, conversation_id: str, state: CompressionState, expected_version: int) -> bool:
        self.saves.append(expected_version)
        return not self.refuses and super().save(conversation_id, state, expected_version)


def coordinator(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """The coordinator over a history, on top of a stored state."""
    given, options, store = case["input"], case["options"], Watched()
    _prepare(store, given.get("state"))
    store.saves.clear()
    store.refuses = "store" in given and given["store"] == "rejects"
    size = options.get("tokens_per_message", 1)
    compressor = Made([SUMMARY], fails="compressor" in given and given["compressor"] == "raises")
    one = Coordinator(store, _trigger(options), compressor)
    try:
        done = one.compress("c", _history(given["history"], size))
    except (ContextLabError, CompressorError, ValueError) as error:
        return {
            "raises": Raised(error),
            "saves": len(store.saves),
            "state_after": store.load("c"),
        }
    state = done.state
    assert store.load("c") == state
    return {
        "compressed": done.compressed,
        "model_messages": _names(done.messages),
        "compressor_saw": _names(compressor.saw[-1]) if compressor.saw else [],
        "saves": len(store.saves),
        "expected_version": store.saves[-1] if store.saves else None,
        "version": state.version,
        "compression_version": state.compression_version,
        "covered_until": state.covered_until,
        "covered_tokens": "MAX" if state.covered_tokens == MOST else state.covered_tokens,
        "covered_turns_are_user_messages": state.covered_turns == _last_number(state.covered_until),
    }


def _prepare(store: Watched, state: Any) -> None:
    if isinstance(state, str):
        earlier = case_by_id(state.removeprefix("after "))
        history = _history(earlier["input"]["history"], earlier["options"]["tokens_per_message"])
        Coordinator(store, _trigger(earlier["options"]), Made([SUMMARY])).compress("c", history)
    elif state is not None:
        if set(state) != {"covered_tokens"}:
            raise Unsupported(f"unknown state {state!r}")
        assert store.save(
            "c", CompressionState(version=1, covered_tokens=_number(state["covered_tokens"])), 0
        )


def _trigger(options: Mapping[str, Any]) -> Any:
    given = options.get("trigger", "always")
    if given == "always":
        return Always()
    name, _, limit = given.partition(">=")
    if name != "pending_tokens" or not limit:
        raise Unsupported(f"unknown trigger {given!r}")
    return TRIGGERS.get("tokens").from_options({"min_tokens": int(limit)}, "safe")


def _history(names: Iterable[str], size: Any) -> list[Item]:
    return [Item(name, Kind.USER, name, tokens=_number(size)) for name in names]


def _number(value: Any) -> int:
    return MOST if value == "MAX" else int(value)


def _names(items: Iterable[Item]) -> list[str]:
    return [item.id for item in items]


def _last_number(name: str | None) -> int | None:
    """Histories are numbered user messages from 1."""
    return int(name) if name else None


# Cases in words


def errors_of(calls: Iterable[Callable[[], object]]) -> list[Raised]:
    """What each call raises."""
    raised = []
    for call in calls:
        try:
            call()
        except Exception as error:
            raised.append(Raised(error))
    return raised


def empty_input_gives_the_summary(mode: str) -> dict[str, Any]:
    inner = Made([SUMMARY])
    compressor = Incremental(inner, mode)
    compressor.restore([SUMMARY], "q2")
    return {"messages": said(compressor.compress([], Deps())), "model_calls": len(inner.saw)}


def no_history(mode: str) -> dict[str, Any]:
    one = Coordinator(InMemoryStateStore(), Always(), Made([SUMMARY]))
    history: Any = None
    no_id: Any = None
    errors = errors_of(
        [lambda: one.compress("c", history), lambda: one.compress(no_id, []), lambda: one.compress(" ", [])]
    )
    assert len(errors) == 3
    assert all(error.matches("ValueError") for error in errors)
    return {"raises": errors[0]}


def memory_of(names: Iterable[object], hidden: Iterable[object] = ()) -> InMemoryChatMemory:
    """A chat memory with these messages."""
    memory = InMemoryChatMemory()
    for name in names:
        items = (Item(str(name), Kind.USER, str(name)),)
        assert memory.add_if_absent(ChatMessage(str(name), items, name not in hidden))
    return memory


def pages(mode: str) -> dict[str, Any]:
    memory = memory_of([1, 2, 3, 4, 5])
    reads = [(0, 2), (2, 2), (4, 2)]
    return {"pages": [[int(one.id) for one in memory.get_messages(*read)] for read in reads]}


def model_messages(mode: str) -> dict[str, Any]:
    memory = memory_of(["first", "ui", "second", "third"], hidden=["ui"])
    return {"messages": [one.id for one in memory.get_model_messages(2)], "timeline_count": len(memory)}


def append_and_update(mode: str) -> dict[str, Any]:
    memory, message = InMemoryChatMemory(), ChatMessage("a", (Item("a", Kind.USER, "a"),))
    results = [memory.add_if_absent(message), memory.add_if_absent(message)]
    results += [memory.update(message, 0), memory.update(message, 0)]
    stored = memory.get_message("a")
    return {"results": results, "version": stored.version if stored else None}


def bad_pages(mode: str) -> dict[str, Any]:
    memory = memory_of([1])
    return {"raises": errors_of([lambda: memory.get_messages(-1, 1), lambda: memory.get_messages(0, 0)])}


def compare_and_set(mode: str) -> dict[str, Any]:
    store = InMemoryStateStore()
    missing = store.load("c")
    saves = [(1, 0), (2, 0), (2, 1)]
    results = [store.save("c", CompressionState(version=version), expected) for version, expected in saves]
    stored = store.load("c")
    return {"results": results, "final_version": stored and stored.version, "load_missing": missing}


def two_first_saves(mode: str) -> dict[str, Any]:
    store = InMemoryStateStore()
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda _: store.save("c", CompressionState(version=1), 0), range(2)))
    return {"true_count": sum(results)}


def bad_states(mode: str) -> dict[str, Any]:
    store, nothing = InMemoryStateStore(), None
    no_state: Any = nothing
    state = CompressionState(version=1)
    return {
        "raises": errors_of(
            [
                lambda: store.save("c", no_state, 0),
                lambda: store.save("c", state, -1),
                lambda: store.load(" "),
            ]
        )
    }


PROSE: dict[str, Callable[[str], dict[str, Any]]] = {
    "AGF-I04": empty_input_gives_the_summary,
    "AGF-O12": no_history,
    "AGF-M01": pages,
    "AGF-M02": model_messages,
    "AGF-M03": append_and_update,
    "AGF-M04": bad_pages,
    "AGF-S01": compare_and_set,
    "AGF-S02": two_first_saves,
    "AGF-S03": bad_states,
}
