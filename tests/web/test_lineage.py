"""Memories of branches: looked at, compared, taken away, and the way back into the agent."""

from __future__ import annotations

import random
import uuid
from typing import Any

import pytest
from django.test import Client

from contextlab.core.items import Item, Kind
from contextlab.core.offload import Offload
from contextlab.queries import offloads
from contextlab.services import compaction
from contextlab.store.models import CompactionJob, MemoryVersion, Run
from contextlab.store.offloads import DjangoOffloadStore
from tests.api.conftest import Api
from tests.services.compaction.doing import asked, done
from tests.support.fake_openai import FakeOpenAI, fails, says
from tests.web.made import Log
from tests.web.pages import read
from tests.web.test_hostile import PAYLOADS

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_the_logs_own_compaction_is_compared_with_one_made_here(client: Client, session: Any) -> None:
    """Any two of a session stand side by side: figures, sections, and what the model reads of each."""
    run = done(asked(session, before_step=12, policy="rule-based", keep_recent=4)).run
    at = f"/sessions/{session.uid}/compactions"
    assert read(client.get(at)).all("option", value="log-1")
    page = read(client.get(f"{at}/compare?left=log-1&right={run.uid}"))
    assert "What was done up to turn 6." in page.text
    assert "only here" not in page.text  # what the log's summary says by section is not known
    assert "not told by section" in page.text
    assert page.all("a", href=f"{at}/1")
    assert page.all("a", href=f"/compactions/{run.uid}")
    assert "two different" in client.get(f"{at}/compare?left=log-1&right=log-1").content.decode()
    for left, right in (("log-9", "log-1"), ("log-1", str(uuid.uuid4())), ("", "log-1"), ("x", "log-1")):
        assert client.get(f"{at}/compare", {"left": left, "right": right}).status_code == 404


def test_a_comparison_keeps_what_stands_behind_a_line(client: Client, session: Any) -> None:
    """The items that support a line, and that no words of the user support it, are beside it there as on its page."""
    first = done(asked(session, before_step=12, policy="rule-based", keep_recent=4)).run
    second = done(asked(session, before_step=12, policy="rule-based", keep_recent=6)).run
    claim, item = "The user agreed to the port", session.items - 1
    name = compaction.memory_of(session, "recorded").snapshot.items[-1].id
    result = {"goal": "ship", "decisions": [{"text": claim, "items": [name, "x1", "x2"]}], "summary": "s"}
    flags = [{"section": "decisions", "text": claim, "why": "no_user_item"}]
    in_text = [{"section": "summary", "text": "The customer said yes", "why": "no_user_item"}]
    CompactionJob.objects.filter(run=first).update(result=result, flags=flags)
    CompactionJob.objects.filter(run=second).update(result=result, flags=in_text)
    address = f"/sessions/{session.uid}/compactions/compare?left={first.uid}&right={second.uid}"
    page = read(client.get(address))
    assert page.all("a", href=f"/sessions/{session.uid}/items/{item}")
    assert f"{claim} #{item} and 2 more no words of the user support this" in page.text
    assert "The customer said yes no words of the user support this" in page.text


def test_a_branch_says_what_it_is_and_each_version_shows_its_memory(client: Client, session: Any) -> None:
    """One memory that ends before its step; each version has its page with summary and items, and its exports."""
    done(asked(session, before_step=12, policy="rule-based", keep_recent=4))
    page = read(client.get(f"/sessions/{session.uid}/compactions"))
    assert "does not grow with the log" in page.text
    assert f"The log has {session.steps - 11} more steps" in page.text
    top = page.all("a", href=f"/sessions/{session.uid}?view=branch-1:type-aware")
    assert top
    assert "branch-1:type-aware" in read(client.get(top[0]["href"])).text
    at = f"/sessions/{session.uid}/memory"
    assert page.all("a", href=f"{at}?branch=branch-1&version=2")
    after = read(client.get(at, {"branch": "branch-1", "version": "2"}))
    before = read(client.get(at, {"branch": "branch-1", "version": "1"}))
    assert "Summary of what left this memory" in after.text or "## " in after.text
    rows = [len(one.all("div", data_row="")) for one in (before, after)]
    assert rows[0] > rows[1] > 0
    assert "No items" in read(client.get(at, {"branch": "branch-1", "from": "99999"})).text
    assert client.get(at, {"branch": "branch-9"}).status_code == 404
    assert client.get(at, {"branch": "branch-1", "version": "77"}).status_code == 404


