"""Where a policy that needs a model is due, and the replay goes on: it got by without one, or a result is stored."""

from __future__ import annotations

from typing import Any

from contextlab.core import Kind, Policy, Replayer, Verdict, parse_policy, verdicts_at
from contextlab.core.assembler import Assembler
from contextlab.core.compaction import CompactResult, Snapshot
from contextlab.core.events import Event, ItemEvent, SessionStart, StepEvent, TurnStart
from contextlab.core.items import LEFT_OUT, Reason
from contextlab.core.replaying.continued import Beginning
from contextlab.core.replaying.results import StepResult
from contextlab.core.replaying.stepwise import item_of
from contextlab.core.timeline import Timeline
from tests.core.test_replay_compacting import MODEL, session


def worked(turns: int, result: str) -> tuple[Timeline, list[str]]:
    """A session in which each turn reads a file: prompt, call, result, answer."""
    events: list[Event] = [SessionStart("s")]
    for turn in range(1, turns + 1):
        step, then, call = f"a{turn}", f"b{turn}", f"call-{turn}"
        events += [
            TurnStart(f"t{turn}"),
            ItemEvent(f"u{turn}", Kind.USER, f"Read file {turn}.", f"u{turn}", opens_turn=True),
            StepEvent(step),
            ItemEvent(f"c{turn}", Kind.TOOL_CALL, "{}", f"c{turn}", step=step, tool="read", call_id=call),
            ItemEvent(f"r{turn}", Kind.TOOL_RESULT, result, f"r{turn}", call_id=call),
            StepEvent(then),
            ItemEvent(f"s{turn}", Kind.ASSISTANT, f"Done {turn}.", f"s{turn}", step=then),
        ]
    assembler = Assembler(SessionStart("s"))
    rows = assembler.feed_all(events)
    return assembler.timeline, [row.event.text for row in rows]


def coding(window: int, **more: Any) -> Policy:
    """Previews of old results first, then a model."""
    given = {"kind": "coding_checkpoint", "window_tokens": window, "reserve_tokens": 0, "micro_keep": 1}
    return parse_policy(
        {"version": 1, "name": "coding", "compaction": given | {"micro_max_tokens": 100} | more}
    )


def run(timeline: Timeline, texts: list[str], by: Policy, **more: Any) -> tuple[Replayer, list[StepResult]]:
    replayer = Replayer(timeline, by, texts=texts.__getitem__, **more)
    return replayer, list(replayer.run())


def agree(replayer: Replayer, results: list[StepResult]) -> None:
    """Reports and spans tell the same at each step."""
    for result in results:
        step, report = result.step, result.report
        verdicts = [verdict for verdict, _ in verdicts_at(replayer.spans(), step.number, range(step.upto))]
        assert report.cleared_items == verdicts.count(Verdict.CLEARED)
        assert report.summarised_items == verdicts.count(Verdict.SUMMARISED)
        assert report.source_items - report.dropped_items == sum(one not in LEFT_OUT for one in verdicts)


def test_previews_are_made_before_a_model_is_needed() -> None:
    """As often as they are enough: each is a compaction of its own, and the steps behind it see the shorter results."""
    timeline, texts = worked(8, "w" * 4_000)
    replayer, results = run(timeline, texts, coding(3_000))
    made = [fire for fire in replayer.fires if fire.made]
    assert len(made) > 1
    assert made[0].step == 6, "the third result is the first that is too much"
    assert results[5].report.source_items == timeline.steps[5].upto, "nothing of later steps is in memory"
    assert made[0].summarised == 0
    assert made[0].shortened == 2
    assert made[0].note.endswith("2 item(s) shortened")
    assert all(result.report.projected_tokens < 3_200 for result in results)
    assert results[-1].report.cleared_items > made[0].shortened
    last = verdicts_at(replayer.spans(), len(results), range(timeline.steps[-1].upto))
    assert (Verdict.CLEARED, Reason.PREVIEWED) in last
    agree(replayer, results)
    outcomes = [run.outcome for run in replayer.decisions]
    assert "made" in outcomes
    assert sum(len(one.estimates) for one in replayer.decisions) == len(results), "one decision for each step"


