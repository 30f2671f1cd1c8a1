"""A ledger's page with many facts and consequences: one row for a fact and a kind, the light ones folded, bounded."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
import zstandard
from django.test import Client

from contextlab.queries.audit import KINDS, VERDICTS, payload
from contextlab.services import audits
from contextlab.services.actions import perform
from contextlab.store.models import FindingRecord, Session, SessionAudit
from tests.services.doing import import_well
from tests.services.memories.test_observing import SAMPLE
from tests.web.pages import Page, read

pytestmark = [pytest.mark.django_db, pytest.mark.database]

Rows = list[dict[str, Any]]


@pytest.fixture
def session() -> Session:
    found = import_well(next(SAMPLE.rglob("5d1c9a74*.jsonl")))
    perform(audits.request(found))
    return found


def fact(text: str, kind: str = "path", verdict: str = "dropped", **more: Any) -> dict[str, Any]:
    return {
        "kind": kind, "text": text, "verdict": verdict, "became": None, "source_item": 33, "summary_place": None,
        "weight": 30.0, "why": "Nothing of it stands there.", "subject": text, "value": None, "source_offset": 0,
        "mentions": 2, "visible_item": None, "resupplied_item": 40, **more,
    }  # fmt: skip


def came(
    index: int, facts: Rows, step: int | None, kind: str = "used_unseen", text: str = ""
) -> dict[str, Any]:
    about = facts[index]["text"]
    return {
        "kind": kind, "fact": about, "step": step, "item": 200 + (step or 0), "text": text or f"{about} was used",
        "tokens": 7 if kind == "reread" else None, "fact_index": index,
    }  # fmt: skip


def ledger_of(session: Session, facts: Rows, consequences: Rows) -> str:
    """Put these into the session's first compaction; returns the address of its ledger."""
    found = SessionAudit.objects.get(session=session)
    answer = payload(found)
    answer["compactions"][0] |= {"facts": facts, "consequences": consequences, "folded": []}
    found.payload = zstandard.ZstdCompressor(6).compress(json.dumps(answer).encode())
    found.save()
    return f"/sessions/{session.uid}/audit/1"


def many(session: Session) -> str:
    """One value that was used unseen at steps 66 to 99, and broken rules of different texts at four steps."""
    facts = [fact("port 8443"), fact("never touch migrations", "rule")]
    used = [came(0, facts, step) for step in range(66, 100)]
    broken = [came(1, facts, step, "rule_broken", f"Edit: migrations/{step}.sql") for step in range(70, 74)]
    return ledger_of(session, facts, used + broken)


def open_part(html: str) -> str:
    """The page without what is folded away."""
    return re.sub(r"<details.*?</details>", "", html, flags=re.S)


def shown(client: Client, address: str) -> tuple[str, Page]:
    response = client.get(address)
    return response.content.decode(), read(response)


def test_one_row_for_a_fact_and_a_kind(client: Client, session: Session) -> None:
    """A value used 34 times is one row with the first places and a fold with the other 31, all of them linked."""
    html, page = shown(client, many(session))
    assert html.count("port 8443 was used") == 1
    assert re.search(r"at steps 66 #266\s*, 67 #267\s*, 68 #268 and 31 more 69 , 70", page.text)
    links = {attributes.get("href", "") for attributes in page.all("a")}
    assert {f"/sessions/{session.uid}/steps/{step}?item={step + 200}" for step in range(66, 100)} <= links
    assert "/steps/69?item" not in open_part(html)


def test_consequences_of_one_rule_keep_their_own_words(client: Client, session: Session) -> None:
    """Where the events of a row differ each is told with its words: what was edited at which step."""
    html, page = shown(client, many(session))
    assert "never touch migrations" in open_part(html)
    for step in range(70, 74):
        assert page.text.count(f"Edit: migrations/{step}.sql") == 1
    assert "and 1 more at step 73 Edit: migrations/73.sql" in page.text


