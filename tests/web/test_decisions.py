"""The decision log of a policy that compacts by itself."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from contextlab.core.replaying.decisions import OUTCOMES
from contextlab.store.figures import pack_figures
from contextlab.store.models import View
from contextlab.store.models.policies import PolicyDecisions
from contextlab.web.decision_words import MEANINGS, WORDS
from tests.services.compaction.test_decisions import RULES
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log
from tests.services.test_policies import made as policy_made
from tests.services.test_policies import view_of
from tests.web.pages import read
from tests.web.test_hostile import PAYLOADS

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def session(tmp_path: Any) -> Any:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    session = import_well(path)
    policy_made("rules", **RULES)
    view_of(session, "rules")
    return session


def test_every_step_with_its_figures(client: Client, session: Any) -> None:
    """Where it fired and where it was evaluated and did not: rule, figure, threshold; step by step on request."""
    at = f"/sessions/{session.uid}/decisions"
    assert read(client.get(f"/sessions/{session.uid}?view=rules")).all("a", href=f"{at}?view=rules")
    page = read(client.get(f"{at}?view=rules"))
    assert "items > 9" in page.text
    assert "not due" in page.text
    assert page.all("span", class_="v summarised")
    assert f"all {session.steps}" in page.text
    (steps, *_) = [one["hx-get"] for one in page.all("div") if "/decisions/steps" in one.get("hx-get", "")]
    assert "of 9" in read(client.get(steps)).text
    only = read(client.get(f"{at}?view=rules&outcome=made"))
    assert "step by step" not in only.text
    assert "None of these" in read(client.get(f"{at}?view=rules&outcome=made&from=99999")).text
    assert client.get(f"{at}/steps?view=rules").status_code == 404
    step = read(client.get(f"/sessions/{session.uid}/steps/1?view=rules"))
    assert "compaction not due: items > 9, measured" in step.text
    assert step.all("a", href=f"{at}?from=1&view=rules")


def test_a_pause_names_the_part_that_is_too_big(client: Client, session: Any) -> None:
    """In a notice above the list and beside the pause; hostile texts stay texts."""
    view = View.objects.get(session=session, name="rules")
    for number, text in enumerate(["the result of read_log (58,000 tokens)", *PAYLOADS]):
        PolicyDecisions.objects.create(
            view=view, first_step=900 + number, last_step=900 + number, outcome="paused",
            reason=f"no_use: {text}"[:200],
            rule=text[:60], threshold=5,
        )  # fmt: skip
    page = read(client.get(f"/sessions/{session.uid}/decisions?view=rules"))
    assert "Paused: something is too big. The result of read_log (58,000 tokens)." in page.text
    assert page.all("a", href="?view=rules&outcome=paused")
    assert "the last three were of too little use" in page.text


def test_a_long_log_is_paged(client: Client, session: Any) -> None:
    """A hundred rows, then the next page by its step."""
    view = View.objects.get(session=session, name="rules")
    PolicyDecisions.objects.bulk_create(
        PolicyDecisions(
            view=view, first_step=step, last_step=step, outcome="noop", reason="no_gain", rule="r"
        )
        for step in range(1000, 1400)
    )
    at = f"/sessions/{session.uid}/decisions"
    (more,) = read(client.get(f"{at}?view=rules&outcome=noop&from=1000")).all("a", data_key="n")
    assert more["href"] == "?view=rules&outcome=noop&from=1100"
    read(client.get(at + more["href"]))


def test_what_has_no_log_says_so(client: Client, session: Any) -> None:
    """The recorded view, and a policy that never compacts."""
    at = f"/sessions/{session.uid}/decisions"
    assert "The log does not say" in read(client.get(at)).text
    view_of(session, "last-n")
    assert "never compacts" in read(client.get(f"{at}?view=last-n")).text
    assert client.get(f"{at}?view=nobody").status_code == 404


def test_every_outcome_has_its_words() -> None:
    """None is shown as a code."""
    assert set(WORDS) == set(MEANINGS) == set(OUTCOMES)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("tokens >= 60,000", "61,234 counted"),
        ("estimated tokens > 60,000", "61,234 estimated"),
        ("messages >= 100 or estimated tokens >= 60,000", "61,234 estimated"),
        ("messages >= 60,000 or estimated tokens >= 90,000", "61,234"),
        ("items > 60,000", "61,234"),
    ],
)
def test_what_a_rule_measured_says_where_it_is_from(
    client: Client, session: Any, rule: str, said: str
) -> None:
    """Tokens are counted or estimated, as the view or the rule has it; a number of things needs no such word."""
    view = View.objects.get(session=session, name="rules")
    View.objects.filter(pk=view.pk).update(counted=True)
    PolicyDecisions.objects.create(
        view=view, first_step=900, last_step=900, outcome="made", rule=rule, threshold=60_000,
        lowest=61_234, highest=61_234, estimates=pack_figures([61_234]),
    )  # fmt: skip
    at = f"/sessions/{session.uid}/decisions"
    assert f"{said} 60,000" in read(client.get(f"{at}?view=rules&from=900")).text
    assert f"{said} of 60,000" in read(client.get(f"{at}/steps?view=rules&first=900&last=900")).text
