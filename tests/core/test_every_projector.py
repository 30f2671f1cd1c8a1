"""What holds for every registered projector, whatever its options and the memory: invariants 1 to 12.

Those that only budgets have (13, 14, idempotence) stand in test_projection.py.
"""

from __future__ import annotations

import copy
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from contextlab.core import (
    Budget,
    Item,
    Kind,
    LiveItem,
    Placeholder,
    Projection,
    Verdict,
    export,
    faults_of,
    project,
)
from contextlab.core.agent.live import export_items
from contextlab.core.errors import InvalidProjection
from contextlab.core.items import LEFT_OUT
from contextlab.core.projection import (
    NONE,
    Budgeted,
    Projector,
    is_answer,
    is_prompt,
    last_index,
    pair_up,
)
from contextlab.core.registry import PROJECTORS
from tests.core.memories import random_memory
from tests.core.plugins import examples, random_plugin

SEEDS = st.integers(0, 2**32 - 1)
WIRES = ("openai_chat", "openai_responses", "anthropic")
LABELS = ("stood in for the missing result", "labelled a result")
every = pytest.mark.parametrize("kind", PROJECTORS.names())
promise = examples(30)


def memory(seed: int) -> list[Item]:
    """A memory whose reasoning has what a provider wants to see again."""
    items: list[Item] = random_memory(seed)
    for index, item in enumerate(items):
        if item.kind == Kind.REASONING and seed % 2:
            items[index] = LiveItem(
                item.id,
                item.kind,
                item.text,
                item.entry,
                pinned=item.pinned,
                provider_id=f"rs_{index}",
                secret="s",
            )
    return items


def seen(kind: str, seed: int) -> tuple[list[Item], Projector, Projection]:
    """A memory, a projector of the kind with random options, and what it shows."""
    items, projector = memory(seed), random_plugin("projector", kind, seed)
    return items, projector, shown(items, projector)


def shown(items: list[Item], projector: Projector) -> Projection:
    """What a projector shows. One with a compressor refuses a memory whose calls and results are out of order."""
    try:
        return project(items, projector)
    except InvalidProjection:
        assert any(getattr(part, "context_compressor", None) is not None for part in parts(projector))
        raise UnsatisfiedAssumption from None


def lacking(items: list[Item]) -> set[str]:
    """Ids of the calls without a result and the results without a call."""
    tools = (Kind.TOOL_CALL, Kind.TOOL_RESULT)
    pairs = zip(items, pair_up(items), strict=True)
    return {item.id for item, partner in pairs if partner == NONE and item.kind in tools}


def parts(projector: Projector) -> list[Projector]:
    """The projector, or the stages of which it is made."""
    stages = getattr(projector, "stages", None)
    return [projector] if stages is None else [part for stage in stages for part in parts(stage)]


def unguarded(projector: Projector) -> bool:
    """Whether somebody switched the pair guard off."""
    return any(
        not (part.as_budget().pair_guard if isinstance(part, Budgeted) else getattr(part, "pair_guard", True))
        for part in parts(projector)
    )


def empties(projector: Projector) -> bool:
    """Whether a limit of 0 takes everything."""
    return any(isinstance(part, Budgeted) and part.as_budget().max_items == 0 for part in parts(projector))


@every
@promise
@given(seed=SEEDS)
def test_01_and_11_the_source_is_untouched_and_answers_are_repeatable(kind: str, seed: int) -> None:
    """Projecting changes no item, and the same memory gives the same answer from the same or another instance."""
    items, projector, one = seen(kind, seed)
    assert items == memory(seed)
    assert project(copy.deepcopy(items), projector) == one
    assert project(items, random_plugin("projector", kind, seed)) == one


@every
@promise
@given(seed=SEEDS)
def test_02_what_is_seen_are_the_items_in_order(kind: str, seed: int) -> None:
    """Items of memory in their order, each once; what is none of them is a stand-in of one, or a summary."""
    items, _, one = seen(kind, seed)
    places = [place for place in one.sources if place != NONE]
    assert all(before < after for before, after in pairwise(places))
    for place, item in zip(one.sources, one.items, strict=True):
        if place == NONE:
            assert item.kind not in (Kind.SYSTEM, Kind.UI)
            # A compressor may hand back what it was given, shortened: the item itself is then not seen.
            assert item.id not in {items[other].id for other in places}
        elif isinstance(item, Placeholder):
            assert item.original is items[place]
        else:
            assert item.id == items[place].id


