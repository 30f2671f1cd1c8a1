"""The audit of a session as it is stored: made in a run, kept, made anew when the session grew; findings put aside."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.utils import timezone

from contextlab.queries import audit as reads
from contextlab.services import audits
from contextlab.services.actions import perform
from contextlab.store.models import FindingRecord, Session, SessionAudit, StepRecord
from tests.services.doing import import_well
from tests.services.memories.test_observing import SAMPLE

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def session() -> Session:
    return import_well(next(SAMPLE.rglob("5d1c9a74*.jsonl")))


def audited(session: Session) -> SessionAudit:
    """The audit, made by its run."""
    _, run = audits.open_audit(session)
    assert run is not None
    perform(run)
    run.refresh_from_db()
    assert (run.state, run.error) == ("done", "")
    found, again = audits.open_audit(session)
    assert again is None
    assert found is not None
    return found


def test_what_the_sample_lost_is_found(session: Session) -> None:
    """The changed port and the broken rule stand at the head of the list, with the steps that show it."""
    page = reads.audit_page(session, audited(session))
    titles = [line.title for line in page.findings[:3]]
    assert any(
        title.startswith("Rule lost at compaction 1, broken at step") and "migrations/" in title
        for title in titles
    )
    assert any("8443 became 8433" in title for title in titles)
    ledger = reads.ledger_page(audits.open_audit(session)[0], 1, False, reads.LedgerQuery("changed"))
    assert ledger is not None
    assert {fact.verdict for fact in ledger.facts} == {"changed"}
    assert all(0 <= fact.source < session.items for fact in ledger.facts)


def test_lists_read_the_counts_of_facts_without_the_audit(session: Session) -> None:
    """The counts of each compaction are kept beside the audit, for audits made before that was so as well."""
    found = audited(session)
    told = {
        str(line.number): dict(line.counts)
        for line in reads.audit_page(session, found).compactions
        if not line.micro
    }
    assert told["1"]["changed"] > 0
    assert found.counts == told
    SessionAudit.objects.update(counts={})
    import_module("contextlab.store.migrations.0014_compaction_list").fill_counts(apps, None)
    found.refresh_from_db()
    assert found.counts == told


def test_what_the_figures_say_and_the_log_does_not(session: Session) -> None:
    """A step whose reported input jumps without an item is among the findings, with its step and size."""
    step = StepRecord.objects.get(session=session, number=100)
    StepRecord.objects.filter(pk=step.pk).update(cache_read=step.cache_read + 30_000)
    audited(session)
    found = next(line for line in reads.findings(session) if line.kind == "entered_unseen")
    assert (found.step, found.severity, found.compaction) == (100, "medium", None)
    assert "that the log does not show at step 100" in found.title


def test_it_is_asked_for_by_itself_once(session: Session) -> None:
    """A session with compactions that came to rest is audited without a click, and not again while nothing changed."""
    assert audits.missing() == []
    assert session.file is not None
    type(session.file).objects.update(imported_at=timezone.now() - audits.REST * 2)
    (run,) = audits.missing()
    perform(run)
    assert audits.missing() == []
    Session.objects.filter(pk=session.pk).update(items=session.items - 1)
    assert len(audits.missing()) == 1


def test_what_was_put_aside_stays_aside(session: Session) -> None:
    """A dismissed finding is gone from the list, also after the session was audited anew; it can be taken back."""
    audited(session)
    first = reads.findings(session)[0]
    assert audits.dismiss(session, first.key)
    SessionAudit.objects.update(items=0)
    audited(session)
    assert first.key not in [line.key for line in reads.findings(session)]
    assert audits.dismiss(session, first.key, False)
    assert reads.findings(session)[0].key == first.key
    assert not audits.dismiss(session, "nothing")


def test_a_session_that_changes_meanwhile_is_not_half_audited(session: Session, monkeypatch) -> None:
    """Nothing is written for a session that is not as it was read; the run says so."""
    real = audits.audit_of

    def grows(one: Session):
        Session.objects.filter(pk=one.pk).update(items=Session.objects.get(pk=one.pk).items + 1)
        return real(one)

    monkeypatch.setattr(audits, "audit_of", grows)
    run = audits.request(session)
    perform(run)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "keeps changing" in run.error
    assert not SessionAudit.objects.exists()
    assert not FindingRecord.objects.exists()
