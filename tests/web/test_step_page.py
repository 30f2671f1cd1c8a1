"""The step page: what the model saw at one call, what it did not see, and why."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from contextlab.core.events import Note
from contextlab.core.items import Injected, Kind, Reason, Verdict
from contextlab.core.spans import Span
from tests.web.made import Log, Made
from tests.web.pages import Page, read

pytestmark = [pytest.mark.django_db, pytest.mark.database]

SUMMARISED = (Verdict.SUMMARISED, Reason.COMPACTED)


def compacted() -> tuple[Made, list[Span]]:
    """Two turns; a compaction before step 3 replaces all but the summary."""
    log = Log().item(Kind.SYSTEM, "You are careful.").ask("find the port")
    log.step(input=900, output=20).think("hm").call("read", '{"path": "a.toml"}').result("port = 8443")
    log.step(input=1200, cache_read=300).say("It is 8443.")
    log.compaction("The port is 8433.", trigger="auto", pre_tokens=1500, post_tokens=200)
    log.ask("are you sure?").step(input=400).say("Yes.")
    made = log.save()
    return made, [Span(0, 5, *SUMMARISED, 3)]


def step(client: Client, made: Made, number: int, **query: Any) -> Page:
    return read(client.get(made.url(f"/steps/{number}"), query))


def rows(page: Page) -> list[str]:
    """The classes of the rows of the list, without the common ones."""
    found = [values.get("class", "") for tag, values in page.elements if tag == "div"]
    return [name.removeprefix("item ") for name in found if name.startswith("item")]


def test_the_context_stands_in_order_and_new_items_are_marked(client: Client) -> None:
    """Everything in memory before the call, oldest first; what came since the step before is new."""
    made, spans = compacted()
    made.view(spans)
    page = step(client, made, 2)
    assert rows(page) == [
        "k-system kept",
        "k-user kept",
        "k-reasoning kept new",
        "k-call kept new",
        "k-result kept new",
    ]
    assert "What the model saw · turn 1, step 2" in page.text
    assert "port = 8443" in page.text
    assert "input 1.5k reported" in page.text


def test_what_a_compaction_replaced_is_one_row_where_it_stood(client: Client) -> None:
    """The fold names the compaction and how many items it stands for; the summary follows."""
    made, spans = compacted()
    made.view(spans)
    page = step(client, made, 3)
    assert rows(page) == ["gone summarised", "k-summary kept new", "k-user kept new"]
    assert "6 items replaced by the summary of compaction #1" in page.text
    assert "port = 8443" not in page.text
    assert "compaction #1 took effect here" in page.text
    assert "left out 6" in page.text


def test_a_fold_opens_to_its_items(client: Client) -> None:
    """The fragment behind `show them` lists every item with its fate, a page at a time."""
    made, spans = compacted()
    made.view(spans)
    address = next(
        values["hx-get"]
        for _, values in step(client, made, 3).elements
        if "/run?" in values.get("hx-get", "")
    )
    page = read(client.get(address))
    assert len([name for name in rows(page) if "summarised" in name]) == 6
    assert "port = 8443" in page.text


def test_left_out_changes_and_cleared_are_filters_of_the_address(client: Client) -> None:
    """Each filter is a link, and its list can be shared."""
    made, spans = compacted()
    made.view(spans)
    assert rows(step(client, made, 3, show="left-out")) == ["gone summarised"]
    changed = step(client, made, 3, show="changes")
    assert rows(changed) == [
        "gone summarised",
        "k-assistant summarised new",
        "k-summary kept new",
        "k-user kept new",
    ]
    assert "3 entered" in changed.text
    assert rows(step(client, made, 3, show="cleared")) == []
    assert "Nothing in this context was cleared" in step(client, made, 3, show="cleared").text


def test_htmx_gets_the_list_alone_from_the_same_template(client: Client) -> None:
    """The filters swap the list: no frame of the page around it, the same rows in it."""
    made, spans = compacted()
    made.view(spans)
    answer = client.get(made.url("/steps/3"), headers={"HX-Request": "true", "HX-Target": "context"})
    part = read(answer)
    assert "<html" not in answer.content.decode()
    assert rows(part) == rows(step(client, made, 3))


def test_a_cleared_result_shows_its_placeholder_and_keeps_its_original(client: Client) -> None:
    """The placeholder is what stood there; its size before and the original are one click away."""
    log = (
        Log()
        .ask("go")
        .step(input=1)
        .call("bash", '{"command": "ls"}')
        .result("a.py b.py " * 300)
        .step(input=2)
    )
    made = log.save()
    made.view([Span(2, 2, Verdict.CLEARED, Reason.TIER1, 2)], name="type-aware")
    page = step(client, made, 2, view="type-aware")
    assert "[tool result cleared: bash(call-1)]" in page.text
    assert "was 750" in page.text
    assert "a.py b.py" not in page.text
    body = read(client.get(made.url("/items/2/body"), {"step": 2, "view": "type-aware"}))
    assert "[tool result cleared: bash(call-1)]" in body.text
    assert "a.py b.py" in body.text


def test_what_the_log_cleared_has_the_logs_own_placeholder(client: Client) -> None:
    """A micro-compaction of the agent leaves its own words behind, not ours."""
    made = Log().ask("go").step(input=1).call("bash", "{}").result("x" * 400).step(input=2).save()
    made.view([Span(2, 2, Verdict.CLEARED, Reason.MICRO_COMPACTED, 2)])
    page = step(client, made, 2)
    assert "[Old tool result content cleared]" in page.text
    assert "cleared at this step" not in page.text  # it was new at this step


def test_reasoning_that_the_provider_strips_is_not_in_the_context(client: Client) -> None:
    """It has a row of its own, of no size, and counts as left out."""
    made = Log().ask("go").step(input=1).think("secret plan").say("done").ask("and?").step(input=2).save()
    made.view([Span(1, 1, Verdict.REASONING_CLEARED, Reason.PROVIDER_STRIPS, 2)])
    page = step(client, made, 2)
    assert "k-reasoning reasoning_cleared new" in rows(page)
    assert "the provider leaves out reasoning of earlier turns" in page.text


def test_images_are_named_and_their_tokens_unknown(client: Client) -> None:
    """Type and size, never the data, never 0."""
    made = Log().ask("look").image().step(input=1).save()
    made.view([])
    page = step(client, made, 1)
    assert "image/png, 2.8 MB encoded, tokens unknown" in page.text
    assert "unknown" in [text.strip() for text in page.texts]


def test_injected_items_say_what_they_are(client: Client) -> None:
    """Nobody should take a notification for the person's words."""
    made = Log().ask("go").item(Kind.USER, "<task/>", injected=Injected.TASK).step(input=1).save()
    made.view([])
    assert "task notification" in step(client, made, 1).text


