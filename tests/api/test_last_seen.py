"""GET /api/sessions/{id}/last-seen/ and /api/search/: where a text stands, when the model had it, could it know."""

from __future__ import annotations

from typing import Any

from contextlab.core.items import Reason, Verdict
from contextlab.core.spans import Span
from contextlab.services import last_seen
from contextlab.services.actions import perform
from tests.api.conftest import Api
from tests.web.made import Log, Made


def short(found: list[dict[str, Any]]) -> list[tuple[int, int, str]]:
    """Bands in short."""
    return [(band["first"], band["end"], band["seen"]) for band in found]


def test_the_bands_of_a_result(api: Api, base: str) -> None:
    """Verbatim, a stub, then summarised without it."""
    found = api.get(base + "last-seen/", q="1 failed")
    assert short(found["bands"]) == [(1, 2, "none"), (2, 3, "verbatim"), (3, 4, "stub"), (4, 5, "none")]
    assert (found["last_step"], found["complete"], found["hits_total"]) == (2, True, 1)
    hit = found["hits"][0]
    assert (hit["position"], hit["kind"], hit["snippet"]["found"]) == (3, "tool_result", "1 failed")
    assert found["at_step"] is None


def test_could_the_model_know(api: Api, base: str) -> None:
    """Yes with the item that tells; no with what became of it, and when it was there last."""
    yes = api.get(base + "last-seen/", q="1 failed", step=2)["at_step"]
    assert (yes["answer"], yes["hit"]["position"]) == ("yes", 3)
    stub = api.get(base + "last-seen/", q="1 failed", step=3)["at_step"]
    assert (stub["answer"], stub["seen"], stub["last_step"]) == ("no", "stub", 2)
    gone = api.get(base + "last-seen/", q="1 failed", step=4)["at_step"]
    assert (gone["answer"], gone["seen"], gone["last_step"]) == ("no", "none", 2)
    assert "step 2" in gone["why"]
    never = api.get(base + "last-seen/", q="zebra", step=4)["at_step"]
    assert (never["answer"], never["last_step"], never["hit"]) == ("no", None, None)
    summary = api.get(base + "last-seen/", q="they fixed it", step=4)["at_step"]
    assert (summary["answer"], summary["seen"]) == ("yes", "summary")


def test_a_value_that_the_summary_changed_is_said(api: Api) -> None:
    """8443 became 8433: no, and what stands in its place."""
    made = changed_by_a_summary()
    found = api.get(f"sessions/{made.session.uid}/last-seen/", q="port 8443", step=2)
    assert (found["changed"], found["at_step"]["answer"]) == ("port 8433", "no")
    assert found["at_step"]["seen"] == "changed"
    assert "port 8433" in found["at_step"]["why"]


def changed_by_a_summary(**compaction: Any) -> Made:
    """A session whose compaction says another port, or says nothing that can be read."""
    log = Log().ask("use port 8443").step().say("ok")
    log.compaction("" if compaction else "they use port 8433", **compaction)
    made = log.ask("go on").step().say("done").save()
    made.view([Span(0, 1, Verdict.SUMMARISED, Reason.COMPACTED, 2)])
    return made


def test_a_sealed_summary_is_no_no(api: Api) -> None:
    """What is encrypted nobody can read: unknown."""
    made = changed_by_a_summary(opaque=True)
    found = api.get(f"sessions/{made.session.uid}/last-seen/", q="port 8443", step=2)["at_step"]
    assert (found["answer"], found["seen"]) == ("unknown", "sealed")


def test_all_sessions(api: Api, made: Made) -> None:
    """Hits of several sessions, newest first, each with its own bands; what is not indexed is counted."""
    other = Log().ask("it failed again").step().save()
    assert api.get("search/", q="failed")["unindexed_sessions"] == 2
    (run,) = last_seen.missing()
    perform(run)
    found = api.get("search/", q="failed")
    assert found["unindexed_sessions"] == 0
    assert {one["session"] for one in found["results"]} == {str(made.session.uid), str(other.session.uid)}
    bands = next(one["hit"]["bands"] for one in found["results"] if one["session"] == str(made.session.uid))
    assert short(bands)[:2] == [(2, 3, "verbatim"), (3, 4, "stub")]


def test_bad_questions_are_told(api: Api, base: str) -> None:
    """No word, too long, no such step: an error with its place, never a 500."""
    assert api.error(base + "last-seen/", 400)["place"] == "query: q"
    assert "letter or a digit" in api.error(base + "last-seen/", 400, q="=>")["message"]
    assert api.error("search/", 400, q="x" * 2_000)["place"] == "query: q"
    assert api.error(base + "last-seen/", 404, q="a", step=99)["place"] == "query: step"
    for odd in ('"', "a' OR 1", "a:*", "NOT x", "a NEAR b", "(", "a & b | !c", "col : x"):
        api.read(api.client.get("/api/search/", {"q": odd + " word"}), 200)
