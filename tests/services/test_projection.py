"""Views: complete for what is stored, made anew when that changes, written no more than needed."""

import pytest

from contextlab.core import UnknownNameError, builtin, replay, replay_recorded
from contextlab.core.items import KINDS, VERDICTS
from contextlab.services import counting, opening, projection, reports
from contextlab.services.actions import perform
from contextlab.services.chart import BUCKETS, ChartMaker, Point
from contextlab.services.figures import BARS, Figures
from contextlab.services.timelines import load_timeline
from contextlab.store.models import (
    CompactionRecord,
    ContentCount,
    ItemRecord,
    Run,
    Session,
    SpanRecord,
    StepRecord,
    StepReport,
    View,
)
from tests.importers.claude_log import Log, text
from tests.services.doing import everything, import_path, import_well
from tests.services.test_ingest import busy_log

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def session(tmp_path):
    """An imported session of 24 steps with a compaction."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    return import_well(path)


def stored(view):
    rows = StepReport.objects.filter(view=view).order_by("step")
    return [
        (row.step, row.source_items, row.projected_items, row.dropped_items, row.cleared_items, row.projected_tokens,
         row.counted, row.composition, row.head_end, row.tail_start)
        for row in rows
    ]  # fmt: skip


def told(made):
    return [
        (step, one.source_items, one.projected_items, one.dropped_items, one.cleared_items, one.projected_tokens,
         one.token_source == "counted", list(one.composition), one.head_end, one.tail_start)
        for step, one in enumerate(made.reports, 1)
    ]  # fmt: skip


def spans(view):
    columns = ("first_item", "last_item", "verdict", "reason", "first_step", "end_step")
    rows = SpanRecord.objects.filter(view=view).values_list(*columns)
    return {(first, last, VERDICTS[code], *rest) for first, last, code, *rest in rows}


def test_the_recorded_view_is_what_the_core_says(session):
    """Rows are a copy of the core's answer, for every step."""
    from contextlab.adapters.tokens import counter

    made = replay_recorded(load_timeline(session), count=counter().count)
    view = View.objects.get(session=session)
    assert stored(view) == told(made)
    assert spans(view) == {
        (one.first_item, one.last_item, one.verdict, one.reason or "", one.first_step, one.end_step)
        for one in made.spans
    }
    assert (view.kind, view.steps, view.revision, view.stale, view.counted) == (
        "recorded",
        24,
        1,
        False,
        True,
    )


@pytest.mark.parametrize("name", ["keep-all", "last-n", "type-aware", "token-budget"])
def test_a_policy_view_is_made_when_it_is_opened(session, name):
    """The first look queues it, later ones find it ready."""
    from contextlab.adapters.tokens import counter

    view, run = opening.open_view(session, name)
    assert run.state == "queued"
    assert opening.open_view(session, name) == (view, run)
    perform(run)
    again, nothing = opening.open_view(session, name)
    assert (again.pk, nothing) == (view.pk, None)
    made = replay(load_timeline(session), builtin(name), count=counter().count)
    assert stored(again) == told(made)
    run.refresh_from_db()
    assert (run.state, run.done) == ("done", 24)


def test_an_unknown_view_is_named(session):
    """The error lists those that there are."""
    with pytest.raises(UnknownNameError, match="keep-all"):
        opening.open_view(session, "no-such-policy")
    assert set(opening.view_names()) >= {"recorded", "last-n"}


def test_a_policy_view_follows_its_session(session, tmp_path):
    """A log that grew makes it stale; opening it again brings it up to date."""
    _, run = opening.open_view(session, "last-n")
    perform(run)
    log = busy_log(turns=13)
    (tmp_path / "s1.jsonl").write_bytes(log.data)
    grown = import_well(tmp_path / "s1.jsonl")
    _, run = opening.open_view(grown, "last-n")
    assert run is not None
    perform(run)
    view, run = opening.open_view(grown, "last-n")
    assert (view.steps, run) == (grown.steps, None)


def test_a_changed_policy_of_the_package_is_projected_again(session):
    """Its hash tells."""
    _, run = opening.open_view(session, "last-n")
    perform(run)
    View.objects.filter(name="last-n").update(policy_hash="of an older version")
    view, run = opening.open_view(session, "last-n")
    assert run is not None
    assert view.policy_hash == builtin("last-n").hash


