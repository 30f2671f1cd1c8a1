"""A branch under a policy: the rest of the log on top of the memory that a compaction made."""

from itertools import pairwise

import pytest

from contextlab.core.errors import UnknownNameError
from contextlab.core.items import Verdict
from contextlab.queries import fates
from contextlab.queries.fires import summary_before
from contextlab.queries.session import find_view
from contextlab.queries.views import can_open, find_layer, hash_of, layers, views_of
from contextlab.services import compaction, opening, reports
from contextlab.services.actions import perform
from contextlab.services.compaction.memory import read_memory
from contextlab.store.models import StepRecord, StepReport, View
from tests.importers.claude_log import text
from tests.services.compaction.doing import STRUCTURED, asked, done
from tests.services.compaction.test_agreeing import RULES
from tests.services.doing import everything, import_well
from tests.services.test_ingest import busy_log

pytestmark = [pytest.mark.django_db, pytest.mark.database]

AT = 10


@pytest.fixture
def session(path):
    session = import_well(path)
    job = done(asked(session, policy=RULES, before_step=AT))
    assert job.run.state == "done"
    return session


def opened(session, name):
    """The view, made."""
    _, run = opening.open_view(session, name)
    if run is not None:
        perform(run)
        run.refresh_from_db()
        assert (run.state, run.error) == ("done", "")
    return View.objects.get(session=session, name=name)


def kept_at(view, step, upto):
    """Positions of which something stands in the context."""
    out = [fate for fate in fates.oldest_fates(view.pk, step, 0, upto, limit=10_000) if fate.left_out]
    gone = {place for fate in out for place in range(fate.first, fate.last + 1)}
    return [place for place in range(upto) if place not in gone]


def test_the_rest_of_the_log_stands_on_the_branchs_memory(session):
    """At the step what the branch holds, behind it also what the log went on with; the log's own view stays."""
    before = everything(session)
    view = opened(session, "branch-1:keep-all")
    held = compaction.memory_of(session, "branch-1")
    inside = sorted(held.positions[item.id] for item in held.snapshot.items)
    assert kept_at(view, AT, held.upto) == inside
    found = StepReport.objects.filter(view=view).order_by("step")
    assert [one.step for one in found] == list(range(AT, session.steps + 1))
    assert found[0].source_items == len(inside)
    assert all(later.source_items > one.source_items for one, later in pairwise(found))
    assert {one.summarised_items for one in found} == {held.upto - len(inside)}
    now = everything(session)
    assert {name: now[name] for name in before if name not in ("StepReport", "SpanRecord", "View")} == {
        name: before[name] for name in before if name not in ("StepReport", "SpanRecord", "View")
    }


def test_the_compactions_of_the_log_behind_it_did_not_happen(session):
    """Nothing is summarised but by the branch, and the log's own summary is out."""
    view = opened(session, "branch-1:keep-all")
    at_end = fates.oldest_fates(view.pk, session.steps, 0, session.items, limit=10_000)
    held = compaction.memory_of(session, "branch-1")
    assert all(fate.last < held.upto for fate in at_end if fate.verdict == Verdict.SUMMARISED)
    assert "log_summary" in {fate.reason for fate in at_end}


def test_the_summary_that_stands_in_it(session):
    """The branch's summary stands in the view's memory from its step on, as a mark and as text."""
    view = opened(session, "branch-1:keep-all")
    held = compaction.memory_of(session, "branch-1")
    found = summary_before(view.pk, session.steps)
    assert (found.step, found.made, found.summary) == (AT, True, held.snapshot.summary)
    assert summary_before(view.pk, AT - 1) is None
    assert [mark["step"] for mark in view.chart["marks"] if mark["kind"] == "compaction"] == [AT]
    assert [bucket["step"] for bucket in view.chart["buckets"]] == list(range(1, session.steps + 1))


def test_what_it_shares_is_read_from_the_view_that_was_left(session):
    """Steps before are the log's own, step by step; the branch's name alone opens no page."""
    view = opened(session, "branch-1:keep-all")
    line = find_view(session, view.name)
    assert find_layer(session, line, AT).name == "branch-1:keep-all"
    assert find_layer(session, line, AT - 1).name == "recorded"
    branch = session.views.get(name="branch-1")
    assert [first for _, first in layers(branch.pk)] == [AT, 1]
    assert not can_open(session, "branch-1")
    assert can_open(session, "branch-1:last-n")
    assert not can_open(session, "branch-2:last-n")
    assert [(one.name, one.base, one.base_step) for one in views_of(session)] == [
        ("recorded", None, None),
        ("branch-1", "recorded", AT),
        ("branch-1:keep-all", "branch-1", AT),
    ]


def test_another_memory_is_another_view(session):
    """After a restore the view is made again from the memory that is in force."""
    first = opened(session, "branch-1:keep-all")
    known = hash_of(session, first.name)
    compaction.restore(session.views.get(name="branch-1"), 1)
    assert hash_of(session, first.name) != known
    view = opened(session, "branch-1:keep-all")
    assert view.pk == first.pk
    assert StepReport.objects.get(view=view, step=AT).summarised_items == 0
    assert StepReport.objects.filter(view=view).count() == session.steps - AT + 1


def test_a_policy_goes_on_compacting_on_top(session):
    """Its trigger is evaluated on the branch's memory."""
    from tests.services.test_policies import made

    made(
        "rules",
        compaction={"kind": "rule_based", "keep_recent": 2},
        trigger={"kind": "items", "max_items": 9},
    )
    view = opened(session, "branch-1:rules")
    assert view.fires.filter(made=True).count() > 1
    assert view.decisions.order_by("first_step").first().first_step == AT


