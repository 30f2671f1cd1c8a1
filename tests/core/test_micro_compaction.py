"""Old results shrink in memory, and none of them grows by it."""

from __future__ import annotations

from contextlab.core.compaction import Deps, Snapshot
from contextlab.core.policies.coding_checkpoint import MICRO, CodingCheckpoint
from contextlab.core.projecting.stand_ins import MICRO_PREFIX
from tests.core.talk import Talk


def test_a_short_result_is_never_replaced_by_a_longer_text() -> None:
    """However small a result may be that shrinks, an `ok` stays an `ok`, and only what gets shorter is cleared."""
    talk = Talk().user("Do it all.").shell("build", "compiling " * 900)
    for number in range(10):
        talk.shell(f"step {number}", "ok")
    policy = CodingCheckpoint(window_tokens=500, reserve_tokens=0, micro_keep=3, micro_max_tokens=0)
    outcome = policy.compact(Snapshot(tuple(talk.says("Done.").items)), Deps())
    assert outcome.result is not None
    assert outcome.memory is not None
    assert outcome.result.strategy == MICRO
    texts = {item.id: item.text for item in outcome.memory.items}
    assert texts["r1"].startswith(MICRO_PREFIX)
    assert {texts[f"r{number}"] for number in range(2, 12)} == {"ok"}
    assert outcome.result.report is not None
    assert outcome.result.report.cleared_items == 1
