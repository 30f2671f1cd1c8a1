"""Pairs of calls and results, and reasoning with what it led to: faults that people met in other tools."""

from __future__ import annotations

from contextlab.core import Budget, Item, Kind, Projection, Verdict, project
from contextlab.core.projectors.type_aware import TypeAwareProjector
from contextlab.core.protocol import ExportItem, export, faults_of


def user(name: str) -> Item:
    """A prompt."""
    return Item(name, Kind.USER, name)


def answer(name: str, entry: str = "") -> Item:
    """The assistant's text."""
    return Item(name, Kind.ASSISTANT, name, entry)


def thought(name: str, entry: str = "") -> Item:
    """Reasoning."""
    return Item(name, Kind.REASONING, name, entry)


def call(name: str, call_id: str, entry: str = "", pinned: bool = False) -> Item:
    """A tool call."""
    return Item(name, Kind.TOOL_CALL, "{}", entry, "read", call_id, pinned=pinned)


def result(name: str, call_id: str, text: str = "ok", pinned: bool = False) -> Item:
    """Its result."""
    return Item(name, Kind.TOOL_RESULT, text, "", None, call_id, pinned=pinned)


def names(seen: Projection) -> list[str]:
    """What is seen, by name."""
    return [item.id for item in seen.items]


def copy(items: list[Item], seen: Projection, wire: str) -> dict:
    """The projection in a provider's format, checked."""
    shown = {item.id: item.text for item in seen.items}
    sent = [
        ExportItem(item.id, item.kind, shown.get(item.id, item.text), item.entry, fate.verdict, fate.reason, item.tool,
                   item.call_id, secret=f"sig {item.id}")
        for item, fate in zip(items, seen.fates, strict=True)
    ]  # fmt: skip
    document = export(sent, wire).document
    assert faults_of(document, wire) == []
    return document


def test_a_tail_never_begins_with_a_bare_result() -> None:
    """A result of an earlier turn whose call was cut off goes too (langchain 33245)."""
    items = [
        user("m1"), call("m2", "c"), result("m3", "c"), user("m4"), answer("m5"), user("m6"), answer("m7"),
    ]  # fmt: skip
    seen = project(items, Budget(max_items=5))
    assert names(seen) == ["m4", "m5", "m6", "m7"]
    assert seen.report.notes == ["maxItems applied: 5", "pair-guard: re-added 0, dropped 1"]
    copy(items, seen, "openai_chat")


def test_an_answered_result_goes_even_if_a_place_stays_free() -> None:
    """In the current turn a result that was read is not worth its call (openai-agents 4322)."""
    items = [user("r1"), call("r2", "c"), result("r3", "c"), answer("r4")]
    assert names(project(items, Budget(max_items=2))) == ["r4"]


def test_parallel_calls_keep_their_own_results() -> None:
    """Of two parallel pairs only the one that was cut goes (omnigent 2448)."""
    items = [
        call("r1", "A"), call("r2", "B"), result("r3", "A"), result("r4", "B"), answer("r5"), user("r6"),
    ]  # fmt: skip
    seen = project(items, Budget(max_items=5))
    assert names(seen) == ["r2", "r4", "r5", "r6"]
    copy(items, seen, "openai_responses")


def test_an_unread_result_brings_its_whole_message_back() -> None:
    """An unread result keeps its call, with all of the message: parallel calls, their results, and the thinking."""
    items = [
        user("u"), thought("z", "m"), call("k1", "A", "m"), call("k2", "B", "m"), result("r1", "A"), result("r2", "B"),
    ]  # fmt: skip
    seen = project(items, Budget(max_items=1))
    assert names(seen) == ["z", "k1", "k2", "r1", "r2"]
    assert seen.report.over_budget
    assert seen.report.notes[-1] == "pair-guard: re-added 4, dropped 0"


def test_thinking_of_the_open_turn_is_not_altered() -> None:
    """Old thinking goes as a whole; that of the open turn stays byte for byte and first (claude-code 12311)."""
    items = [
        user("old"), thought("t0", "m2"), answer("x", "m2"), user("now"),
        thought("t1", "m4"), call("k", "T1", "m4"), result("r", "T1", "long body " * 30),
    ]  # fmt: skip
    projector = TypeAwareProjector(Budget(trim_old_reasoning=True, max_approx_chars=200))
    document = copy(items, project(items, projector), "anthropic")
    thinking = [
        block
        for message in document["messages"]
        for block in message["content"]
        if block["type"] == "thinking"
    ]
    assert thinking == [{"type": "thinking", "thinking": "t1", "signature": "sig t1"}]
    opened = document["messages"][-2]["content"]
    assert [block["type"] for block in opened] == ["thinking", "tool_use"]
    assert document["messages"][0]["content"] == [{"type": "text", "text": "now"}]


def test_unanswered_calls_go_with_their_reasoning() -> None:
    """With drop_unanswered_calls a stale call goes, and the reasoning before it (openai-agents-js 1280)."""
    items = [user("r1"), thought("r2"), call("r3", "c"), answer("r4"), user("r5")]
    assert names(project(items, Budget(drop_unanswered_calls=True))) == ["r1", "r4", "r5"]
    assert names(project(items, Budget())) == ["r1", "r2", "r3", "r4", "r5"]


def test_a_call_at_the_open_end_may_wait() -> None:
    """drop_unanswered_calls leaves the calls of the open end: their results are still to come."""
    items = [user("u"), call("k", "c")]
    assert names(project(items, Budget(drop_unanswered_calls=True))) == ["u", "k"]


def test_a_pin_brings_its_partner() -> None:
    """What a person pinned stays, and its partner comes with it, even from an earlier turn."""
    items = [
        user("u1"), call("k", "c"), result("r", "c", pinned=True), answer("a1"), user("u2"), answer("a2"),
    ]  # fmt: skip
    seen = project(items, Budget(max_items=3))
    assert names(seen) == ["k", "r", "u2", "a2"]
    assert [fate.verdict for fate in seen.fates][1:3] == [Verdict.KEPT, Verdict.PINNED]
    items = [
        user("u1"),
        call("k", "c", pinned=True),
        result("r", "c"),
        answer("a1"),
        user("u2"),
        answer("a2"),
    ]
    assert names(project(items, Budget(max_items=3))) == ["k", "r", "u2", "a2"]


def test_reasoning_goes_with_what_it_led_to() -> None:
    """Reasoning whose item the limits took goes as well, and is not sent alone."""
    items = [thought("z"), answer("long" * 50), user("u"), answer("a")]
    assert names(project(items, Budget(max_approx_chars=60))) == ["u", "a"]


def test_faults_of_the_source_are_left_alone() -> None:
    """The guard repairs what the projection broke, not what the log lacks."""
    items = [user("u"), result("r", "nobody"), call("k", "c"), answer("a")]
    seen = project(items, Budget(max_items=9))
    assert names(seen) == ["u", "r", "k", "a"]
    copy(items, seen, "anthropic")


def test_without_the_guard_pairs_may_split() -> None:
    """pair_guard false leaves the limits' work as it is; so does reference mode."""
    items = [user("u"), call("k", "c"), result("r", "c")]
    assert names(project(items, Budget(max_items=1, pair_guard=False))) == ["r"]
    assert names(project(items, Budget(max_items=1, mode="reference"))) == ["r"]