def test_growth_writes_only_the_reports_that_changed(tmp_path, monkeypatch):
    """A session of many steps that grew by one turn keeps its rows."""
    monkeypatch.setattr(reports, "BLOCK", 4)
    path = tmp_path / "s1.jsonl"
    lines = busy_log(turns=12).data.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-8]))
    import_well(path)
    before = set(StepReport.objects.values_list("pk", flat=True))
    path.write_bytes(b"".join(lines))
    session = import_well(path)
    after = set(StepReport.objects.values_list("pk", flat=True))
    assert len(after) == session.steps
    assert len(before & after) >= len(before) - 4
    grown = everything(session)
    View.objects.all().delete()
    perform(opening.request(session, opening.recorded_views([session])[session.pk]))
    assert everything(Session.objects.get())["recorded reports"] == grown["recorded reports"]
    assert everything(Session.objects.get())["recorded spans"] == grown["recorded spans"]


def test_a_projection_that_is_cut_off_is_made_whole_by_the_next(session, monkeypatch):
    """Rows and their digests are written together, whatever happens between two batches."""
    expected = everything(session)
    monkeypatch.setattr(reports, "BLOCK", 2)
    monkeypatch.setattr(reports, "BATCH", 5)
    view = View.objects.get()
    View.objects.update(stale=True)
    StepReport.objects.filter(step__gt=10).update(projected_tokens=1)
    View.objects.update(digests=[])
    StepReport.objects.all().delete()
    SpanRecord.objects.all().delete()
    flush, left = reports.ViewWriter.flush, [3]

    def dying(self, doing="projecting"):
        left[0] -= 1
        if left[0] == 0:
            raise SystemExit
        flush(self, doing)

    monkeypatch.setattr(reports.ViewWriter, "flush", dying)
    with pytest.raises(SystemExit):
        perform(opening.request(session, view))
    assert 0 < StepReport.objects.count() < 24
    monkeypatch.setattr(reports.ViewWriter, "flush", flush)
    perform(opening.request(session, view))
    found = everything(session)
    assert found["recorded reports"] == expected["recorded reports"]
    assert found["recorded spans"] == expected["recorded spans"]


def test_of_two_who_project_one_view_the_second_starts_again(session, monkeypatch):
    """No mixture of two projections is ever stored."""
    view = View.objects.get()
    View.objects.update(stale=True)
    load = projection.load_timeline

    tries = []

    def meanwhile(session):
        timeline = load(session)
        tries.append(1)
        if len(tries) == 1:
            View.objects.update(version=99)
        return timeline

    monkeypatch.setattr(projection, "load_timeline", meanwhile)
    perform(opening.request(session, view))
    view.refresh_from_db()
    assert (len(tries), view.stale) == (2, False)


def test_a_session_that_grew_during_its_projection_stays_stale(session, monkeypatch):
    """Then the view is not what is stored, and says so."""
    load = projection.load_timeline

    def meanwhile(session):
        timeline = load(session)
        Session.objects.update(items=session.items + 1)
        return timeline

    monkeypatch.setattr(projection, "load_timeline", meanwhile)
    perform(opening.request(session, View.objects.get()))
    assert View.objects.get().stale


def test_counts_are_made_once_per_content(session, tmp_path):
    """A second session with the same texts finds its counts in the table."""
    known = ContentCount.objects.count()
    assert 0 < known <= session.items
    assert not ItemRecord.objects.filter(tokens=None).exists()
    log = busy_log(session="s2")
    path = tmp_path / "s2.jsonl"
    path.write_bytes(log.data.replace(b"of s2", b"of s1"))
    import_well(path)
    assert ContentCount.objects.count() == known


def test_a_count_is_the_tokenizers(session):
    """Of a call its name and arguments are counted, of all else the text."""
    from contextlab.adapters.tokens import counter
    from tests.services.doing import texts

    words = texts(session)
    for row in ItemRecord.objects.filter(session=session):
        text = f"{row.tool}{words[row.position]}" if KINDS[row.kind] == "tool_call" else words[row.position]
        assert row.tokens == counter().count(text)