@every
@promise
@given(seed=SEEDS)
def test_03_to_06_every_copy_is_valid_and_invents_nothing(kind: str, seed: int) -> None:
    """Valid for three providers; a label stands only where the source itself lacks something."""
    items, projector, one = seen(kind, seed)
    for wire in WIRES:
        made = export(export_items(items, one), wire)
        assert faults_of(made.document, wire) == []
        if not unguarded(projector):
            labelled = [repair for repair in made.repairs if repair.startswith(LABELS)]
            assert {repair.rpartition(" ")[2] for repair in labelled} <= lacking(items)
        prompt = last_index(items, is_prompt)
        if prompt != NONE and items[prompt].text.strip():
            assert _has(made.document, items[prompt].text)


@every
@promise
@given(seed=SEEDS)
def test_07_pins_stand_as_they_are_once(kind: str, seed: int) -> None:
    """System items and a person's pins are seen, word for word; only a limit of 0 items takes them."""
    items, projector, one = seen(kind, seed)
    if empties(projector):
        return
    shown = [(item.id, item.text) for item in one.items]
    for item, fate in zip(items, one.fates, strict=True):
        if item.pinned or item.kind == Kind.SYSTEM:
            assert shown.count((item.id, item.text)) == 1
            assert fate.verdict == Verdict.PINNED


@every
@promise
@given(seed=SEEDS)
def test_08_unread_results_keep_their_calls(kind: str, seed: int) -> None:
    """Of a result that nobody has read yet call and result are both seen, or neither."""
    items, projector, one = seen(kind, seed)
    if unguarded(projector) or empties(projector):
        return
    start, read, places = last_index(items, is_prompt), last_index(items, is_answer), set(one.sources)
    for call, result in enumerate(pair_up(items)):
        if result > call > start and result > read:
            assert (call in places) == (result in places)


@every
@promise
@given(seed=SEEDS)
def test_09_too_large_is_said(kind: str, seed: int) -> None:
    """What does exactly a budget says so where it could not keep to it."""
    _, projector, one = seen(kind, seed)
    if isinstance(projector, Budgeted):
        budget: Budget = projector.as_budget()
        sizes = (one.report.projected_entries, one.report.projected_chars, one.report.projected_tokens or 0)
        limits = (budget.max_items, budget.max_approx_chars, budget.max_tokens)
        over = any(limit is not None and size > limit for limit, size in zip(limits, sizes, strict=True))
        assert one.report.over_budget == over


@every
@promise
@given(seed=SEEDS)
def test_10_sums_add_up(kind: str, seed: int) -> None:
    """Each item has one fate; the report's figures are those of the fates and of what is shown; a reason for each."""
    items, _, one = seen(kind, seed)
    verdicts, report = [fate.verdict for fate in one.fates], one.report
    assert len(verdicts) == len(items)
    left = [place for place, verdict in enumerate(verdicts) if verdict not in LEFT_OUT]
    assert [place for place in one.sources if place != NONE] == left
    added = one.sources.count(NONE)
    assert report.source_items == len(items) - report.summarised_items
    assert report.projected_items - added + report.dropped_items == report.source_items
    assert report.dropped_items == verdicts.count(Verdict.DROPPED)
    assert report.summarised_items == verdicts.count(Verdict.SUMMARISED)
    assert report.pinned_items == verdicts.count(Verdict.PINNED)
    assert report.cleared_items == verdicts.count(Verdict.CLEARED) <= len(one.items)
    assert report.projected_chars == sum(item.chars for item in one.items)
    assert all(fate.reason is not None for fate in one.fates if fate.verdict != Verdict.KEPT)


@every
@promise
@given(seed=SEEDS)
def test_12_a_valid_memory_stays_valid_for_every_kind(kind: str, seed: int) -> None:
    """Where no call lacks its result, no copy needs a label, whatever the options."""
    gone = lacking(memory(seed))
    items = [item for item in memory(seed) if item.id not in gone]
    projector = random_plugin("projector", kind, seed)
    if unguarded(projector):
        return
    made = export(export_items(items, shown(items, projector)), "openai_chat")
    assert [repair for repair in made.repairs if repair.startswith(LABELS)] == []


def _has(document: Any, text: str) -> bool:
    return json.dumps(text.strip())[1:-1].strip() in json.dumps(document)