def test_a_step_without_usage_says_so(client: Client) -> None:
    """Unknown is a word, and nothing is computed from it."""
    made = Log().ask("go").step(limit=None).save()
    made.view([])
    page = step(client, made, 1)
    assert "input unknown the log has no usage for this step" in page.text
    assert "limit unknown" in page.text
    assert "NaN" not in page.text
    assert "full" not in page.text.split("Steps")[0]


def test_a_step_page_says_that_the_log_has_grown(client: Client) -> None:
    """It knows how many steps the page was made of and asks for more; where it leads to is the same step and list."""
    made, spans = compacted()
    made.view(spans)
    page = step(client, made, 2, show="changes")
    (notice,) = [one for one in page.all("div") if "data-live" in one]
    assert (notice["data-live"], notice["data-steps"]) == (made.url("/fresh"), "3")
    assert client.get(notice["data-live"]).json()["steps"] == 3
    (link,) = [one for one in page.all("a") if "data-live-link" in one]
    assert link["href"].startswith(made.url("/steps/2"))
    assert any("js/live" in one.get("src", "") for one in page.all("script"))


def test_a_restart_before_a_step_is_told(client: Client) -> None:
    """With what the log says of it, at the step that followed and at no other; markup in it is text."""
    log = Log().ask("hello").step(input=900).say("Hi.")
    log.feed.append(Note("restart", "new version <b>2</b>"))
    made = log.ask("again").step(input=1000).say("Hi again.").ask("bye").step(input=1100).save()
    made.view([])
    told = [step(client, made, number).text for number in (1, 2, 3)]
    assert ["Signs of a restart before this step" in text for text in told] == [False, True, False]
    assert "before this step: new version <b>2</b>." in told[1]