def test_the_way_back_into_the_agent(client: Client, session: Any) -> None:
    """A ready resume line, the address of the memory, and a /compact line made of items and wishes."""
    at = f"/sessions/{session.uid}"
    page = read(client.get(f"{at}/compactions"))
    assert f"claude --resume {session.native_id}" in page.text
    assert f"GET /api{at}/memory/" in page.text
    told = read(client.get(f"{at}/compact/line", {"pins": "3", "instructions": "keep the ports"}))
    assert "/compact keep the ports" in told.text
    assert 'Keep word for word the text that begins with "line one of 0' in told.text
    assert "1 of the items does not stand in this memory: quoted from the log" in told.text
    whole = read(client.post(f"{at}/compact/line", {"instructions": "x" * 20_000}))
    assert "x" * 20_000 in whole.text
    assert client.post(f"{at}/compact/line", {"instructions": "x" * 20_001}).status_code == 400
    assert read(client.get(f"{at}/compact")).all("button", hx_post=f"{at}/compact/line")
    done(asked(session, before_step=12))
    of_branch = read(
        client.post(f"{at}/compact/line", {"view": "branch-1", "instructions": "keep the ports"})
    )
    assert "/compact keep the ports" in of_branch.text
    assert "Nothing was named" in read(client.get(f"{at}/compact/line")).text
    assert client.get(f"{at}/compact/line", {"pins": "three"}).status_code == 400
    for text in PAYLOADS:
        read(client.get(f"{at}/compact/line", {"instructions": text}))


def test_originals_are_listed_and_fetched_back(client: Client, session: Any) -> None:
    """Under their ids, newest first and in pages; each as the model's own tool gives it."""
    store = DjangoOffloadStore(session.workspace, session)
    for number in range(103):
        items = (Item(f"i{number}", Kind.TOOL_RESULT, PAYLOADS[number % len(PAYLOADS)], tool="read"),)
        store.put(Offload(f"id-{number}", items, "current_large"))
    at = f"/sessions/{session.uid}/offloads"
    store.put(Offload("id-103", (Item("half", Kind.TOOL_RESULT, "half of a pair: \ud800"),), "current_large"))
    page = read(client.get(at))
    assert page.all("a", href="/offloads/id-102")
    assert "half of a pair: ?" in page.text
    (rest,) = page.all("a", data_key="n")
    assert read(client.get(at + rest["href"])).all("a", href="/offloads/id-0")
    assert "current large" in page.text
    one = read(client.get("/offloads/id-1"))
    assert 'context_reload(working_context_offload_uuid="id-1")' in one.text
    assert client.get("/offloads/id-1?download=1").content.decode() == PAYLOADS[1]
    assert client.get("/offloads/id-999").status_code == 404
    assert read(client.get(f"/sessions/{session.uid}/compactions")).all("a", href=at)


