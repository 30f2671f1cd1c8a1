"""Compactions on their pages: those of a log and those made here, with what is unknown said so."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from contextlab.core.items import Reason, Verdict
from contextlab.core.spans import Span
from contextlab.store.models import CompactionJob, CompactionRecord, ItemRecord, Run
from tests.services.compaction.doing import STRUCTURED, asked, done
from tests.web.made import Log
from tests.web.pages import Page, read
from tests.web.test_hostile import PAYLOADS

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def made_page(client: Client, run: Run) -> Page:
    return read(client.get(f"/compactions/{run.uid}"))


def test_a_compaction_of_the_log(client: Client, session: Any) -> None:
    """Its figures with their sources, its summary with its item, the steps around it; the rest is unknown."""
    page = read(client.get(f"/sessions/{session.uid}/compactions/1"))
    assert "What was done up to turn 6." in page.text
    assert "the agent's own summary" in page.text
    assert "what it wrote and cost is unknown" in page.text
    assert "took unknown" in page.text
    record = CompactionRecord.objects.get(session=session, micro=False)
    hrefs = {link.get("href") for link in page.all("a")}
    assert f"/sessions/{session.uid}/items/{record.summary}" in hrefs
    assert f"/sessions/{session.uid}/steps/{record.at_step}" in hrefs
    assert [href for href in hrefs if href and href.startswith(f"/sessions/{session.uid}/turns/")]
    assert client.get(f"/sessions/{session.uid}/compactions/2").status_code == 404
    assert client.get(f"/sessions/{uuid.uuid4()}/compactions/1").status_code == 404


@pytest.mark.parametrize(("pre", "told"), [(1_900, False), (90_000, True), (None, False)])
def test_an_agent_that_decided_with_another_count_than_its_provider(
    client: Client, pre: int | None, told: bool
) -> None:
    """The record's figure before stands beside the reported prompt; where they do not fit, the page says so."""
    made = Log().ask("a").step(input=1_200, output=500).say("b").compaction("s", pre_tokens=pre)
    made = made.ask("c").step(input=300).say("d").save()
    words = read(client.get(made.url("/compactions/1"))).text
    assert ("two counters" in words) == told
    assert ("88,299" in words) == told


def test_what_is_encrypted_cannot_be_told(client: Client) -> None:
    """An opaque summary is neither shown as empty nor guessed at."""
    made = Log().ask("a").step().say("b").compaction("").ask("c").step().say("d").save()
    CompactionRecord.objects.filter(session=made.session).update(opaque=True)
    page = read(client.get(made.url("/compactions/1")))
    assert "Cannot be told." in page.text
    assert "items unknown → unknown" in page.text
    made.view([Span(0, 1, Verdict.SUMMARISED, None, 2)])
    assert "items unknown" not in read(client.get(made.url("/compactions/1"))).text


def test_one_that_was_made_here(client: Client, session: Any) -> None:
    """Sections with links to their items, the report, what was asked; no model wrote it and that is said."""
    job = done(asked(session, before_step=12, policy="rule-based", keep_recent=4))
    page = made_page(client, job.run)
    assert "no model wrote this" in page.text
    assert "no model was asked" in page.text
    assert "source items" in page.text
    assert "Stop" not in page.text
    assert not [one for _, one in page.elements if "hx-trigger" in one and one.get("id") == "compaction"]
    told = [one for key in ("completed", "changed_artifacts", "pending") for one in job.result[key]]
    if any(isinstance(one, dict) for one in told):
        assert [
            one for one in page.all("a") if one.get("href", "").startswith(f"/sessions/{session.uid}/items/")
        ]


def test_while_it_works_it_asks_again_and_can_be_stopped(client: Client, session: Any) -> None:
    """The panel polls; stopped, it has no trigger and says that memory is as it was."""
    run = asked(session, before_step=12)
    page = made_page(client, run)
    (panel,) = page.all("div", id="compaction")
    assert panel["hx-get"] == f"/compactions/{run.uid}"
    assert "Waiting for its turn" in page.text
    Run.objects.filter(pk=run.pk).update(state="running", doing="planning", done=2, total=5)
    page = read(
        client.get(f"/compactions/{run.uid}", headers={"HX-Request": "true", "HX-Target": "compaction"})
    )
    assert "Planning" in page.text
    assert "2 of 5" in page.text
    assert not page.all("main")
    Run.objects.filter(pk=run.pk).update(state="queued")
    answer = client.post(
        f"/compactions/{run.uid}/stop", headers={"HX-Request": "true", "HX-Target": "compaction"}
    )
    page = read(answer)
    (panel,) = page.all("div", id="compaction")
    assert "hx-trigger" not in panel
    assert "Memory is as it was" in page.text
    assert client.get(f"/compactions/{run.uid}/stop").status_code == 405


