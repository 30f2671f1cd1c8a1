"""The audit's pages: what to look at and the way to its evidence, facts with what became of them, a report to send."""

from __future__ import annotations

import pytest
from django.test import Client

from contextlab.services import audits
from contextlab.services.actions import perform
from contextlab.store.models import FindingRecord, Session, SessionAudit
from tests.services.doing import import_well
from tests.services.memories.test_observing import SAMPLE
from tests.web.pages import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def session() -> Session:
    return import_well(next(SAMPLE.rglob("5d1c9a74*.jsonl")))


@pytest.fixture
def base(session: Session) -> str:
    perform(audits.request(session))
    return f"/sessions/{session.uid}"


def test_the_page_before_and_after(client: Client, session: Session) -> None:
    """Before it is made the page shows progress; then what to look at, each with its step and its items."""
    base = f"/sessions/{session.uid}"
    assert "<progress" in client.get(f"{base}/audit").content.decode()
    perform(audits.request(session))
    page = read(client.get(f"{base}/audit"))
    assert "Rule lost at compaction 1, broken at step" in page.text
    links = [attributes["href"] for attributes in page.all("a") if "href" in attributes]
    assert f"{base}/audit/1" in links
    assert any(link.startswith(f"{base}/steps/") for link in links)
    assert any(link.startswith(f"{base}/items/") for link in links)


def test_a_ledger(client: Client, base: str) -> None:
    """Facts with their verdicts, narrowed by verdict and kind in the address; consequences above them."""
    page = read(client.get(f"{base}/audit/1"))
    assert "What came of it" in page.text
    changed = read(client.get(f"{base}/audit/1?verdict=changed"))
    assert "8433" in changed.text
    assert "No fact matches" in read(client.get(f"{base}/audit/1?verdict=changed&kind=ticket")).text
    read(client.get(f"{base}/audit/1?verdict=nonsense&kind=%00&from=999999"))
    read(client.get(f"{base}/audit/micro/1"))
    read(client.get(f"{base}/audit/99"), 404)


def test_a_finding_is_dismissed_and_taken_back(client: Client, base: str) -> None:
    """A dismissed finding leaves the list and can be brought back from the dismissed ones."""
    one = FindingRecord.objects.order_by("-weight").first()
    assert one is not None
    assert client.post(f"{base}/findings", {"key": one.key, "dismissed": "1"}).status_code == 302
    assert one.title not in read(client.get(f"{base}/audit")).text
    assert one.title in read(client.get(f"{base}/audit?all")).text
    client.post(f"{base}/findings", {"key": one.key, "dismissed": "0"})
    assert one.title in read(client.get(f"{base}/audit")).text
    assert client.post(f"{base}/findings", {"key": "none"}).status_code == 404


def test_a_report_to_send(client: Client, base: str) -> None:
    """One file with all of it, that loads nothing and runs nothing; secrets go out on request."""
    FindingRecord.objects.update(title="key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789 <script>x</script>")
    answer = client.get(f"{base}/audit/report.html")
    text = answer.content.decode()
    assert "attachment" in answer["Content-Disposition"]
    assert "<script" not in text
    assert " src=" not in text
    assert "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789" in text
    assert (
        "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
        not in client.get(f"{base}/audit/report.html?redact").content.decode()
    )


def test_a_report_of_one_compaction(client: Client, base: str) -> None:
    """One compaction alone can be sent; one that there is not is not found."""
    text = client.get(f"{base}/audit/1/report.html").content.decode()
    assert "Compaction 1, before step 66" in text
    assert "Micro-compaction" not in text
    assert "Micro-compaction 1" in client.get(f"{base}/audit/micro/1/report.html").content.decode()
    assert client.get(f"{base}/audit/9/report.html").status_code == 404


def test_over_the_api(client: Client, session: Session) -> None:
    """202 with the run while it is made; then what the command line tells, with the items' own ids."""
    address = f"/api/sessions/{session.uid}/audit/"
    assert client.get(address).status_code == 202
    perform(audits.request(session))
    answer = client.get(address).json()
    assert answer["current"] is True
    fact = next(row for row in answer["compactions"][0]["facts"] if row["verdict"] == "changed")
    assert isinstance(fact["source_item"], str)
    rows = client.get(f"/api/sessions/{session.uid}/findings/").json()["results"]
    body = {"key": rows[0]["key"]}
    done = client.post(f"/api/sessions/{session.uid}/findings/", body, content_type="application/json").json()
    assert done["results"][0]["dismissed"] is True
    SessionAudit.objects.update(items=0)
    assert client.get(address).json()["current"] is False
