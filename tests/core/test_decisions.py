"""The decision log of a replay: every step has its decision, with the figures by which it was made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import pytest

from contextlab.core import Replayer
from contextlab.core.compaction import Decision, Outcome
from contextlab.core.errors import CompactError
from contextlab.core.replaying.decisions import LONGEST_RUN, NO_FIGURE, DecisionLog, DecisionRun
from tests.core.test_replay_compacting import MODEL, RULES, policy, replayed, session


def steps_of(runs: list[DecisionRun]) -> list[tuple[int, str, int]]:
    """Each step with its outcome and its estimate."""
    return [
        (step, run.outcome, run.estimates[step - run.first_step])
        for run in runs
        for step in range(run.first_step, run.last_step + 1)
    ]


def test_every_step_has_a_decision_with_its_figures() -> None:
    """Where it fired and where it did not: rule, threshold, and the estimate of each step."""
    timeline, texts = session(12)
    replayer, results = replayed(timeline, texts, RULES)
    decided = steps_of(replayer.decisions)
    assert [step for step, _, _ in decided] == [result.step.number for result in results]
    assert {run.rule for run in replayer.decisions} == {"items > 6"}
    assert {run.threshold for run in replayer.decisions} == {6}
    fired = [step for step, outcome, _ in decided if outcome == "made"]
    assert fired == [fire.step for fire in replayer.fires if fire.made]
    assert all((estimate > 6) == (outcome != "not_due") for _, outcome, estimate in decided)


def test_neighbours_that_came_to_the_same_are_one_run() -> None:
    """A policy that never fires has one row however long the session is, up to the longest run."""
    never = policy({"kind": "rule_based"}, {"kind": "never"})
    timeline, texts = session(30)
    replayer, _ = replayed(timeline, texts, never)
    (run,) = replayer.decisions
    assert (run.first_step, run.last_step, run.outcome, run.rule) == (1, 30, "not_due", "never")
    assert set(run.estimates) == {NO_FIGURE}


def test_long_runs_are_cut() -> None:
    """So that a page unpacks only what it shows."""
    log = DecisionLog()
    for step in range(1, 2 * LONGEST_RUN + 2):
        log.add(step, Decision(False, "tokens >= 9", step, 9), "not_due")
    assert [(run.first_step, run.last_step) for run in log.runs] == [
        (1, LONGEST_RUN),
        (LONGEST_RUN + 1, 2 * LONGEST_RUN),
        (2 * LONGEST_RUN + 1, 2 * LONGEST_RUN + 1),
    ]


def test_a_policy_that_needs_a_model() -> None:
    """Evaluated up to the first place, needs a model there, unknown behind it."""
    timeline, texts = session(8)
    replayer, _ = replayed(timeline, texts, MODEL)
    assert [run.outcome for run in replayer.decisions] == ["not_due", "needs_model", "unknown"]
    assert replayer.decisions[-1].last_step == 8
    assert replayer.decisions[1].first_step == replayer.fires[0].step


def test_a_policy_without_a_compaction_has_no_log() -> None:
    """Nothing is evaluated there."""
    timeline, texts = session(3)
    replayer, _ = replayed(timeline, texts, policy({"kind": "none"}))
    assert replayer.decisions == []


def test_a_pause_names_the_part_that_is_too_big() -> None:
    """Nothing more is tried once what must stay is over the threshold by itself, and the log says what it is."""
    timeline, texts = session(8)
    timeline.flags[0] |= 1  # the first prompt is pinned
    timeline.tokens[0] = 5_000
    by = policy({"kind": "rule_based", "keep_recent": 1}, {"kind": "tokens", "min_tokens": 4_000})
    replayer, _ = replayed(timeline, texts, by)
    paused = [run for run in replayer.decisions if run.outcome == "paused"]
    assert paused
    assert "the pinned items alone are 5,000 of 4,000 tokens" in paused[-1].reason
    assert paused[-1].last_step == 8


class Failing:
    """A compaction that always fails."""

    kind: ClassVar[str] = "failing"
    needs_model: ClassVar[bool] = False

    def should_compact(self, snapshot: Any) -> Decision:
        return Decision(len(snapshot.items) > 2, "items > 2", len(snapshot.items), 2)

    def compact(self, snapshot: Any, deps: Any) -> Outcome:
        raise CompactError("the disk is full")


def test_a_failure_is_recorded_and_memory_is_as_it_was() -> None:
    """Three failures with their words, then a pause; every step sees the whole memory."""
    timeline, texts = session(8)
    by = replace(RULES, compaction=Failing(), trigger=None)  # type: ignore[arg-type]
    replayer = Replayer(timeline, by, texts=texts.__getitem__)
    reports = [result.report for result in replayer.run()]
    outcomes = [(outcome, step) for step, outcome, _ in steps_of(replayer.decisions)]
    assert [outcome for outcome, _ in outcomes] == ["not_due", *["failed"] * 3, *["paused"] * 4]
    reasons = {run.outcome: run.reason for run in replayer.decisions}
    assert "the disk is full" in reasons["failed"]
    assert "paused after 3 consecutive failures" in reasons["paused"]
    assert [report.source_items for report in reports] == [2 * n - 1 for n in range(1, 9)]
    assert all(report.summarised_items == 0 for report in reports)


@pytest.mark.parametrize("by", [RULES, MODEL])
def test_the_same_replay_gives_the_same_log(by: Any) -> None:
    """Deterministic, as all of a replay."""
    timeline, texts = session(9)
    first, second = (replayed(timeline, texts, by)[0].decisions for _ in range(2))
    assert steps_of(first) == steps_of(second)
