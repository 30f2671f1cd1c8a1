"""An agent of another process, shown in a server while it works."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextlab.adapters.live_mirror import LiveMirror
from contextlab.adapters.tokens import counter
from contextlab.core import AgentSession, Budget, Deps, Kind
from contextlab.core.policies.rule_based import RuleBased
from contextlab.core.triggers.items import ItemsTrigger
from contextlab.services.actions import perform
from contextlab.services.compaction import memory_of, read_request, request_compaction
from contextlab.store.models import CompactionRecord, MemoryVersion, Session
from contextlab.store.models.policies import PolicyDecisions

LONG = "and a good deal more was said about it " * 12


@pytest.fixture
def lab(live_server: Any, settings: Any, tmp_path: Path) -> str:
    settings.DATA_DIR = tmp_path
    counter().count("the vocabulary takes a while to load")
    return str(live_server.url)


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        time.sleep(0.1)


def turn(session: AgentSession, number: int) -> Any:
    with session.turn(f"question {number} {LONG}"):
        context = session.next_context()
        session.add(Kind.ASSISTANT, f"answer {number} {LONG}")
    return context


@pytest.mark.django_db(transaction=True)
def test_what_the_agent_does_is_seen(lab: str) -> None:
    """Items, steps, its own compactions and decisions; the server's memory is the agent's."""
    policy = RuleBased.from_options({"keep_recent": 2}, "safe")
    trigger = ItemsTrigger.from_options({"max_items": 5}, "safe")
    session = AgentSession(Budget(), policy, trigger=trigger, deps=Deps())
    mirror = LiveMirror(lab, name="in its own process")
    mirror.attach(session)
    for number in range(1, 6):
        turn(session, number)
    mirror.close(60)
    assert (mirror.dropped, mirror.problem) == (0, "")
    found = Session.objects.get(title="in its own process")
    assert (found.steps, found.compactions) == (
        5,
        MemoryVersion.objects.filter(view__session=found).count() - 1,
    )
    assert found.compactions >= 1
    outcomes = set(PolicyDecisions.objects.values_list("outcome", flat=True))
    assert outcomes == {"not_due", "made"}
    assert found.last_at is not None
    record = CompactionRecord.objects.filter(session=found).first()
    assert record is not None
    assert (record.trigger, (record.pre_tokens or 0) > (record.post_tokens or 0) > 0) == ("agent", True)
    held = memory_of(found)
    assert [item.text for item in held.snapshot.items] == [item.text for item in session.memory.items]
    assert held.snapshot.summary == session.memory.summary
    assert mirror.page == f"{lab}/sessions/{found.uid}?view=live"


@pytest.mark.django_db(transaction=True)
def test_compact_now_reaches_the_agent(lab: str) -> None:
    """What a person made on the page is the agent's memory from one of its next steps on."""
    session = AgentSession(Budget(), deps=Deps())
    mirror = LiveMirror(lab, name="watched")
    mirror.attach(session)
    for number in range(1, 4):
        turn(session, number)
    until(lambda: Session.objects.filter(title="watched", items=6).exists())
    found = Session.objects.get(title="watched")
    run, _ = request_compaction(found, read_request({"view": "live", "keep_recent": 2}))
    perform(run)
    turn(session, 4)
    until(lambda: mirror._given is not None)
    context = turn(session, 5)
    mirror.close(60)
    assert session.memory.summary
    assert context.report.projected_items == 6
    assert [item.text.split()[1] for item in session.memory.items] == ["3", "3", "4", "4", "5", "5"]


def test_no_server_is_no_hindrance() -> None:
    """The agent goes on; what found no place is counted, and why nothing was sent is told."""
    session = AgentSession(Budget(), deps=Deps())
    mirror = LiveMirror("http://127.0.0.1:9", timeout=1, most_waiting=3)
    mirror.attach(session)
    for number in range(1, 6):
        turn(session, number)
    until(lambda: bool(mirror.problem))
    for number in range(6, 9):
        turn(session, number)
    assert mirror.dropped > 0
    assert mirror.page is None
    mirror.close(1)
    assert len(session.memory.items) == 16
