"""The decision log of a session under a policy: where a compaction fired, where it did not, and why."""

import pytest

from contextlab.core.compaction import Decision
from contextlab.core.replaying.decisions import DecisionLog
from contextlab.queries.decisions import decision_at, decision_log, decisions_of
from contextlab.services.decisions import write_decisions
from contextlab.store.figures import pack_figures, unpack_figures
from contextlab.store.models.policies import PolicyDecisions
from tests.services.test_policies import made, view_of

pytestmark = [pytest.mark.django_db, pytest.mark.database]

RULES = {"compaction": {"kind": "rule_based", "keep_recent": 2}, "trigger": {"kind": "items", "max_items": 9}}


def test_every_step_of_a_view_has_its_decision(session):
    """Fired or not, with rule, threshold and estimate; the totals are those of the steps."""
    made("rules", **RULES)
    view = view_of(session, "rules")
    lines = decisions_of(view.pk, 1, session.steps)
    assert [line.step for line in lines] == list(range(1, session.steps + 1))
    assert {(line.rule, line.threshold) for line in lines} == {("items > 9", 9)}
    assert all((line.estimate > 9) == (line.outcome != "not_due") for line in lines)
    fired = [line.step for line in lines if line.outcome == "made"]
    assert fired == [fire.step for fire in view.fires.filter(made=True).order_by("step")]
    log = decision_log(view.pk)
    assert log.steps["made"] == len(fired) > 1
    assert sum(log.steps.values()) == session.steps
    assert [one.first_step for one in decision_log(view.pk, ["made"]).ranges] == fired
    assert decision_at(view.pk, fired[0]) == lines[fired[0] - 1]
    assert decision_at(view.pk, session.steps + 1) is None


def test_a_view_that_is_made_again_has_one_log(session):
    """A policy that was changed is evaluated anew; nothing of the old log is left."""
    from contextlab.services import policies

    policy = made("rules", **RULES)
    view = view_of(session, "rules")
    before = decision_log(view.pk).steps
    text = policy.text.replace('"max_items": 9', '"max_items": 10000')
    policies.save(policy, text, policy.version)
    assert view_of(session, "rules").pk == view.pk
    assert decision_log(view.pk).steps == {"not_due": session.steps} != before


def test_views_without_a_compaction_have_no_log(session):
    """The recorded view and a policy that only projects."""
    for name in ("recorded", "last-n"):
        assert decision_log(view_of(session, name).pk).total == 0


def test_a_long_session_is_a_few_rows(session):
    """20,000 steps that never fired: 20 rows, a few bytes for each figure, and each is there again."""
    view = view_of(session, "last-n")
    log = DecisionLog()
    figures = [step * 137 % 90_000 for step in range(1, 20_001)]
    for step, figure in enumerate(figures, 1):
        log.add(step, Decision(False, "tokens >= 98,304", figure, 98_304), "not_due")
    write_decisions([(view, log.runs)])
    rows = PolicyDecisions.objects.filter(view=view)
    assert rows.count() == 20
    assert sum(len(row.estimates) for row in rows) < 20_000
    assert [line.estimate for line in decisions_of(view.pk, 12_345, 12_444)] == figures[12_344:12_444]


@pytest.mark.parametrize("figures", [[], [0], [5, -1, 2**40, 3], list(range(1000))])
def test_figures_come_back_as_they_were(figures):
    """Also unknown ones and large ones."""
    assert unpack_figures(pack_figures(figures)) == figures