def test_counting_in_small_batches_counts_the_same(session, monkeypatch):
    """Memory does not grow with the session, the result does not change."""
    expected = list(ItemRecord.objects.order_by("position").values_list("tokens", flat=True))
    ItemRecord.objects.update(tokens=None)
    ContentCount.objects.all().delete()
    Session.objects.update(counted=False)
    monkeypatch.setattr(counting, "BATCH", 7)
    monkeypatch.setattr(counting, "BATCH_BYTES", 300)
    perform(counting.request(session.file))
    assert list(ItemRecord.objects.order_by("position").values_list("tokens", flat=True)) == expected


def test_a_large_log_is_shown_with_estimates_and_counted_by_a_run_of_its_own(tmp_path, monkeypatch):
    """What is little is counted at once."""
    monkeypatch.setattr(counting, "SMALL", 100)
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log(turns=2).data)
    import_path(path)
    assert View.objects.get().chart["token_source"] == "estimated"
    perform(Run.objects.get(kind="count"))
    assert View.objects.get().chart["token_source"] == "counted"
    assert Session.objects.get().counted


def test_a_compaction_says_how_many_items_it_summarised(session):
    """Known once the view is projected."""
    row = CompactionRecord.objects.get()
    assert row.items_summarised == row.upto
    marks = View.objects.get().chart["marks"]
    assert marks == [
        {
            "step": row.at_step,
            "kind": "compaction",
            "number": 1,
            "pre": 155000,
            "post": 5103,
            "trigger": "auto",
        }
    ]


def test_a_limit_that_an_accepted_prompt_disproves_is_unknown(tmp_path):
    """No invented percentage: the tokens, and no limit, for all steps of that model."""
    log = Log()
    for number, tokens in enumerate((177_000, 219_313)):
        log.user(f"prompt {number}")
        log.answer(f"m{number}", text("ok"), usage={"input_tokens": tokens, "output_tokens": 1})
    path = tmp_path / "s1.jsonl"
    path.write_bytes(log.data)
    session = import_well(path)
    assert (session.peak_tokens, session.limit, session.fill_percent) == (219_313, None, None)
    assert [bucket["limit"] for bucket in View.objects.get().chart["buckets"]] == [None, None]


def test_a_restart_of_the_client_is_a_mark_on_the_chart(tmp_path):
    """Where the log says that a new version began, the step that follows carries it and the chart marks it."""
    log = busy_log()
    log.user("Back again", version="2.1.30")
    log.answer("back", text("Hello again."), version="2.1.30")
    path = tmp_path / "s1.jsonl"
    path.write_bytes(log.data)
    import_well(path)
    last = StepRecord.objects.order_by("number").last()
    assert (last.native_id, last.restart) == ("back", "new version 2.1.30")
    assert StepRecord.objects.exclude(restart="").count() == 1
    marks = [mark for mark in View.objects.get().chart["marks"] if mark["kind"] == "restart"]
    assert [(mark["step"], mark["trigger"]) for mark in marks] == [(last.number, "new version 2.1.30")]


def test_a_chart_has_at_most_1200_buckets_each_the_largest_of_its_steps():
    """A bucket is one real step, never a mixture."""
    maker = ChartMaker(5000)
    for step in range(1, 5001):
        total = step * 7919 % 1000
        maker.add(Point(step, (total,), total, None, None, 1000))
    chart = maker.chart([], counted=True)
    assert len(chart["buckets"]) <= BUCKETS
    assert (chart["buckets"][0]["from"], chart["buckets"][-1]["to"]) == (1, 5000)
    for bucket in chart["buckets"]:
        steps = range(bucket["from"], bucket["to"] + 1)
        assert bucket["step"] in steps
        assert bucket["total"] == max(step * 7919 % 1000 for step in steps)


def test_a_sparkline_has_at_most_45_bars_and_keeps_the_peak():
    """Reported and counted figures are never mixed in it."""
    from contextlab.core.report import Report

    figures = Figures()
    for step in range(1000):
        report = Report(projected_tokens=10**6, reported_input_tokens=step if step % 3 else None)
        figures.add(report, 2000)
    fields = figures.fields([500])
    assert len(fields["sparkline"]) == BARS
    assert max(bar for bar, _ in fields["sparkline"]) == fields["peak_tokens"] == 998
    assert [mark for _, mark in fields["sparkline"]].count(1) == 1
    assert (fields["peak_source"], fields["fill_percent"]) == ("reported", 49.9)
