"""The steps of a session with the memories that were in force at them."""

from __future__ import annotations

import random

import pytest

from contextlab.core import Policy, Replayer, Verdict, parse_policy, verdicts_at
from contextlab.core.compaction import Snapshot
from contextlab.core.items import LEFT_OUT
from contextlab.core.memory import AgentMemory
from contextlab.core.projection import project
from contextlab.core.replaying.continued import Beginning
from contextlab.core.replaying.lived import LiveReplayer
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.stepwise import item_of
from contextlab.core.timeline import Timeline
from tests.core.test_replay_compacting import session

KEEP = parse_policy({"version": 1, "name": "keep", "projector": {"kind": "default"}})
LAST = parse_policy({"version": 1, "name": "last", "projector": {"kind": "default", "max_items": 4}})
AWARE = parse_policy(
    {"version": 1, "name": "aware", "projector": {"kind": "type_aware", "max_recent_tool_results": 1}}
)


def memory(
    timeline: Timeline, texts: list[str], step: int, upto: int, kept: list[int], summary: str
) -> Beginning:
    items = tuple(item_of(timeline, place, texts.__getitem__) for place in kept)
    return Beginning(step, upto, Snapshot(items, summary), f"version of step {step}")


def random_memories(timeline: Timeline, texts: list[str], rng: random.Random) -> list[Beginning]:
    made = []
    for step in sorted(rng.sample(range(2, len(timeline.steps) + 1), 3)):
        upto = rng.randint(timeline.steps[step - 2].upto, timeline.steps[step - 1].upto)
        kept = [place for place in range(upto) if rng.random() < 0.3]
        made.append(memory(timeline, texts, step, upto, kept, f"all before step {step}"))
    return made


@pytest.mark.parametrize("policy", [KEEP, LAST, AWARE], ids=["keep", "last", "aware"])
@pytest.mark.parametrize("seed", range(12))
def test_each_step_equals_the_projection_of_its_memory(policy: Policy, seed: int) -> None:
    """The version in force with what came behind its cut, projected by the core alone, at every step."""
    timeline, texts = session(14)
    memories = random_memories(timeline, texts, random.Random(seed))
    replayer = LiveReplayer(timeline, policy, memories, texts=texts.__getitem__)
    sizes = Sizes(timeline)
    results = list(replayer.run())
    assert [result.step.number for result in results] == list(range(1, len(timeline.steps) + 1))
    for result in results:
        number, upto = result.step.number, result.step.upto
        force = [one for one in memories if one.step <= number][-1:]
        start, snapshot = (force[0].upto, force[0].memory) if force else (0, Snapshot())
        behind = [item_of(timeline, place, texts.__getitem__) for place in range(start, upto)]
        held = AgentMemory([*snapshot.items, *behind], snapshot.summary).prompt_items()
        alone = project(held, policy.projector).report
        assert result.report.projected_items == alone.projected_items
        assert result.report.projected_entries == alone.projected_entries
        assert result.report.projected_chars == alone.projected_chars
        found = verdicts_at(replayer.spans(), number, range(upto))
        sent = sum(verdict not in LEFT_OUT for verdict, _ in found)
        assert sent + bool(snapshot.summary) == alone.projected_items
    assert sizes.timeline is timeline


def test_without_versions_it_is_the_plain_replay() -> None:
    """A session that never compacted goes the fast way."""
    timeline, texts = session(9)
    lived = LiveReplayer(timeline, LAST, [], texts=texts.__getitem__)
    plain = Replayer(timeline, LAST, texts=texts.__getitem__)
    assert [one.report for one in lived.run()] == [one.report for one in plain.run()]
    assert lived.spans() == plain.spans()
    assert (lived.fires, lived.decisions) == ([], [])


def test_an_earlier_memory_in_force_again() -> None:
    """What stood only in a summary is in the context again, and the summary is not."""
    timeline, texts = session(8)
    small = memory(timeline, texts, 4, timeline.steps[3].upto, [], "everything so far")
    whole = Beginning(6, 0, Snapshot(), "version 1 again (version 3)")
    replayer = LiveReplayer(timeline, KEEP, [small, whole], texts=texts.__getitem__)
    reports = [one.report for one in replayer.run()]
    assert [report.summarised_items for report in reports] == [0, 0, 0, 7, 7, 0, 0, 0]
    assert reports[5].projected_items == timeline.steps[5].upto
    assert {verdict for verdict, _ in verdicts_at(replayer.spans(), 6, range(7))} == {Verdict.KEPT}
    assert {verdict for verdict, _ in verdicts_at(replayer.spans(), 5, range(7))} == {Verdict.SUMMARISED}
    assert [fire.step for fire in replayer.fires] == [4, 6]