def test_counts_are_those_of_single_consequences(client: Client, session: Session) -> None:
    """The ledger and the audit's page count every consequence by itself, and the ledger says so; so does the API."""
    address = many(session)
    assert "38 single consequences, a row for each fact and kind" in shown(client, address)[1].text
    row = client.get(f"/sessions/{session.uid}/audit").content.decode()
    assert 'data-label="consequences">38<' in row
    answer = client.get(f"/api/sessions/{session.uid}/audit/").json()
    assert [one["step"] for one in answer["compactions"][0]["consequences"][:34]] == list(range(66, 100))


def test_tokens_and_what_no_step_saw(client: Client, session: Session) -> None:
    """A row tells the tokens spent again over all of its events; what came after the last step says so."""
    facts = [fact("a.py")]
    address = ledger_of(session, facts, [came(0, facts, step, "reread") for step in (70, 80, None)])
    text = shown(client, address)[1].text
    assert "~21 tokens again" in text
    last = came(0, facts, None, "user_repeated", "I said a.py")
    text = shown(client, ledger_of(session, facts, [last]))[1].text
    assert "1 single consequence, a row" in text
    assert "after the last step #200" in text


def test_what_is_changed_or_a_lost_rule_is_never_folded(client: Client, session: Session) -> None:
    """A changed value and lost rules stand open on the first page, however many facts are heavier."""
    facts = [fact(f"src/file{number}.py", weight=90.0) for number in range(300)]
    facts += [fact("port 8443", "port", "changed", became="8433", weight=22.0), fact("only in src", "rule")]
    facts += [fact("no, use tabs", "user_correction", "resupplied")]
    html, _ = shown(client, ledger_of(session, facts, [came(at, facts, 70) for at in range(len(facts))]))
    for text in ("port 8443", "only in src", "no, use tabs"):
        assert open_part(html).count(f'<span class="was">{text}</span>') == 1
        assert open_part(html).count(f'<span class="was">{text} was used</span>') == 1
    assert "src/file50.py" not in open_part(html)


def test_what_is_folded_is_counted(client: Client, session: Session) -> None:
    """The line that folds says how many facts of a kind are behind it with what became of them, or how many rows."""
    facts = [fact(f"src/file{number}.py") for number in range(20)]
    facts += [fact(f"{number} ms", "quantity", "kept") for number in range(5)]
    address = ledger_of(session, facts, [came(at, facts, step) for at in range(20) for step in (70, 71)])
    _, page = shown(client, address)
    assert "12 lighter rows with 24 single consequences" in page.text
    assert "path 8 lighter facts: 8 dropped" in page.text
    assert "quantity 5 lighter facts: 5 kept" in page.text
    html, page = shown(client, f"{address}?kind=path")
    assert "lighter facts" not in page.text
    assert open_part(html).count('<span class="was">src/file19.py</span>') == 1


def wide(session: Session, alike: bool, verdict: str) -> str:
    """2,000 consequences of 400 facts of all kinds that have everything a row can show, in words that pack badly."""
    roll = random.Random(7)

    def words(length: int) -> str:
        return "".join(map(chr, roll.choices(range(0x4E00, 0x9FA5), k=length)))

    facts = [
        fact(f"{at} {words(400)}", KINDS[at % len(KINDS)], verdict, became=words(400), why=words(400))
        for at in range(400)
    ]
    rows = [
        came(at, facts, 66 + turn, "reread", "again" if alike else f"turn {turn} {words(400)}")
        for turn in range(5)
        for at in range(400)
    ]
    return ledger_of(session, facts, rows)


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("verdict", ["dropped", "changed"])
def test_two_thousand_consequences_are_bounded(
    client: Client, session: Session, alike: bool, verdict: str
) -> None:
    """The page keeps its limits with 2,000 consequences, whatever they are."""
    address = wide(session, alike, verdict)
    for start in (0, 360):
        assert "2,000 single consequences" in shown(client, f"{address}?came={start}")[1].text


def test_every_row_of_many_is_on_a_page(client: Client, session: Session) -> None:
    """Each of 400 rows is on one of the pages that lead to each other."""
    address, seen = wide(session, True, "changed"), set[str]()
    for start in range(0, 400, 40):
        html, _ = shown(client, f"{address}?came={start}")
        seen |= set(re.findall(r'class="why">(\d+) ', html.split('aria-label="Facts"')[0]))
        assert ("came=" + str(start + 40) in html) is (start < 360)
    assert seen == {str(number) for number in range(400)}