def test_originals_can_be_told_apart(client: Client, session: Any) -> None:
    """Each row says how its text begins, which items of the log it is, how large, and which compaction did it."""
    items = compaction.memory_of(session, "recorded").snapshot.items
    run = done(asked(session, before_step=12)).run
    CompactionJob.objects.filter(run=run).update(offloads=[{"id": "id-1", "reason": "x", "items": 3}])
    written = Item("w", Kind.ASSISTANT, "<b>by a compaction</b>")
    store = DjangoOffloadStore(session.workspace, session)
    store.put(Offload("id-1", (*items[1:3], items[5]), "current_large"))
    store.put(Offload("id-2", (written,), "current_large"))
    page = read(client.get(f"/sessions/{session.uid}/offloads"))
    places = [compaction.memory_of(session, "recorded").positions[items[at].id] for at in (1, 2, 5)]
    assert (
        f"#{places[0]}–{places[1]} #{places[2]} {sum(items[at].tokens for at in (1, 2, 5))} tokens counted"
        in page.text
    )
    assert page.all("a", href=f"/sessions/{session.uid}/items/{places[0]}")
    assert page.all("a", href=f"/compactions/{run.uid}")
    assert " ".join(items[1].text.split())[:60] in page.text
    assert "id-2 <b>by a compaction</b> 1 not of the log 22 characters current large unknown" in page.text
    assert page.all("b") == []
    first, second = Api().get(f"sessions/{session.uid}/offloads/")["results"]
    assert (first["items"], first["positions"]) == (3, [places[:2], [places[2], places[2]]])
    assert (first["compaction"], first["token_source"]) == (str(run.uid), "counted")
    assert (second["words"], second["chars"], second["tokens"], second["compaction"]) == (
        written.text,
        22,
        None,
        None,
    )