def test_it_grows_with_the_log(path, monkeypatch):
    """What the agent says next stands on top of it as well, and no step is written twice."""
    monkeypatch.setattr(reports, "BLOCK", 4)
    session = import_well(path)
    done(asked(session, policy=RULES, before_step=AT))
    opened(session, "branch-1:keep-all")
    log = busy_log()
    log.user("and now something else")
    log.answer("m99", text("gladly"), stop="end_turn")
    path.write_bytes(log.data)
    grown = import_well(path)
    view = opened(grown, "branch-1:keep-all")
    steps = list(StepReport.objects.filter(view=view).order_by("step").values_list("step", flat=True))
    assert steps == list(range(AT, grown.steps + 1))


def test_a_branch_at_the_end_waits_for_the_log(path):
    """Made after the last step it has no step of its own until the log goes on."""
    session = import_well(path)
    done(asked(session, policy=RULES))
    view = opened(session, "branch-1:keep-all")
    assert StepReport.objects.filter(view=view).count() == 0
    log = busy_log()
    log.user("go on")
    log.answer("m99", text("gladly"), stop="end_turn")
    path.write_bytes(log.data)
    grown = import_well(path)
    view = opened(grown, "branch-1:keep-all")
    assert StepReport.objects.get(view=view).step == session.steps + 1


def test_what_there_is_not(session):
    """An unknown policy, an unknown branch."""
    for name in ("branch-1:nobody", "branch-9:keep-all", "branch-1"):
        with pytest.raises(UnknownNameError):
            opening.open_view(session, name)


def shown(session):
    """Positions that the branch shows as standing in its memory, and its report."""
    branch = session.views.get(name="branch-1")
    held = compaction.memory_of(session, "branch-1")
    report = StepReport.objects.get(view=branch)
    inside = sorted(held.positions[item.id] for item in held.snapshot.items)
    return kept_at(branch, branch.base_step, held.upto), inside, report


def test_a_branch_shows_the_memory_that_is_in_force(session):
    """After one more compaction, after a restore, and after a restore of that: its fates and its report."""
    branch = session.views.get(name="branch-1")
    for change in (None, "compact", 1, 2, 3):
        if change == "compact":
            free = STRUCTURED | {"require_gain": False}
            again = asked(session, policy=free, view="branch-1", keep_recent=1)
            assert done(again).run.state == "done"
        elif change is not None:
            compaction.restore(branch, change)
        kept, inside, report = shown(session)
        assert kept == inside
        assert report.projected_items == len(inside)


def test_what_came_before_the_branch_was_made_is_all_it_has_seen(path):
    """The prompt that the log goes on with is an item behind the memory, not one that its summary stands for."""
    session = import_well(path)
    done(asked(session, policy=RULES))
    upto = compaction.memory_of(session, "branch-1").upto
    log = busy_log()
    log.user("go on")
    log.answer("m99", text("gladly"), stop="end_turn")
    path.write_bytes(log.data)
    grown = import_well(path)
    held = compaction.memory_of(grown, "branch-1")
    assert held.upto == upto
    report = StepReport.objects.get(view=opened(grown, "branch-1:keep-all"))
    assert report.source_items == len(held.snapshot.items) + 1


def test_the_memory_of_a_policys_view(session):
    """What a limit only hides from the model is in memory; what its own compaction took stands in its summary."""
    from tests.services.test_policies import made

    opened(session, "last-n")
    whole = read_memory(session, session.views.get(name="last-n"), 20)
    assert len(whole.snapshot.items) == whole.upto - 1  # without the log's own summary
    made(
        "rules",
        compaction={"kind": "rule_based", "keep_recent": 2},
        trigger={"kind": "items", "max_items": 9},
    )
    view = opened(session, "rules")
    held = read_memory(session, view, 20)
    assert held.snapshot.summary == summary_before(view.pk, 20).summary
    assert len(held.snapshot.items) < 15
    job = done(asked(session, policy=RULES, view="rules", before_step=20, keep_recent=1))
    assert job.run.state in ("done", "noop")


def test_a_compaction_on_top_of_a_branch(session):
    """The rest of the log under a policy can be compacted again, and what it shares can be, too."""
    view = opened(session, "branch-1:keep-all")
    held = read_memory(session, view, session.steps)
    assert held.snapshot.summary == compaction.memory_of(session, "branch-1").snapshot.summary
    before, recorded = (
        read_memory(session, one, AT - 1) for one in (view, session.views.get(name="recorded"))
    )
    assert before.snapshot == recorded.snapshot
    job = done(asked(session, policy=RULES, view=view.name, before_step=session.steps))
    assert job.run.state == "done"
    assert session.views.get(name="branch-2").base == view


@pytest.mark.parametrize("step", [AT - 1, AT, AT + 1])
def test_its_pages_can_be_opened(client, session, step):
    """The step pages on both sides of the branch, with their lists; the session, its turns, chart and map."""
    opened(session, "branch-1:keep-all")
    at, view = f"/sessions/{session.uid}", "?view=branch-1:keep-all"
    turn = StepRecord.objects.get(session=session, number=step).turn
    pages = ("", "/steps", f"/steps/{step}", f"/turns/{turn}", "/chart.json", "/map.json", "/items/3")
    found = {
        page: client.get(f"{at}{page}{view}").status_code for page in (*pages, f"/steps/{step}/left-out")
    }
    assert set(found.values()) == {200}, found
    shown = client.get(f"{at}/steps/{step}{view}").content.decode()
    assert ("goes on from the memory of branch-1" in shown) == (step == AT)
