"""GET /api/sessions/{id}/reconciliation/ and /api/calibration/."""

from __future__ import annotations

from contextlab.store.models import StepReport
from tests.api.conftest import Api
from tests.web.made import Log


def test_a_sheet_adds_up(api: Api) -> None:
    """Calibrated, base, images and rest are what was reported; a jump is a finding of its step."""
    log = Log().ask("go").step(input=10_000).say("one").ask("more").step(input=10_100).say("two").ask("again")
    made = log.step(input=19_000).say("three").step().save()
    view = made.view([])
    for number, calibrated in ((1, 1_000), (2, 1_090), (3, 1_200)):
        StepReport.objects.filter(view=view, step=number).update(calibrated_tokens=calibrated, band=0.06)
    base = f"sessions/{made.session.uid}/"
    found = api.get(base + "reconciliation/")
    assert (found["steps"], found["reported"], found["segments"], found["compared"]) == (4, 3, 1, 2)
    for sheet in found["results"][:3]:
        assert sheet["calibrated"] + sheet["base"] + sheet["images"] + sheet["rest"] == sheet["reported"]
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
    assert api.get("calibration/") == {"results": []}