def test_one_fact_with_two_thousand_consequences(client: Client, session: Session) -> None:
    """What is not listed in the fold is counted there: nothing goes without a word."""
    facts = [fact("port 8443")]
    address = ledger_of(session, facts, [came(0, facts, 66 + number % 50) for number in range(2_000)])
    _, page = shown(client, address)
    assert "and 1,997 more" in page.text
    assert "and 1,897 more that this page does not list" in page.text


def test_nonsense_in_the_address(client: Client, session: Session) -> None:
    """A row that there is not becomes the last page; words are no numbers."""
    address = wide(session, True, "dropped")
    assert "361 to 400 of 400" in shown(client, f"{address}?came=999999999999")[1].text
    assert "1 to 40 of 400" in shown(client, f"{address}?came=-1")[1].text
    assert "1 to 40 of 400" in shown(client, f"{address}?came=%00x")[1].text


def test_the_report_has_the_same_rows(client: Client, session: Session) -> None:
    """The file to send tells a fact's consequences in one row, says what it counts, and what it does not list."""
    address = many(session)
    text = client.get(f"{address}/report.html").content.decode()
    assert text.count("port 8443 was used") == 1
    assert "steps 66, 67, 68<details><summary>and 31 more</summary>69, 70" in text
    assert "38 single consequences, a row for each fact and kind:" in text
    assert text.count("Edit: migrations/73.sql") == 1
    facts = [fact("a.py")]
    last = ledger_of(session, facts, [came(0, facts, session.steps + 1)])
    assert ">after the last step</td>" in client.get(f"{last}/report.html").content.decode()


def test_an_audit_that_was_made_before_facts_had_places(client: Client, session: Session) -> None:
    """Consequences that do not say the place of their fact are grouped by its words."""
    facts = [fact("port 8443")]
    rows = [came(0, facts, step) for step in (70, 71)]
    for row in rows:
        del row["fact_index"]
    html, page = shown(client, ledger_of(session, facts, rows))
    assert html.count("port 8443 was used") == 1
    assert "2 single consequences" in page.text


def test_a_session_with_very_many_compactions(client: Client, session: Session) -> None:
    """The audit's page keeps its limits with 300 compactions, and each of them is on one of its pages."""
    found = SessionAudit.objects.get(session=session)
    answer = payload(found)
    facts = [fact("a", verdict=verdict) for verdict in VERDICTS]
    one = answer["compactions"][0] | {
        "facts": facts,
        "origin": "detected",
        "evidence": "so far",
        "opaque": True,
    }
    answer["compactions"] = [one | {"number": number, "step": number} for number in range(1, 301)]
    answer["decay"] = [
        {"kind": "path", "compaction": number, "facts": 9, "surviving": [9] * (301 - number)}
        for number in range(1, 301)
    ]
    found.payload = zstandard.ZstdCompressor(6).compress(json.dumps(answer).encode())
    found.save()
    FindingRecord.objects.bulk_create(
        FindingRecord(session=session, key=str(at), kind="reread", severity="low", title=f"{at} " * 90,
                      compaction=1, step=9, positions=list(range(9)))
        for at in range(44)
    )  # fmt: skip
    address = f"/sessions/{session.uid}/audit"
    _, page = shown(client, address)
    assert "1 to 40 of 301" in page.text
    assert "the first 24 of 300; rows 1 to 24 of 300" in page.text
    assert {"?from=40", "?decay=24"} <= {one.get("href", "") for one in page.all("a")}
    assert len(page.elements) > 2_000
    seen = set[str]()
    for start in range(0, 301, 40):
        _, page = shown(client, f"{address}?from={start}&decay={start}")
        seen |= {one["href"] for one in page.all("a", data_open="") if "/audit/" in one.get("href", "")}
    assert {f"{address}/{number}" for number in range(1, 301)} <= seen
    assert "281 to 301 of 301" in shown(client, f"{address}?from=999999&decay=99999")[1].text