@pytest.mark.parametrize(
    ("state", "reason", "error", "words"),
    [
        ("noop", "no_gain", "", "would not be smaller"),
        ("noop", "nothing_to_summarise", "", "nothing to summarise"),
        ("conflict", "", "", "changed by somebody else"),
        ("failed", "", "The model refused. Memory is as it was.", "The model refused."),
    ],
)
def test_an_end_without_a_result_is_explained(
    client: Client, session: Any, state: str, reason: str, error: str, words: str
) -> None:
    """In the person's words; nothing asks again."""
    run = asked(session, before_step=12)
    Run.objects.filter(pk=run.pk).update(state=state, error=error)
    CompactionJob.objects.filter(run=run).update(reason=reason)
    assert words in made_page(client, run).text


def test_hostile_and_large_results_stay_texts_within_limits(client: Client, session: Any) -> None:
    """Whatever a model or a log wrote is shown as text, and never more of it than a page bears."""
    job = done(asked(session, before_step=12))
    lines = [{"text": text, "items": [text]} for text in PAYLOADS] + ["long " * 200] * 3_000
    names = ("completed", "pending", "decisions", "changed_artifacts", "failed_commands", "open_questions")
    result = dict.fromkeys(names, lines) | {
        "goal": PAYLOADS[0] * 999, "summary": "".join(PAYLOADS) * 5_000, "read_files": PAYLOADS * 500,
        "modified_files": PAYLOADS * 500,
    }  # fmt: skip
    flags = [{"section": "user_confirmations", "text": PAYLOADS[0], "why": PAYLOADS[1]}]
    raw = "".join(PAYLOADS) * 900
    events = [{"kind": PAYLOADS[0], "items": 3, "tokens_before": None, "tokens_after": None}] * 900
    values = {"policy_name": PAYLOADS[1][:80], "instructions": PAYLOADS[2], "model": PAYLOADS[3][:200]}
    CompactionJob.objects.filter(pk=job.pk).update(
        result=result, flags=flags, raw_reply=raw, events=events, **values
    )
    page = made_page(client, job.run)
    assert "and 2,9" in page.text
    assert read(client.get(f"/compactions/{job.run.uid}/raw")).all("pre")


def test_the_policy_of_the_job_is_named(client: Client, session: Any) -> None:
    """By its name in the document."""
    page = made_page(client, done(asked(session, before_step=12, policy=STRUCTURED)).run)
    assert "policy mine" in page.text


FORM = {"policy": "rule-based", "keep_recent": "4", "before_step": "12"}


def start_form(page: Page) -> dict[str, str]:
    """The hidden fields of the button that starts the run."""
    return {one["name"]: one.get("value", "") for one in page.all("input", type="hidden") if one.get("name")}


@pytest.mark.parametrize("field", ["before_step", "before_compaction", "keep_recent"])
def test_a_refusal_speaks_of_the_form_and_not_of_its_names(client: Client, session: Any, field: str) -> None:
    """The label stands before what must be true of it; the name that a program uses does not."""
    at = f"/sessions/{session.uid}/compact/preview"
    text = read(client.post(at, FORM | {"before_step": ""} | {field: "x"}), 400).text
    assert re.search(r"(step|found it|recent): must be a whole number from \d", text)
    assert field not in text


def test_the_preview_names_its_place_as_the_result_does(client: Client, session: Any) -> None:
    """Before a step that there is, behind the last one, or of a branch's memory."""
    at = f"/sessions/{session.uid}/compact/preview"
    htmx, last = {"HX-Request": "true"}, f"after step {session.steps}, the last"
    assert "rule-based, before step 12" in read(client.post(at, FORM, headers=htmx)).text
    told = read(client.post(at, FORM | {"before_step": ""}, headers=htmx))
    assert f"rule-based, {last}" in told.text
    made = done(asked(session, policy="rule-based", keep_recent=4))
    assert last in made_page(client, made.run).text
    branch = FORM | {"before_step": "", "view": "branch-1"}
    assert "rule-based, of branch-1" in read(client.post(at, branch, headers=htmx)).text


