"""The turn window: whole turns from a person's message on, and what a compressor may put in the place of old ones."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlab.core import (
    Item,
    Kind,
    PolicyError,
    Projection,
    Verdict,
    export,
    parse_policy,
    project,
    replay,
)
from contextlab.core.agent.live import export_items
from contextlab.core.compaction import Deps
from contextlab.core.errors import EmptySummary, InvalidProjection
from contextlab.core.items import Injected, Reason
from contextlab.core.language_model import ModelError
from contextlab.core.projection import NONE, is_prompt, pair_up
from contextlab.core.projectors.turn_window import TurnWindow
from contextlab.core.replaying.stepwise import item_of
from contextlab.core.session import AgentSession
from contextlab.core.spans import verdicts_at
from contextlab.core.testing import ScriptedModel
from contextlab.core.turns import messages_of, split_turns
from tests.core.sessions import random_timeline

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)
SIZES = st.tuples(st.integers(1, 5), st.integers(1, 12), st.integers(0, 3), st.booleans(), st.booleans())
promise = settings(max_examples=80, deadline=None)


def memory(seed: int) -> list[Item]:
    """A random memory, with what only the person saw."""
    timeline = random_timeline(seed, 10, marks=False)
    return [item_of(timeline, at) for at in range(timeline.steps[-1].upto)]


def window(sizes: tuple[int, int, int, bool, bool]) -> TurnWindow:
    """A window with and without folding and a compressor that asks no model."""
    turns, messages, recent, fold, shorten = sizes
    compressor = {"kind": "text_excerpt", "max_characters": 40} if shorten else None
    options = {
        "max_attached_turns": turns,
        "max_attached_messages": messages,
        "compression_keep_recent_turns": recent,
        "compact_completed_tool_turns": fold,
        "context_compressor": compressor,
    }
    return TurnWindow.from_options(options, "safe")


def seen(seed: int, sizes: tuple[int, int, int, bool, bool]) -> tuple[list[Item], Projection]:
    """A memory and its window."""
    items = memory(seed)
    return items, project(items, window(sizes))


@promise
@given(SEEDS, SIZES)
def test_memory_is_not_changed(seed: int, sizes: Any) -> None:
    """A window only looks: same memory before and after, same window again."""
    items, one = seen(seed, sizes)
    assert items == memory(seed)
    assert project(items, window(sizes)) == one


@promise
@given(SEEDS, SIZES)
def test_each_item_has_one_fate_and_keeps_its_place(seed: int, sizes: Any) -> None:
    """What is shown of memory are its own items in their order; a summary has no source and stands before the rest."""
    items, one = seen(seed, sizes)
    assert len(one.fates) == len(items)
    own = [index for index in one.sources if index != NONE]
    assert own == sorted(set(own))
    standing = (Verdict.KEPT, Verdict.PINNED)
    assert own == [index for index, fate in enumerate(one.fates) if fate.verdict in standing]
    assert all(items[i] is item for i, item in zip(one.sources, one.items, strict=True) if i != NONE)
    summarised = [fate for fate in one.fates if fate.verdict == Verdict.SUMMARISED]
    assert bool(summarised) == (NONE in one.sources)


@promise
@given(SEEDS, SIZES)
def test_a_window_begins_with_a_person(seed: int, sizes: Any) -> None:
    """Its first message is a person's, or the summary's: no answer and no result ever stands first, but for pins."""
    items, one = seen(seed, sizes)
    first = next((message for message in messages_of(one.items)), None)
    if first is not None and not any(item.pinned for item in items):
        assert any(one.items[index].kind == Kind.USER for index in first)


@promise
@given(SEEDS, SIZES)
def test_the_current_turn_is_whole(seed: int, sizes: Any) -> None:
    """Whatever the limits, the last turn is shown as it is; only a late result of an earlier call may go."""
    items, one = seen(seed, sizes)
    turns = split_turns(items)[1]
    if not turns:
        pinned = any(item.pinned for item in items)
        assert pinned or all(item.kind == Kind.SYSTEM for item in one.items)
        return
    shown, pairs = set(one.sources), pair_up(items)
    start = turns[-1].indices()[0]
    for index in turns[-1].indices():
        late = items[index].kind == Kind.TOOL_RESULT and NONE < pairs[index] < start
        assert index in shown or late


@promise
@given(SEEDS, SIZES)
def test_no_pair_is_split(seed: int, sizes: Any) -> None:
    """A call and its result are both shown or both not."""
    items, one = seen(seed, sizes)
    shown = set(one.sources)
    assert all(
        (call in shown) == (other in shown) for call, other in enumerate(pair_up(items)) if other != NONE
    )


@promise
@given(SEEDS, SIZES)
def test_pins_and_system_items_stay(seed: int, sizes: Any) -> None:
    """They are shown as they are, once; a pin's turn still begins with its question."""
    items, one = seen(seed, sizes)
    shown = set(one.sources)
    kept = [
        i
        for i, item in enumerate(items)
        if item.kind == Kind.SYSTEM or (item.pinned and item.kind != Kind.UI)
    ]
    assert set(kept) <= shown
    summary = NONE in shown
    for turn in split_turns(items)[1]:
        if not summary and any(items[index].pinned for index in turn.indices()):
            assert {index for index in turn.messages[0] if items[index].kind == Kind.USER} <= shown


