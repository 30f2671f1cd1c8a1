"""GET /api/sessions/{id}/cache/ and /waste/."""

from __future__ import annotations

import pytest

from contextlab.core.items import Kind, Reason, Verdict
from contextlab.core.spans import Span
from contextlab.queries.kept import Kept
from contextlab.store.models import SpanRecord, View
from tests.api.conftest import Api
from tests.web.made import Log, Made


@pytest.fixture
def paid(db: None) -> Made:
    """Four steps of a model with a price: a hit, a clearing that breaks the prefix, a compaction."""
    log = (
        Log()
        .ask("go")
        .step(input=10, cache_write=20_000, output=50)
        .call("read", "a.py")
        .result("alpha_beta " * 60)
    )
    log.step(input=10, cache_read=20_000, cache_write=500, output=50).call("read", "a.py").result(
        "alpha_beta " * 60
    )
    log.step(input=10, cache_read=3_000, cache_write=19_000, output=50).say("done").compaction("they went")
    made = log.ask("more").step(input=10, cache_write=9_000, output=50).say("bye").save()
    made.view(
        [
            Span(2, 2, Verdict.CLEARED, Reason.MICRO_COMPACTED, 3, 4),
            Span(0, 5, Verdict.SUMMARISED, Reason.COMPACTED, 4),
        ]
    )
    return made


def test_each_step_says_what_its_cache_did(api: Api, paid: Made) -> None:
    """First, a hit, broken by a clearing at its item, broken by the compaction; money by the list."""
    found = api.get(f"sessions/{paid.session.uid}/cache/")
    told = [(step["state"], step["cause"], step["breaks_at"]) for step in found["results"]]
    assert told == [
        ("first", None, None),
        ("hit", None, None),
        ("changed", "cleared", 2),
        ("changed", "compacted", 0),
    ]
    assert found["results"][1]["read"] == 20_000
    assert found["totals"]["cost"] == pytest.approx(sum(step["cost"] for step in found["results"]))
    assert found["totals"]["cost"] < found["totals"]["without_cache"] * 1.3
    assert found["prices"]["claude-opus-4-5"]["list"].startswith("genai-prices")
    [compaction] = found["compactions"]
    assert (compaction["at_step"], compaction["before"], compaction["after"]) == (4, 22_010, 9_010)
    assert compaction["break_even"] > 0
    turn = api.get(f"sessions/{paid.session.uid}/cache/", turn=2)
    assert (turn["totals"]["steps"], [step["step"] for step in turn["results"]]) == (1, [4])


def test_new_system_text_breaks_the_prefix(api: Api) -> None:
    """Told with its step."""
    log = Log().item(Kind.SYSTEM, "be brief").ask("go").step(input=5, cache_write=9_000).say("ok")
    made = log.item(Kind.SYSTEM, "be long").step(input=5, cache_write=9_100).say("ok").save()
    made.view([Span(0, 0, Verdict.DROPPED, Reason.CONTEXT_CLEARED, 2)])
    step = api.get(f"sessions/{made.session.uid}/cache/")["results"][1]
    assert (step["state"], step["cause"]) == ("changed", "system_text")


def test_no_usage_and_no_price_are_unknown(api: Api) -> None:
    """null, never 0."""
    made = Log().ask("go").step().say("x").save()
    made.view([])
    found = api.get(f"sessions/{made.session.uid}/cache/")
    assert (found["totals"]["cost"], found["totals"]["read"], found["results"][0]["state"]) == (
        None,
        None,
        "unknown",
    )


def test_waste_is_listed_largest_first(api: Api, paid: Made) -> None:
    """Carried items, the result that came twice, the call that was made twice, results nobody came back to."""
    found = api.get(f"sessions/{paid.session.uid}/waste/")
    sizes = [one["token_steps"] for one in found["largest"]]
    assert sizes == sorted(sizes, reverse=True)
    assert found["token_steps"] >= sum(sizes) > 0
    assert [one["position"] for one in found["reread"]] == [1]
    assert {one["position"] for one in found["unused"]} <= {2, 4}
    assert found["unused_known"]


def test_waste_without_a_view_is_not_there_yet(api: Api) -> None:
    """404 with words."""
    made = Log().ask("go").step().save()
    assert "recorded view" in api.error(f"sessions/{made.session.uid}/waste/", 404)["message"]


def test_what_is_kept_in_memory_is_never_old(api: Api, paid: Made) -> None:
    """A view that was made anew is worked out anew; the same one is not."""
    address = f"sessions/{paid.session.uid}/waste/"
    before = api.get(address)["token_steps"]
    View.objects.update(version=1)
    SpanRecord.objects.all().delete()
    assert api.get(address)["token_steps"] > before
    assert api.get(address, first=1) == api.get(address)


def test_of_many_sessions_the_newest_are_kept(paid: Made) -> None:
    """The memory that is taken is bounded by steps."""
    kept: Kept[int] = Kept(paid.session.steps)
    made: list[int] = []
    other = Log().ask("go").step().save().session
    for session in (paid.session, other, paid.session):
        kept.get(session, None, lambda: made.append(1) or len(made))  # type: ignore[func-returns-value]
    assert len(made) == 3
    kept.get(paid.session, None, lambda: 9)
    assert kept.get(paid.session, None, lambda: 9) == 3