def test_look_then_compact(client: Client, session: Any) -> None:
    """The preview writes nothing; the button under it starts what was shown, once however often it is pressed."""
    at = f"/sessions/{session.uid}/compact"
    assert at in {link.get("href") for link in read(client.get(f"/sessions/{session.uid}")).all("a")}
    form = read(client.get(at + "?before_step=12&pins=3"))
    assert form.all("input", name="before_step")[0]["value"] == "12"
    told = read(client.post(at + "/preview", FORM, headers={"HX-Request": "true"}))
    assert "tokens before" in told.text
    assert "none is asked" in told.text
    assert not told.all("main")
    assert not Run.objects.filter(kind="compact").exists()
    values = start_form(told)
    assert {name: values[name] for name in FORM} == FORM
    first, again = client.post(at, values), client.post(at, values)
    assert first.url == again.url
    run = Run.objects.get(kind="compact")
    assert first.url == f"/compactions/{run.uid}"
    job = done(run)
    assert (job.run.state, job.keep_recent, job.before_step) == ("done", 4, 12)


def test_without_scripts_the_preview_is_a_page(client: Client, session: Any) -> None:
    """The same, with the form above it."""
    page = read(client.post(f"/sessions/{session.uid}/compact/preview", FORM))
    assert page.all("main")
    assert "Compact as shown" in page.text
    assert page.all("option", value="rule-based", selected="")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("policy", "nobody", "Policy:"),
        ("policy", "keep-all", "replaces no memory"),
        ("view", "branch-9", "no view"),
        ("before_step", "x", "As if before step:"),
        ("before_step", "99999", "not a step"),
        ("keep_recent", "-1", "Keep recent:"),
        ("pins", "one", "is no item number"),
        ("pins", "5-3", "no range"),
        ("pins", "0-999999999", "More than 500"),
        ("pins", "99999", "no item #99999"),
        ("pins", "9," * 3000, "item numbers"),
        ("instructions", "long " * 9_000, "at most 20,000"),
        ("instructions", "a\x00b", "no text can have"),
        ("pins", "<script>alert(1)</script>", "is no item number"),
    ],
)
def test_bad_input_is_named_and_nothing_starts(
    client: Client, session: Any, field: str, value: str, words: str
) -> None:
    """By the field's own label, with what was typed kept."""
    at = f"/sessions/{session.uid}/compact"
    values = FORM | {field: value}
    for address in (at, at + "/preview"):
        page = read(client.post(address, values), 400)
        assert words in page.text
        assert page.all("select", name="policy")
        answer = client.post(at + "/preview", values, headers={"HX-Request": "true"})
        assert words in read(answer, 400).text
    assert not Run.objects.filter(kind="compact").exists()


def test_a_model_is_asked_only_after_a_confirmation(client: Client, session: Any, settings: Any) -> None:
    """Tokens and cost stand by the checkbox; without a model the button is not there and the form says why."""
    at = f"/sessions/{session.uid}/compact"
    values = FORM | {"policy": "llm-summary"}
    page = read(client.post(at + "/preview", values))
    assert "none can be asked" in page.text
    assert "Compact as shown" not in page.text
    settings.MODEL_BASE_URL, settings.MODEL_NAME, settings.MODEL_KEY = (
        "http://127.0.0.1:9/v1",
        "small",
        "sk-hidden",
    )
    page = read(client.post(at + "/preview", values))
    assert page.all("input", name="confirm", required="")
    assert "cost unknown" in page.text
    assert "key set" in page.text
    assert "sk-hidden" not in page.text
    assert "look at tokens and cost" in read(client.post(at, start_form(page)), 400).text
    assert not Run.objects.filter(kind="compact").exists()
    assert client.post(at, start_form(page) | {"confirm": "1"}).status_code == 302
    assert CompactionJob.objects.get().allow_model


def test_a_preview_of_a_large_memory_stays_within_limits(client: Client) -> None:
    """Only the ends of the list are shown."""
    log = (
        Log().ask("go").repeat(900, lambda log, at: log.step().call("bash", f"run {at}").result("word " * 40))
    )
    made = log.save()
    made.view([])
    page = read(client.post(made.url("/compact/preview"), {"policy": "rule-based"}))
    assert "in the middle not listed" in page.text


def test_a_second_one_is_told_of_the_first(client: Client, session: Any) -> None:
    """With a link to it."""
    run = asked(session, before_step=12)
    page = read(client.get(f"/sessions/{session.uid}/compact"))
    assert "done beside it" in page.text
    assert page.all("a", href=f"/compactions/{run.uid}")


