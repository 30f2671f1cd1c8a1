"""Lists that read windows agree with the plainest reading of all spans."""

from __future__ import annotations

import random

import pytest

from contextlab.core.items import Kind, Reason, Verdict
from contextlab.core.spans import Span
from contextlab.queries import context as contexts
from contextlab.queries import step as steps
from contextlab.queries.changes import changes
from contextlab.queries.context import Fold, Gap
from contextlab.queries.fates import is_left_out
from contextlab.queries.scope import Reading
from contextlab.queries.shares import all_shares, shares
from tests.web.made import Log

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def scope_at(made, view, number):
    return steps.scope_at(steps.Seen(made.session.id, 1, view.id, recorded=True), number)


def long_log(steps_made: int):
    log = Log().item(Kind.SYSTEM, "You are an agent.")
    for number in range(steps_made):
        if number % 7 == 0:
            log.ask(f"question {number}")
        log.step(input=1000 + number).think("hm").call("read", f'{{"path": "f{number}.py"}}').result(
            f"text {number} " * 9
        )
    return log


def random_spans(seed: int, items: int, steps_made: int, first_steps) -> list[Span]:
    """Spans that never overlap: each item has a chain of fates of its own, or shares it with a block."""
    pick, spans, position = random.Random(seed), [], 0
    choices = [
        (Verdict.DROPPED, Reason.MAX_ITEMS), (Verdict.CLEARED, Reason.TIER1), (Verdict.SUMMARISED, Reason.COMPACTED),
        (Verdict.REASONING_CLEARED, Reason.PROVIDER_STRIPS), (Verdict.PINNED, Reason.PINNED_PREFIX), None,
    ]  # fmt: skip
    while position < items:
        last = min(items - 1, position + pick.choice([0, 0, 1, 2, 30]))
        start = first_steps[last]
        while start <= steps_made:
            end = start + pick.randint(1, 12)
            what = pick.choice(choices)
            if what:
                spans.append(Span(position, last, *what, start, end if end <= steps_made else None))
            start = end
        position = last + 1
    return spans


@pytest.mark.parametrize("small_gap", [0, 10, 1000])
@pytest.mark.parametrize("seed", range(6))
def test_the_windows_of_a_step_name_every_item_once_with_its_fate(seed, small_gap, monkeypatch):
    """Walking back by `before` shows each item in context exactly once, and each left out one in one fold."""
    monkeypatch.setattr(steps, "SMALL_GAP", small_gap)
    made = long_log(40).save()
    firsts = [row.first_step for row in made.rows]
    spans = random_spans(seed, len(firsts), 40, firsts)
    view = made.view(spans)
    for number in (1, 13, 27, 40):
        scope = scope_at(made, view, number)
        seen = walk(scope)
        expected = {at: made.fate(spans, at, number)[:2] for at in range(scope.upto)}
        assert seen == expected


def walk(scope) -> dict[int, tuple]:
    """Every position with its verdict and reason, as the list says it when every gap is followed."""
    seen: dict[int, tuple] = {}
    asked, waiting = {None}, [None]
    while waiting:
        for entry in contexts.context_list(Reading(scope), waiting.pop(), rows=11):
            if isinstance(entry, Gap):
                if entry.before not in asked:
                    asked.add(entry.before)
                    waiting.append(entry.before)
                continue
            for position, what in unfolded(scope, entry):
                assert seen.setdefault(position, what) == what
    return seen


def unfolded(scope, entry) -> list[tuple[int, tuple]]:
    if not isinstance(entry, Fold):
        assert not is_left_out(entry.verdict, entry.reason) or entry.reason == Reason.PROVIDER_STRIPS
        return [(entry.item.position, (entry.verdict, entry.reason))]
    rows = contexts.fold_rows(scope, entry.first, entry.last, 10_000)
    assert [row.item.position for row in rows] == list(range(entry.first, entry.last + 1))
    if len(entry.reasons) == 1:
        assert {(row.verdict, row.reason) for row in rows} == {(entry.verdict, entry.reasons[0])}
    return [(row.item.position, (row.verdict, row.reason)) for row in rows]


@pytest.mark.parametrize("seed", range(4))
def test_changes_are_what_a_comparison_of_all_items_finds(seed):
    """Every item whose verdict differs from the step before is in the changes, with both verdicts."""
    made = long_log(30).save()
    spans = random_spans(seed + 50, len(made.rows), 30, [row.first_step for row in made.rows])
    view = made.view(spans)
    for number in (2, 9, 17, 30):
        scope = scope_at(made, view, number)
        found = changes(scope)
        listed = {
            position: (run.was, run.verdict)
            for run in found.runs
            for position in range(run.first, run.last + 1)
        }
        expected = {}
        for at in range(scope.previous_upto):
            was, now = made.fate(spans, at, number - 1)[:2], made.fate(spans, at, number)[:2]
            if (was[0], is_left_out(*was)) != (now[0], is_left_out(*now)):
                expected[at] = (was[0], now[0])
        assert listed == expected
        assert (found.entered_first, found.entered_end) == (made.steps[number - 2].upto, scope.upto)


def test_an_old_item_that_a_rewind_brings_back_is_a_change():
    """However far from the newest items it stands."""
    made = long_log(700).save()
    view = made.view([Span(1, 1, Verdict.DROPPED, Reason.ABANDONED_BRANCH, 300, 650)])
    (run,) = changes(scope_at(made, view, 650)).runs
    assert (run.first, run.last, run.kind, run.was, run.verdict) == (
        1,
        1,
        "returned",
        Verdict.DROPPED,
        Verdict.KEPT,
    )


def test_shares_add_up_to_every_item_with_a_span():
    """Items by verdict and reason agree with the aggregate over all spans."""
    made = long_log(30).save()
    spans = random_spans(3, len(made.rows), 30, [row.first_step for row in made.rows])
    scope = scope_at(made, made.view(spans), 30)
    quick = {(share.verdict, share.reason): share.items for share in shares(Reading(scope))}
    assert quick == {(share.verdict, share.reason): share.items for share in all_shares(scope)}
    assert sum(quick.values()) == sum(made.fate(spans, at, 30)[0] != Verdict.KEPT for at in range(scope.upto))


def test_the_filters_show_what_their_names_say():
    """`cleared` lists every stub and nothing else, `left-out` every item that is not in the context."""
    made = long_log(30).save()
    spans = random_spans(5, len(made.rows), 30, [row.first_step for row in made.rows])
    scope = scope_at(made, made.view(spans), 30)
    fates_now = {at: made.fate(spans, at, 30)[:2] for at in range(scope.upto)}
    stubs, before = set(), None
    while True:
        entries = contexts.cleared_list(Reading(scope), before, rows=7)
        stubs |= {entry.item.position for entry in entries if not isinstance(entry, Gap)}
        if not entries or not isinstance(entries[0], Gap):
            break
        before = entries[0].before
    assert stubs == {at for at, what in fates_now.items() if what[0] in CLEARED and not is_left_out(*what)}
    gone = set()
    for entry in contexts.left_out_list(Reading(scope), rows=10_000):
        gone |= set(range(entry.first, entry.last + 1)) if isinstance(entry, Fold) else {entry.item.position}
    assert gone == {at for at, what in fates_now.items() if is_left_out(*what)}


CLEARED = (Verdict.CLEARED, Verdict.REASONING_CLEARED, Verdict.OFFLOADED)
