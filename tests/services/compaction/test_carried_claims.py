"""Agreements that an earlier summary claims: a person is told of them whatever carries them on."""

from __future__ import annotations

import pytest

from contextlab.services import compaction
from contextlab.store.models import CompactionJob
from tests.importers.claude_log import Log, text
from tests.services.compaction.doing import asked, done
from tests.services.doing import import_well

pytestmark = [pytest.mark.django_db, pytest.mark.database]

CLAIM = "The user agreed to the fix of the cleanup, and to nothing else."
POLICIES = [
    {"version": 1, "name": "rules", "compaction": {"kind": "rule_based", "keep_recent": 2}},
    {"version": 1, "name": "mine", "compaction": {"kind": "structured_summary", "max_items": 2}},
]


@pytest.fixture
def session(tmp_path):
    """A log whose own summary claims an agreement, and what came after it."""
    log = Log("s8")
    log.user("clean up")
    log.answer("m0", text("Done."), stop="end_turn")
    log.boundary()
    log.summary(f"What was done.\n{CLAIM}")
    for turn in range(1, 9):
        log.user(f"prompt {turn}: " + "look at the port 8443 again, please. " * 20)
        log.answer(f"m{turn}", text(f"Looked at it ({turn}). " + "It is as it was. " * 20), stop="end_turn")
    path = tmp_path / "s8.jsonl"
    path.write_bytes(log.data)
    return import_well(path)


def flagged(job: CompactionJob) -> list[str]:
    assert job.run.state == "done", job.reason
    return [flag["text"] for flag in job.flags]


@pytest.mark.parametrize("policy", POLICIES, ids=["rules", "structured"])
@pytest.mark.parametrize("then", POLICIES, ids=["rules", "structured"])
def test_a_carried_claim_is_flagged_under_every_policy(session, policy, then):
    """The same words of the log's own summary have the same flag, however often they are carried on."""
    assert flagged(done(asked(session, policy=policy, before_step=8))) == [CLAIM]
    further = {**then, "compaction": {**then["compaction"]}, "require_gain": False}
    further["compaction"]["keep_recent" if then is POLICIES[0] else "max_items"] = 1
    assert flagged(done(asked(session, policy=further, view="branch-1"))) == [CLAIM]


def test_what_words_of_the_user_supported_stays_supported(session):
    """A confirmation that rules found is no claim of nobody once another policy carries it on as a text."""
    first = done(asked(session, policy=POLICIES[0], before_step=8))
    said = compaction.memory_of(session, "branch-1", 1).snapshot.items[0].id
    result = {**first.result, "user_confirmations": [{"text": "The user approved the port", "items": [said]}]}
    CompactionJob.objects.filter(pk=first.pk).update(result=result)
    view = first.memories.get().view
    first.memories.update(
        summary=first.result["summary"] + "\n## User Confirmations\n- The user approved the port"
    )
    further = {
        **POLICIES[1],
        "require_gain": False,
        "compaction": {"kind": "structured_summary", "max_items": 1},
    }
    assert flagged(done(asked(session, policy=further, view=view.name))) == [CLAIM]