def test_lineage_restore_promote_and_take_away(client: Client, session: Any) -> None:
    """Back to the memory of before as a new version, promoted by a button, each memory in each format."""
    at = f"/sessions/{session.uid}"
    job = done(asked(session, before_step=12))
    page = made_page(client, job.run)
    back = page.all("form", action=f"{at}/branches/branch-1/restore")
    assert back
    assert page.all("input", name="version", value="1")
    assert client.post(f"{at}/branches/branch-1/restore", {"version": "1"}).url == f"{at}/compactions"
    again = client.post(f"{at}/branches/branch-1/restore", {"version": "1"})
    told = read(client.get(again.url))
    assert "The memory of version 1 of branch-1 is in force already: nothing was made." in told.text
    assert told.all("input", name="version") == [{"type": "hidden", "name": "version", "value": "2"}]
    assert client.post(f"{at}/branches/branch-1/promote").status_code == 302
    page = read(client.get(f"{at}/compactions"))
    assert "version 3 in force from 2 restore" in page.text
    assert "promoted: the memory to go on with" in page.text
    assert f"claude --resume {session.native_id}" in page.text
    for name in ("openai_chat", "openai_responses", "anthropic", "markdown", "json"):
        answer = client.get(f"{at}/memory/{name}", {"branch": "branch-1", "version": "2"})
        assert answer.status_code == 200
        assert answer.headers["Content-Disposition"].startswith("attachment")
        assert answer.content
    for address in ("/memory/exe", "/memory/json?branch=branch-7", "/memory/json?branch=branch-1&version=9"):
        assert client.get(at + address).status_code == 404
    for version in ("", "x", "99", "-1", "9" * 30):
        assert client.post(f"{at}/branches/branch-1/restore", {"version": version}).status_code == 400
    assert client.post(f"{at}/branches/recorded/restore", {"version": "1"}).status_code == 404
    assert client.get(f"{at}/branches/branch-1/promote").status_code == 405


def test_two_beside_each_other_are_compared(client: Client, session: Any) -> None:
    """From the page of the one to both, with what stands in one only."""
    first = done(asked(session, before_step=12)).run
    second = done(asked(session, before_step=12, policy="rule-based", keep_recent=4)).run
    address = f"/sessions/{session.uid}/compactions/compare?left={second.uid}&right={first.uid}"
    assert made_page(client, second).all("a", href=address)
    page = read(client.get(address))
    assert "branch-1, version 2" in page.text
    assert "branch-2, version 2" in page.text
    long = {name: ["long " * 200] * 3_000 for name in ("completed", "pending", "decisions", "open_questions")}
    CompactionJob.objects.update(
        result=long | {"goal": PAYLOADS[0], "read_files": PAYLOADS * 90, "summary": ""}
    )
    assert "only here" not in read(client.get(address)).text


def test_many_branches_stay_within_limits(client: Client, session: Any) -> None:
    """The newest of each; the rest is counted."""
    for _ in range(24):
        done(asked(session, before_step=12))
    page = read(client.get(f"/sessions/{session.uid}/compactions"))
    assert "20 of 24 branches, newest first." in page.text
    read(client.get(f"/compactions/{Run.objects.filter(kind='compact').last().uid}"))


def test_a_session_without_any(client: Client) -> None:
    """Says so, and offers to compact."""
    made = Log().ask("a").step().say("b").save()
    assert "None yet" in read(client.get(made.url("/compactions"))).text


def test_a_summary_without_sections_is_not_called_structured(client: Client, session: Any) -> None:
    """What must be known of how a result came about stands before it; lists of files alone are no structure."""
    tag = '<span class="tag">structured</span>'
    job = done(asked(session, before_step=12, policy="rule-based", keep_recent=4))
    assert tag in client.get(f"/compactions/{job.run.uid}").content.decode()
    report = {**job.report, "notes": ["the model's answer was <no> JSON object"]}
    CompactionJob.objects.filter(pk=job.pk).update(
        report=report, result={"read_files": ["a.py"], "summary": "so far"}
    )
    page = client.get(f"/compactions/{job.run.uid}").content.decode()
    assert tag not in page
    result = page[page.index('id="result"') :]
    assert result.index("was &lt;no&gt; JSON object") < result.index("a.py")