def test_originals_that_are_too_large_to_look_at_are_not_guessed(
    client: Client, session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not read for the list is unknown, never empty or of no size."""
    monkeypatch.setattr(offloads, "ROOM", 10)
    DjangoOffloadStore(session.workspace, session).put(
        Offload("id-1", (Item("w", Kind.ASSISTANT, "x"),), "current_large")
    )
    page = read(client.get(f"/sessions/{session.uid}/offloads"))
    assert "id-1 unknown unknown unknown current large unknown" in page.text
    line = Api().get(f"sessions/{session.uid}/offloads/")["results"][0]
    assert [line[name] for name in ("items", "chars", "tokens", "words")] == [None] * 4


def test_a_session_without_originals(client: Client, session: Any) -> None:
    """Says so."""
    assert "None" in read(client.get(f"/sessions/{session.uid}/offloads")).text


def test_the_model_is_tried_by_a_click_and_its_key_shown_nowhere(client: Client, settings: Any) -> None:
    """What is set, what a trial takes, what came of it; opening the page asks nobody."""
    assert "not set" in read(client.get("/model")).text
    assert "Nothing can be tried" in read(client.get("/model")).text
    with FakeOpenAI(says("ready")) as server:
        settings.MODEL_BASE_URL, settings.MODEL_NAME, settings.MODEL_KEY = server.url, "small", "sk-hidden"
        page = read(client.get("/model"))
        assert "about 20 tokens in, 10 out, cost unknown" in page.text
        assert server.requests == []
        assert client.get("/model/try").status_code == 405
        told = read(client.post("/model/try", headers={"HX-Request": "true"}))
        assert "It answered: ready" in told.text
        assert "read 120, wrote 30 tokens (reported)" in told.text
        assert "sk-hidden" not in page.text + told.text
        assert len(server.requests) == 1
        assert read(client.post("/model/try")).all("main")


def test_a_trial_costs_what_the_model_that_is_set_costs(client: Client, settings: Any) -> None:
    """Also where the endpoint calls it by a name of its own, which no price list has."""
    with FakeOpenAI(says("ready")) as server:
        settings.MODEL_BASE_URL, settings.MODEL_NAME, settings.MODEL_KEY = (
            server.url,
            "gpt-4o-mini",
            "sk-hidden",
        )
        told = read(client.post("/model/try", headers={"HX-Request": "true"})).text
    assert "read 120, wrote 30 tokens (reported), $0.000029" in told


@pytest.mark.parametrize("text", [*PAYLOADS, "wrong key sk-hidden"])
def test_a_model_that_refuses_says_why(client: Client, settings: Any, text: str) -> None:
    """In its own words, escaped, and without the key."""
    with FakeOpenAI(fails(401, text)) as server:
        settings.MODEL_BASE_URL, settings.MODEL_NAME, settings.MODEL_KEY = server.url, "small", "sk-hidden"
        page = read(client.post("/model/try"))
    assert "It did not answer." in page.text
    assert "sk-hidden" not in page.text


def test_hostile_memories_stay_texts(client: Client, session: Any) -> None:
    """Whatever stands in a result, on the pages of all its places."""
    run = done(asked(session, before_step=12)).run
    CompactionJob.objects.filter(run=run).update(
        result={"goal": PAYLOADS[0], "summary": PAYLOADS[1], "completed": PAYLOADS}
    )
    read(client.get(f"/sessions/{session.uid}/compactions/compare?left=log-1&right={run.uid}"))


def test_more_compactions_than_a_page_shows_are_paged(client: Client) -> None:
    """Newest first, a hundred at a time; where the record names no size after it, the provider's stands there."""
    log = Log().ask("go")
    log.repeat(
        130,
        lambda log, at: log.step(input=4_000 + at).say(f"did {at}").compaction(f"s{at}", pre_tokens=9_000),
    )
    made = log.ask("more").step(input=77_000).say("done").save()
    made.view([])
    at = made.url("/compactions")
    page = read(client.get(at))
    assert "100 of 130" in page.text
    assert "9k → 77k logged → reported" in page.text
    (older,) = page.all("a", data_key="n")
    rest = read(client.get(at + older["href"]))
    assert rest.all("a", href=f"{at}/1")
    assert rest.all("a", data_key="p", href="?skip=0")


def test_results_that_cannot_be_compressed_stay_within_a_pages_limit(client: Client, session: Any) -> None:
    """Every text at its largest, of letters without any pattern: each page is cut by bytes, and says so."""
    letters = random.Random(7)
    noise = lambda size: "".join(chr(letters.randint(0x4E00, 0x9FFF)) for _ in range(size))  # noqa: E731
    runs = [
        done(asked(session, before_step=12, policy="rule-based", keep_recent=keep)).run for keep in (2, 4)
    ]
    lines = [noise(700) for _ in range(60)]
    result = dict.fromkeys(("completed", "pending", "decisions", "open_questions", "read_files"), lines)
    result |= {"goal": noise(9_000), "summary": noise(90_000), "modified_files": lines}
    report = {"notes": lines[:20]}
    CompactionJob.objects.update(result=result, report=report, instructions=noise(20_000))
    page = read(client.get(f"/compactions/{runs[0].uid}"))
    assert "Only the beginning is shown." in page.text
    read(client.get(f"/sessions/{session.uid}/compactions/compare?left={runs[0].uid}&right={runs[1].uid}"))
    MemoryVersion.objects.update(summary=noise(90_000))
    read(client.get(f"/sessions/{session.uid}/memory", {"branch": "branch-1", "version": "2"}))
    items = tuple(Item(f"i{at}", Kind.TOOL_RESULT, noise(9_000)) for at in range(30))
    DjangoOffloadStore(session.workspace, session).put(Offload("noise", items, "why"))
    assert "The first 20 of 30 items" in read(client.get("/offloads/noise")).text


def test_names_that_no_database_takes_lead_nowhere(client: Client, session: Any) -> None:
    """A NUL in an address is a name that there is not, on every database."""
    at = f"/sessions/{session.uid}"
    for address in (
        "/offloads/a%00b", f"{at}/memory?branch=a%00b", f"{at}/memory/json?branch=a%00b",
        f"{at}/compactions/compare?left=a%00b&right=log-1", f"{at}/decisions?view=a%00b",
        f"{at}/compactions?view=a%00b",
    ):  # fmt: skip
        assert client.get(address).status_code == 404
    assert client.post(f"{at}/compact/line", {"view": "a\x00b"}).status_code == 400


def test_a_running_compaction_cannot_be_compared(client: Client, session: Any) -> None:
    """Only what has a result is offered, and what ended without a memory says that memory is as it was."""
    done(asked(session, before_step=6, policy="rule-based", keep_recent=2))
    waits = asked(session, before_step=8, policy="rule-based")
    failed = asked(session, before_step=9, policy="rule-based")
    Run.objects.filter(pk=failed.pk).update(state="failed")
    page = read(client.get(f"/sessions/{session.uid}/compactions"))
    offered = {option["value"] for option in page.all("option")}
    assert "log-1" in offered
    assert not {str(waits.uid), str(failed.uid)} & offered
    assert "unchanged" in page.text