@promise
@given(SEEDS, SIZES)
def test_figures_add_up(seed: int, sizes: Any) -> None:
    """Source = shown without the summary + dropped, in items, entries and characters; limits are told, never silent."""
    items, one = seen(seed, sizes)
    report = one.report
    made = [item for index, item in zip(one.sources, one.items, strict=True) if index == NONE]
    dropped = [item for item, fate in zip(items, one.fates, strict=True) if fate.verdict == Verdict.DROPPED]
    assert report.source_items == report.projected_items - len(made) + report.dropped_items
    assert report.source_items + report.summarised_items == len(items)
    assert report.source_entries == report.projected_entries - len(made) + report.dropped_entries
    assert report.projected_items == len(one.items)
    assert report.projected_chars == sum(item.chars for item in one.items)
    own = report.projected_chars - sum(item.chars for item in made)
    assert report.source_chars == own + sum(item.chars for item in dropped)
    assert report.projected_tokens == sum(report.composition)
    limited = any(fate.reason in (Reason.MAX_TURNS, Reason.MAX_MESSAGES) for fate in one.fates)
    assert not limited or report.item_limit_applied
    assert report.over_budget == (len(messages_of(one.items)) > sizes[1])


@promise
@given(SEEDS, SIZES)
def test_whole_turns_go_the_oldest_first(seed: int, sizes: Any) -> None:
    """Without folding, compressor and pins, what is shown are the last turns, each whole."""
    turns, messages, recent, *_ = sizes
    items = [copy.copy(item) for item in memory(seed)]
    for item in items:
        item.pinned = False
    one = project(items, TurnWindow(turns, messages, False, recent, pair_guard=False))
    every = split_turns(items)[1]
    shown = {index for index in one.sources if items[index].kind not in (Kind.SYSTEM, Kind.SUMMARY)}
    kept = [turn for turn in every if set(turn.indices()) <= shown]
    assert kept == every[len(every) - len(kept) :]
    assert shown == {index for turn in kept for index in turn.indices()}
    size = sum(len(turn.messages) for turn in kept)
    assert len(kept) <= turns
    assert size <= messages or len(kept) <= 1
    if len(kept) < min(turns, len(every)):
        assert size + len(every[-len(kept) - 1].messages) > messages