def test_a_goal_that_claims_an_agreement_is_marked(client: Client, session: Any) -> None:
    """What no words of the user support is marked where it stands, in the goal as in the lists."""
    job = done(asked(session, before_step=12, policy="rule-based", keep_recent=4))
    goal = "The user approved <b>everything</b>"
    flags = [{"section": "goal", "text": goal, "why": "no_user_item"}]
    CompactionJob.objects.filter(pk=job.pk).update(result={**job.result, "goal": goal}, flags=flags)
    text = made_page(client, job.run).text
    assert f"{goal} no words of the user support this" in text
    assert "1 line of the result claims a confirmation" in text


def test_progress_names_the_stage(client: Client, session: Any, settings: Any) -> None:
    """Which stage it is at and which chunk; the stages of a model only where one is asked; why it is tried again."""
    run = asked(session, before_step=12)
    assert "asking the model" not in made_page(client, run).text
    CompactionJob.objects.filter(run=run).update(allow_model=True)
    stages = {
        "planning": "Planning the cut", "asking": "Asking the model", "asking the model (request 2)": "chunk 2 of 5",
        "reading the answer": "Reading its answer", "checking": "Checking", "writing": "Writing the memory",
    }  # fmt: skip
    for doing, words in stages.items():
        Run.objects.filter(pk=run.pk).update(state="running", doing=doing, done=2, total=5)
        page = made_page(client, run)
        assert words in page.text
        assert len(page.all("li", aria_current="step")) == 1
    Run.objects.filter(pk=run.pk).update(state="queued", error="The model is busy.")
    assert "It will be tried again: The model is busy." in made_page(client, run).text


def test_before_and_after_side_by_side(client: Client, session: Any) -> None:
    """Figures and tokens by kind of both memories, and what became of which items, listed on request."""
    job = done(asked(session, before_step=12, keep_recent=4, policy="rule-based", pins=[name_of(session, 1)]))
    page = made_page(client, job.run)
    assert len(page.all("svg", class_="bar")) == 2
    assert "Run by run" in page.text
    assert "pays back after" in page.text
    assert page.all("a", href=f"/sessions/{session.uid}/items/1")
    (lists, *_) = [one["hx-get"] for one in page.all("div") if "/compacted?" in one.get("hx-get", "")]
    assert read(client.get(lists)).all("a")
    assert client.get(lists.split("?")[0]).status_code == 404
    assert "No items." in read(client.get(lists.split("?")[0] + "?first=99998&last=99999")).text


def test_an_ended_one_can_be_started_again(client: Client, session: Any) -> None:
    """From its failure the form opens as it was filled in."""
    run = asked(session, before_step=12, keep_recent=4, policy="rule-based", pins=[name_of(session, 3)])
    Run.objects.filter(pk=run.pk).update(state="failed", error="The worker died three times.")
    (again,) = [one["href"] for one in made_page(client, run).all("a") if "/compact?" in one.get("href", "")][
        :1
    ]
    form = read(client.get(again))
    assert form.all("input", name="keep_recent", value="4")
    assert form.all("input", name="pins", value="3")
    assert form.all("input", name="before_step", value="12")


def name_of(session: Any, position: int) -> str:
    return ItemRecord.objects.get(session=session, position=position).native_id


def test_what_an_agent_logged_of_its_summary_request(client: Client) -> None:
    """Model, usage, cost with its prices and time of the log's own summariser, where it stands beside the session."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    made = (
        Log()
        .ask("a")
        .step(input=90_000)
        .say("b")
        .compaction("Sum.")
        .ask("c")
        .step(input=3_000)
        .say("d")
        .save()
    )
    made.view([Span(0, 1, Verdict.SUMMARISED, Reason.COMPACTED, 2)])
    CompactionRecord.objects.filter(session=made.session).update(ts=start + timedelta(minutes=2))
    unknown = read(client.get(made.url("/compactions/1"))).text
    assert "what it wrote and cost is unknown" in unknown
    other = Log().ask("summarise").step().say("Sum.").save(
        role="compaction", parent=made.session, model="claude-opus-4-5", input_tokens=90_100, output_tokens=500,
        started_at=start, last_at=start + timedelta(minutes=1),
    )  # fmt: skip
    page = read(client.get(made.url("/compactions/1")))
    assert "wrote 500 reported for $0.46" in page.text
    assert "took 60.00 s" in page.text
    assert "price list genai-prices" in page.text
    assert "read from the cache 0.5" in page.text
    assert "pays back after 12 steps" in page.text
    assert page.all("a", href=other.url())