def test_under_a_policy_the_page_says_that_it_is_counterfactual(client: Client) -> None:
    """Reported figures belong to the session as it went, and the title does not claim that the model saw it."""
    made = Log().ask("go").step(input=5_000).save()
    made.view([], name="keep-all")
    page = step(client, made, 1, view="keep-all")
    assert "What keep-all would have sent" in page.text
    assert "input as it went 5k reported" in page.text
    assert "counterfactual on a fixed transcript" in page.text


def test_an_item_in_the_address_is_found_wherever_it_stood(client: Client) -> None:
    """In context: selected, in the middle of its neighbours. Left out: its fold opens. Later: the page says so."""
    log = (
        Log()
        .ask("go")
        .repeat(100, lambda log, n: log.step(input=n + 1).call("read", f"f{n}").result(f"text {n}"))
    )
    made = log.step(input=9).save()
    made.view([Span(0, 99, *SUMMARISED, 60)])
    shown = step(client, made, 101, item=120)
    assert any(name.endswith(" sel") for name in rows(shown))
    assert shown.all("div", id="b120")[0]["hx-trigger"] == "load"
    gone = step(client, made, 101, item=50)
    assert [
        values
        for _, values in gone.elements
        if values.get("hx-trigger") == "load" and "/run?" in values["hx-get"]
    ]
    assert "Item #150 was not yet in memory at this step." in step(client, made, 10, item=150).text


def test_the_list_goes_on_by_key(client: Client) -> None:
    """`show earlier items` leads to the rows before; together they are the whole context."""
    made = (
        Log()
        .ask("go")
        .repeat(100, lambda log, n: log.step(input=n + 1).say(f"word {n}"))
        .step(input=1)
        .save()
    )
    made.view([])
    first = step(client, made, 101)
    assert len([name for name in rows(first) if "kept" in name]) == 60
    address = next(values["href"] for _, values in first.elements if "before=" in values.get("href", ""))
    second = read(client.get(address))
    assert "word 10" in second.text
    assert "show later items" in second.text


@pytest.mark.parametrize(
    "query",
    ["before=-1", "before=x", "item=9999999999999999999999", "show=%00", "view=", "before=0", "item=", "x=1"],
)
def test_nonsense_in_the_address_is_ignored(client: Client, query: str) -> None:
    """A shared link that was cut or mistyped still shows the step."""
    made, spans = compacted()
    made.view(spans)
    read(client.get(made.url(f"/steps/2?{query}")))
    read(client.get(made.url(f"/steps/2/run?first=1&last=3&{query}")))


@pytest.mark.parametrize(
    "rest",
    [
        "/steps/99", "/steps/0", "/steps/2?view=nosuch", "/steps/2/run", "/steps/99/run?first=0&last=1",
        "/steps/2/copy/nosuch", "/steps/99999999999999999999", "/steps/99/left-out", "/items/99", "/turns/99",
        "/items?id=nosuch",
    ],
)  # fmt: skip
def test_what_does_not_exist_is_404(client: Client, rest: str) -> None:
    """Other sessions' ids, numbers beyond the end, unknown views and formats."""
    made, spans = compacted()
    made.view(spans)
    assert client.get(made.url(rest)).status_code == 404
    assert client.get(f"/sessions/00000000-0000-4000-8000-000000000000{rest}").status_code == 404


@pytest.mark.parametrize(
    "format", ["openai_chat", "openai_responses", "anthropic", "contextlab_events", "json"]
)
def test_a_context_can_be_copied(client: Client, format: str) -> None:
    """What is copied holds what the model saw, and nothing that was left out."""
    made, spans = compacted()
    made.view(spans)
    answer = client.get(made.url(f"/steps/3/copy/{format}"))
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "The port is 8433." in text
    assert "8443" not in text
    assert [json.loads(line) for line in (text.splitlines() if format == "contextlab_events" else [text])]
    assert "attachment" in client.get(made.url(f"/steps/3/copy/{format}?download=1"))["Content-Disposition"]


def test_the_json_copy_says_what_was_left_out(client: Client) -> None:
    """Runs with their verdict and reason stand beside the items."""
    made, spans = compacted()
    made.view(spans)
    found = client.get(made.url("/steps/3/copy/json")).json()
    assert found["left_out"] == [
        {"first_item": 0, "last_item": 5, "verdict": "summarised", "reason": "compacted"}
    ]
    assert [item["verdict"] for item in found["items"]] == ["kept", "kept"]