@promise
@given(SEEDS, SIZES)
def test_replay_equals_projecting_each_step(seed: int, sizes: Any) -> None:
    """Replayed step by step, each step has the fates that the window gives for its memory."""
    timeline = random_timeline(seed, 6, marks=False)
    result = replay(timeline, window(sizes))
    for step in timeline.steps:
        items = [item_of(timeline, at) for at in range(step.upto)]
        positions = [at for at, item in enumerate(items) if item.kind not in (Kind.UI, Kind.SUMMARY)]
        one = project([items[at] for at in positions], window(sizes))
        told = verdicts_at(result.spans, step.number, range(step.upto))
        assert [told[at] for at in positions] == [(fate.verdict, fate.reason) for fate in one.fates]
        assert result.reports[step.number - 1].summarised_items == one.report.summarised_items


def talk(*words: str, **more: Any) -> list[Item]:
    """Items from words: `u:text` `a:text` `c:id` `r:id`, one entry each."""
    kinds = {
        "u": Kind.USER,
        "a": Kind.ASSISTANT,
        "c": Kind.TOOL_CALL,
        "r": Kind.TOOL_RESULT,
        "z": Kind.REASONING,
    }
    items = []
    for number, word in enumerate(words):
        kind, text = word.split(":")
        call = text if kind in "cr" else None
        items.append(Item(f"{word}#{number}", kinds[kind], text, tool="t" if call else None, call_id=call))
    return items


def shown(one: Projection) -> list[str]:
    """The texts of what is shown."""
    return [item.text for item in one.items]


class Answering:
    """A compressor with a ready answer."""

    kind = "answering"

    def __init__(self, *answer: Item) -> None:
        self.answer = list(answer)

    def compress(self, items: Sequence[Item], deps: Deps) -> list[Item]:
        for item in items:
            item.text = "spoilt"
        return self.answer


OLD = talk("u:q1", "a:a1", "u:q2", "a:a2")


def test_a_compressor_cannot_spoil_memory() -> None:
    """It is given copies: what it does to them stays with it."""
    made = Answering(Item("s", Kind.USER, "sum"))
    one = project(OLD, TurnWindow(compression_keep_recent_turns=1, context_compressor=made))
    assert shown(one) == ["sum", "q2", "a2"]
    assert [item.text for item in OLD] == ["q1", "a1", "q2", "a2"]


def test_a_summary_without_a_turn_is_refused() -> None:
    """Nothing, only a system message, a system message in the middle: no prompt begins like that."""
    system, user = Item("s", Kind.SYSTEM, "s"), Item("u", Kind.USER, "u")
    for answer, error in (
        ([], EmptySummary),
        ([system], InvalidProjection),
        ([user, system], InvalidProjection),
    ):
        made = Answering(*answer)
        with pytest.raises(error):
            project(OLD, TurnWindow(compression_keep_recent_turns=1, context_compressor=made))
    good = Answering(system, user)
    assert shown(project(OLD, TurnWindow(compression_keep_recent_turns=1, context_compressor=good)))[:2] == [
        "s",
        "u",
    ]


def test_parallel_calls_of_a_summary_may_be_entries_of_their_own() -> None:
    """Where every part is an entry, two calls follow each other before their results."""
    made = Answering(*talk("u:sum", "c:1", "c:2", "r:2", "r:1", "a:done"))
    one = project(OLD, TurnWindow(compression_keep_recent_turns=1, context_compressor=made))
    assert len(one.items) == 8


def test_a_model_is_not_asked_in_replay_and_the_report_says_so() -> None:
    """Without means of its own a window with a model's compressor shows the turns, and a note."""
    options = {"compression_keep_recent_turns": 1, "context_compressor": {"kind": "model_summary"}}
    one = project(OLD, TurnWindow.from_options(options, "safe"))
    assert (shown(one), one.report.notes) == (
        ["q1", "a1", "q2", "a2"],
        ["summary not made: model_summary needs a model"],
    )


def test_a_live_window_without_a_model_fails() -> None:
    """An agent that asked for summaries and has no model is told, not served something else."""
    projector = TurnWindow.from_options({"context_compressor": {"kind": "model_summary"}}, "safe")
    live = TurnWindow(
        compression_keep_recent_turns=1, context_compressor=projector.context_compressor, deps=Deps()
    )
    with pytest.raises(ModelError, match="model"):
        project(OLD, live)


