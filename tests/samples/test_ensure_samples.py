"""The sample sessions of the first start: imported once, marked, complete, and gone for good when deleted."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from contextlab.services.samples import ONCE, ensure_samples
from contextlab.store.models import ItemRecord, Lease, LogFile, Run, RunState, Session, View

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


def main() -> Session:
    return Session.objects.get(format="claude-code", role="")


def test_the_first_start_has_three_sessions_to_look_at() -> None:
    """One of each kind, all marked as samples, with exact counts and their recorded views, no run left over."""
    assert ensure_samples() == []
    assert set(Session.objects.filter(role="").values_list("format", flat=True)) == {
        "claude-code",
        "codex",
        "openai-chat",
    }
    assert not Session.objects.exclude(sample=True).exists()
    assert not Session.objects.exclude(counted=True).exists()
    assert not Run.objects.exclude(state=RunState.DONE).exists()
    assert not View.objects.exclude(name="recorded", stale=False).exists()
    assert not ItemRecord.objects.filter(tokens=None).exists()
    assert not LogFile.objects.exclude(error="").exists()


def test_the_main_sample_shows_what_a_compaction_lost() -> None:
    """120 steps, one compaction, one micro-compaction, a subagent and the summariser's own request."""
    ensure_samples()
    session = main()
    assert (session.compactions, session.micro_compactions, session.subagents) == (1, 1, 1)
    assert (session.steps, session.turns) == (121, 11)
    assert session.fill_percent is not None
    assert session.fill_percent > 75
    assert sorted(session.children.values_list("role", flat=True)) == ["compaction", "subagent"]
    assert session.findings == 0


def test_the_newest_of_them_is_the_main_one() -> None:
    """It stands first; the one without times does not push itself to the front."""
    ensure_samples()
    order = list(Session.objects.filter(role="").order_by("-sort_at").values_list("format", flat=True))
    assert order == ["claude-code", "codex", "openai-chat"]


def test_deleted_samples_do_not_come_back() -> None:
    """Whoever deleted them meant it."""
    ensure_samples()
    Session.objects.all().delete()
    LogFile.objects.all().delete()
    assert ensure_samples() == []
    assert not Session.objects.exists()


def test_a_second_process_waits_for_nobody() -> None:
    """While one process imports them another one goes on without."""
    Lease.objects.create(name=ONCE, until=timezone.now() + timedelta(minutes=1))
    assert ensure_samples() == []
    assert not Session.objects.exists()


def test_a_start_that_was_killed_is_made_up_for() -> None:
    """The next start imports what a killed one left out."""
    Lease.objects.create(name=ONCE, until=timezone.now() - timedelta(seconds=1))
    ensure_samples()
    assert Session.objects.filter(role="").count() == 3
