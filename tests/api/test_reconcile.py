"""GET /api/sessions/{id}/reconciliation/ and /api/calibration/."""

from __future__ import annotations

from typing import Any

from contextlab.store.models import StepReport
from tests.api.conftest import Api
from tests.web.made import Log


def test_a_sheet_adds_up(api: Api) -> None:
    """All parts together are what was reported; hidden reasoning is one of them; a jump is a finding of its step."""
    log = Log().ask("go").step(input=10_000).say("one").ask("more").step(input=10_100).say("two").ask("again")
    made = log.step(input=19_000).say("three").step().save()
    view = made.view([])
    for number, calibrated in ((1, 1_000), (2, 1_090), (3, 1_200)):
        StepReport.objects.filter(view=view, step=number).update(
            calibrated_tokens=calibrated, band=0.06, reasoning_tokens=300
        )
    base = f"sessions/{made.session.uid}/"
    found = api.get(base + "reconciliation/")
    assert (found["steps"], found["reported"], found["segments"], found["compared"]) == (4, 3, 1, 2)
    for sheet in found["results"][:3]:
        parts = ("calibrated", "reasoning", "base", "images", "outside", "rest")
        assert sum(sheet[part] for part in parts) == sheet["reported"]
        assert sheet["reasoning"] == 300
    assert found["results"][3]["rest"] is None
    assert [(one["step"], one["unexplained"]) for one in found["unexplained"]] == [(3, "entered_unseen")]
    assert api.get(base + "steps/2/reconciliation/")["base"] == 9_000
    assert api.error(base + "steps/99/reconciliation/", 404)["code"]


def test_no_usage_no_figures(api: Api) -> None:
    """Nothing reported: null, never 0."""
    made = Log().ask("go").step().say("x").save()
    made.view([])
    found = api.get(f"sessions/{made.session.uid}/reconciliation/")
    assert (found["reported"], found["error_p50"], found["results"][0]["base"]) == (0, None, None)


def test_calibrations_of_an_empty_workspace(api: Api) -> None:
    """An empty list, no error."""
    assert api.get("calibration/") == {"fitted": True, "waiting": 0, "results": []}


def test_the_switch_between_fits_and_the_table(api: Api) -> None:
    """Said back; what is neither true nor false is refused with its place, and nothing is changed."""

    def put(body: object, status: int = 200) -> dict[str, Any]:
        answer = api.client.put("/api/calibration/", body, content_type="application/json")
        return api.read(answer, status)

    assert put({"fitted": False})["fitted"] is False
    for wrong in ({"fitted": "no"}, {}, []):
        assert put(wrong, 400)["error"]["place"] == "body: fitted"
    assert api.get("calibration/")["fitted"] is False
    assert put({"fitted": True})["fitted"] is True