def test_a_summary_made_in_vain_is_told() -> None:
    """What was paid for and then left out for the message limit stands in the notes."""
    made = Answering(Item("s", Kind.USER, "sum"), Item("t", Kind.ASSISTANT, "mary"))
    one = project(OLD, TurnWindow(10, 2, True, 1, made))
    assert shown(one) == ["q2", "a2"]
    assert [fate.reason for fate in one.fates[:2]] == [Reason.MAX_MESSAGES] * 2
    assert "summary left out: 2 item(s) made in vain" in one.report.notes


def test_one_unfinished_old_turn_keeps_all_of_them() -> None:
    """No turn is summarised while an older one still waits for its answer, and the report says so."""
    items = talk("u:q1", "a:a1", "u:q2", "c:1", "r:1", "u:q3", "a:a3")
    made = Answering(Item("s", Kind.USER, "sum"))
    one = project(items, TurnWindow(compression_keep_recent_turns=1, context_compressor=made))
    assert len(one.items) == len(items)
    assert one.report.notes == ["summary not made: an old turn is not completed"]


def test_reasoning_goes_with_the_answer_that_it_led_to() -> None:
    """A folded turn keeps the reasoning right before its answer, not that of the steps in between."""
    items = talk("u:q1", "z:why call", "c:1", "r:1", "z:why answer", "a:a1", "u:q2")
    one = project(items, TurnWindow(compression_keep_recent_turns=1))
    assert shown(one) == ["q1", "why answer", "a1", "q2"]


def test_what_a_person_said_or_pinned_in_a_turn_survives_folding() -> None:
    """Words that came in the middle of a turn stay; a pinned result stays with its call."""
    items = talk("u:q1", "c:1", "r:1", "u:stop", "c:2", "r:2", "a:a1", "u:q2")
    items[3].injected, items[2].pinned = Injected.MIDTURN, True
    one = project(items, TurnWindow(compression_keep_recent_turns=1))
    assert shown(one) == ["q1", "1", "1", "stop", "a1", "q2"]
    assert one.report.notes[0] == "folded 1 completed tool turn(s)"


def test_a_pin_in_a_turn_that_is_left_out_keeps_its_question() -> None:
    """So that the window still begins with a person's message."""
    items = talk("u:q1", "a:fact", "a:more", "u:q2", "a:a2")
    items[1].pinned = True
    assert shown(project(items, TurnWindow(1))) == ["q1", "fact", "q2", "a2"]


def test_the_summary_of_memory_is_no_orphan() -> None:
    """What stands for compacted items is shown, though no user item is before it."""
    items = [Item("s", Kind.SUMMARY, "earlier"), *OLD]
    assert shown(project(items, TurnWindow(1))) == ["earlier", "q2", "a2"]


def test_a_result_and_a_prompt_in_one_message_start_no_turn() -> None:
    """A window cut there would begin with a result that has no call."""
    items = talk("u:q1", "c:1", "r:1", "u:and then", "a:a1")
    items[3].entry = items[2].entry
    assert len(split_turns(items)[1]) == 1
    assert len(project(items, TurnWindow(1)).items) == 5


@pytest.mark.parametrize("format", ["openai_chat", "openai_responses", "anthropic"])
def test_a_summary_of_the_window_is_sent(format: str) -> None:
    """What a live agent gets for its next call holds the summary where the old turns were, in every wire format."""
    window = TurnWindow(
        compression_keep_recent_turns=1, context_compressor=Answering(*talk("u:sum", "a:mary"))
    )
    session = AgentSession(window)
    for item in OLD:
        session.add(item)
    session.add(Kind.USER, "q3")
    text = str(session.next_context(format).messages)
    assert [text.find(word) >= 0 for word in ("sum", "mary", "q3", "q1", "a2")] == [True] * 3 + [False] * 2
    assert text.find("sum") < text.find("mary") < text.find("q3")