def test_where_previews_are_not_enough_the_place_is_marked() -> None:
    """The last ones help no more: from there on memory is not known, and what was made before stays made."""
    timeline, texts = worked(30, "w" * 4_000)
    replayer, results = run(timeline, texts, coding(1_600))
    fires = replayer.fires
    assert [fire.made for fire in fires] == [True] * (len(fires) - 1) + [False]
    assert fires[-1].reason == "needs_model"
    mark = fires[-1].step
    assert results[-1].report.notes[0] == f"after an unmade compaction (step {mark})"
    assert results[mark - 1].report.cleared_items > 0
    agree(replayer, results)
    assert sum(len(one.estimates) for one in replayer.decisions) == len(results)
    plain = list(Replayer(timeline, parse_policy({"version": 1, "name": "plain"})).run())
    for before, after in zip(plain[mark:], results[mark:], strict=True):
        assert after.report.projected_tokens == before.report.projected_tokens, (
            "as if nothing had been compacted"
        )


def test_without_texts_nothing_is_guessed() -> None:
    """A preview is made from a text; where there is none to read, the place is marked."""
    timeline, _ = worked(8, "w" * 4_000)
    replayer = Replayer(timeline, coding(3_000))
    list(replayer.run())
    assert [(fire.made, fire.reason) for fire in replayer.fires] == [(False, "needs_model")]


def test_a_policy_that_falls_back_when_its_model_fails_did_need_one() -> None:
    """What is written in the place of a model's answer is not what the model would have written."""
    compaction = {"kind": "llm_summary", "max_items": 2, "fallback": "mechanical"}
    by = parse_policy({"version": 1, "name": "falls", "compaction": compaction})
    replayer, results = run(*session(8), by)
    assert [fire.made for fire in replayer.fires] == [False]
    assert results[-1].report.summarised_items == 0


def stored(timeline: Timeline, texts: list[str], step: int) -> Beginning:
    """A model's summary of all but the last two items before a step."""
    upto = timeline.steps[step - 1].upto
    items = tuple(item_of(timeline, place, texts.__getitem__) for place in (upto - 2, upto - 1))
    result = CompactResult(summary="what the model wrote", method="model")
    return Beginning(
        step, upto, Snapshot(items, result.summary, result), "branch-1, version 2", tokens_before=700
    )


def test_a_stored_result_stands_where_the_policy_is_due() -> None:
    """The place is no mark any more: the steps before are as ever, those behind see the stored memory."""
    timeline, texts = session(9)
    plain, unmade = run(timeline, texts, MODEL)
    (mark,) = plain.fires
    replayer, results = run(timeline, texts, MODEL, stored=lambda step: stored(timeline, texts, step))
    first = replayer.fires[0]
    assert (first.step, first.made, first.rule, first.estimate) == (mark.step, True, mark.rule, mark.estimate)
    assert first.result is not None
    assert first.result.summary == "what the model wrote"
    assert [result.step.number for result in results] == list(range(1, len(timeline.steps) + 1))
    for before, after in zip(unmade[: mark.step - 1], results, strict=False):
        assert before.report == after.report
    behind = results[mark.step - 1].report
    assert behind.source_items == 2
    assert behind.notes[0].endswith("summarised, by branch-1, version 2")
    agree(replayer, results)


def test_a_stored_result_of_another_step_changes_nothing() -> None:
    """Only where the policy is due."""
    timeline, texts = session(9)
    plain, unmade = run(timeline, texts, MODEL)
    replayer, results = run(timeline, texts, MODEL, stored=lambda _: None)
    assert replayer.fires == plain.fires
    assert [one.report for one in results] == [one.report for one in unmade]
    assert replayer.spans() == plain.spans()