def test_a_model_writes_the_summary_of_a_live_window() -> None:
    """With a model the old turns become its text."""
    compressor = TurnWindow.from_options(
        {"context_compressor": {"kind": "model_summary"}}, "safe"
    ).context_compressor
    model = ScriptedModel()
    live = TurnWindow(compression_keep_recent_turns=1, context_compressor=compressor, deps=Deps(model=model))
    assert shown(project(OLD, live))[1:] == ["SUM", "q2", "a2"]


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"max_attached_turns": 0}, "projector.max_attached_turns"),
        ({"max_attached_messages": "x"}, "projector.max_attached_messages"),
        ({"max_turns": 3}, "projector.max_turns"),
        ({"context_compressor": "identity"}, "projector.context_compressor"),
        ({"context_compressor": {"kind": "nothing"}}, "projector.context_compressor.kind"),
        (
            {"context_compressor": {"kind": "text_excerpt", "max_characters": 0}},
            "projector.context_compressor.max_characters",
        ),
        (
            {"context_compressor": {"kind": "chain", "members": [None, {"kind": "identity", "x": 1}]}},
            "projector.context_compressor.members[1].x",
        ),
        (
            {
                "context_compressor": {
                    "kind": "incremental",
                    "compressor": {"kind": "model_summary", "instruction": " "},
                }
            },
            "projector.context_compressor.compressor.instruction",
        ),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], place: str) -> None:
    """A policy document that is wrong says where, however deep a compressor stands in it."""
    with pytest.raises(PolicyError) as error:
        parse_policy({"version": 1, "name": "w", "projector": {"kind": "turn_window", **options}})
    assert error.value.place == place
    assert str(error.value).count(place) == 1


def test_limits_that_leave_nothing_are_refused() -> None:
    """Also without a document."""
    for arguments in ((0,), (1, 0), (1, 1, True, -1)):
        with pytest.raises(ValueError, match="must"):
            TurnWindow(*arguments)


def test_prompts_are_what_turns_begin_with() -> None:
    """Every turn of a random memory has one, in its first message."""
    for seed in range(20):
        for turn in split_turns(memory(seed))[1]:
            assert any(is_prompt(turn.items[index]) for index in turn.messages[0])


def test_a_pin_that_a_compressor_hands_back_stands_once() -> None:
    """Pinned items stay in their place; the compressor's copies of them are not sent beside them."""
    items = [
        Item("u1", Kind.USER, "first", pinned=True),
        Item("a1", Kind.ASSISTANT, "one", pinned=True),
        Item("u2", Kind.USER, "second"),
        Item("a2", Kind.ASSISTANT, "two"),
    ]
    options = {"compression_keep_recent_turns": 1, "context_compressor": {"kind": "identity"}}
    one = project(items, TurnWindow.from_options(options, "safe"))
    assert [item.id for item in one.items] == ["u1", "a1", "u2", "a2"]
    assert one.report.projected_items == 4


def test_what_a_compressor_wrote_is_nobodys_prompt() -> None:
    """The prompt of the current turn is brought back though a message of the summary stands behind it."""
    items = [
        Item("u1", Kind.USER, "first"),
        Item("a1", Kind.ASSISTANT, "one"),
        Item("u2", Kind.USER, "the question of now"),
        Item("a2", Kind.ASSISTANT, "words " * 50),
    ]
    window = {
        "kind": "turn_window",
        "compression_keep_recent_turns": 1,
        "context_compressor": {"kind": "identity"},
    }
    limit = {"kind": "default", "max_tokens": 78, "pinned_prefix_items": 1}
    document = {"version": 1, "name": "x", "projector": {"kind": "chain", "stages": [window, limit]}}
    one = project(items, parse_policy(document).projector)
    assert "u2" not in [item.id for item in one.items]
    assert "the question of now" in str(export(export_items(items, one), "openai_chat").document)
