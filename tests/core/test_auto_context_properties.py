"""What holds for every memory that is compressed automatically, whatever the strategies find in it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core.auto_context.tags import offload_of
from contextlab.core.compaction import Deps, Outcome, Snapshot
from contextlab.core.errors import CompactError
from contextlab.core.items import Item, Kind, Verdict
from contextlab.core.offload import InMemoryOffloadStore
from contextlab.core.policies.auto_context import AutoContext
from contextlab.core.projection import Source
from contextlab.core.projectors.auto_context import AutoContextView
from contextlab.core.protocol import ExportItem, export
from contextlab.core.testing import ScriptedModel
from tests.core.auto_context_memories import Maker
from tests.core.plugins import examples

SEEDS = st.integers(0, 2**32)
MODEL_FREE = {"LARGE_MESSAGE_OFFLOAD_WITH_PROTECTION", "LARGE_MESSAGE_OFFLOAD"}


def repairs(items: Sequence[Item]) -> set[str]:
    """What a provider would refuse about the items."""
    sent = [
        ExportItem(
            item.id,
            item.kind,
            item.text,
            item.entry,
            tool=item.tool,
            call_id=item.call_id,
            injected=item.injected,
        )
        for item in items
    ]
    # Nothing here is signed, and how much of it is left out is no matter of pairs.
    return {repair for repair in export(sent, "anthropic").repairs if "not signed" not in repair}


def chain(maker: Maker, items: tuple[Item, ...], model: ScriptedModel, most: int = 40) -> list[Outcome]:
    """Compress until nothing is done any more; the outcomes that did something."""
    policy, memory, outcomes = AutoContext(maker.options()), Snapshot(items), []
    for _ in range(most):
        outcome = policy.compact(memory, Deps(model=model))
        if not outcome.compacted:
            return outcomes
        assert outcome.memory is not None
        memory = outcome.memory
        outcomes.append(outcome)
    raise AssertionError("it never comes to rest")


def expanded(items: Sequence[Item], store: InMemoryOffloadStore) -> list[Item]:
    """A memory with everything that was put aside fetched back."""
    back: list[Item] = []
    for item in items:
        name = offload_of(item.text)
        originals = () if name is None else store.get(name)
        if not originals:
            back.append(item)
            continue
        whole = expanded(originals, store)
        # A round is put aside with its question, which also stands in memory, in front of the summary.
        question = expanded(originals[:1], store)
        stands = item.kind == Kind.SUMMARY and back and back[-len(question) :] == question
        back += whole[len(question) :] if stands else whole
    return back


@given(SEEDS)
@examples(100)
def test_a_valid_memory_stays_valid(seed: int) -> None:
    """No strategy separates a call from its result or leaves reasoning that leads nowhere."""
    maker = Maker(seed)
    items = maker.memory()
    before = repairs(items)
    for outcome in chain(maker, items, maker.model()):
        assert outcome.memory is not None
        assert repairs(outcome.memory.items) <= before


@given(SEEDS)
@examples(100)
def test_reloading_gives_every_original_back(seed: int) -> None:
    """What the tags name, fetched back at their places, is the memory that was given, byte by byte."""
    maker = Maker(seed)
    items = maker.memory()
    given_as = copy.deepcopy(items)
    store = InMemoryOffloadStore()
    for outcome in chain(maker, items, maker.model()):
        for offload in outcome.offloads:
            assert not store.get(offload.id), "an id is never used twice"
            store.put(offload)
        assert outcome.memory is not None
        assert tuple(expanded(outcome.memory.items, store)) == given_as
    assert items == given_as


@given(SEEDS)
@examples(60)
def test_every_change_makes_the_context_smaller(seed: int) -> None:
    """What a strategy did not gain is undone: a model that only adds words changes nothing."""
    maker = Maker(seed)
    items = maker.memory()
    for outcome in chain(maker, items, maker.model(size=maker.random.choice((1, 10, 400)))):
        for event in outcome.events:
            assert (event.tokens_after or 0) < (event.tokens_before or 0)
    wordy = ScriptedModel.saying(["word " * 100_000] * 60)
    for outcome in chain(maker, items, wordy):
        assert {event.kind for event in outcome.events} <= MODEL_FREE


@given(SEEDS)
@examples(60)
def test_nothing_is_summarised_twice(seed: int) -> None:
    """An item goes into a summary once; what strategy 6 wrote is carried on word for word."""
    maker = Maker(seed)
    items = maker.memory()
    model, covered = maker.model(), set()
    for outcome in chain(maker, items, model):
        assert covered.isdisjoint(outcome.covered)
        covered |= set(outcome.covered)
        assert outcome.memory is not None
        assert covered.isdisjoint(item.id for item in outcome.memory.items)


@given(SEEDS)
@examples(60)
def test_what_must_stay_stays(seed: int) -> None:
    """System items, pins with their pairs and a person's words are never put aside without a question that stays."""
    maker = Maker(seed)
    items = maker.memory()
    pinned = [item for item in items if item.pinned or item.kind == Kind.SYSTEM]
    for outcome in chain(maker, items, maker.model()):
        assert outcome.memory is not None
        assert [item for item in outcome.memory.items if item in pinned] == pinned


@given(SEEDS, st.integers(0, 5))
@examples(60)
def test_a_failure_leaves_nothing_behind(seed: int, call: int) -> None:
    """An error of the model is raised, and the same call succeeds later as if it had not been tried."""
    maker = Maker(seed)
    snapshot = Snapshot(maker.memory())
    given_as = copy.deepcopy(snapshot)
    policy = AutoContext(maker.options())
    with suppress(CompactError):
        policy.compact(snapshot, Deps(model=maker.model(fails_at=call)))
    assert snapshot == given_as
    once = policy.compact(snapshot, Deps(model=maker.model()))
    assert once == policy.compact(snapshot, Deps(model=maker.model()))


@given(SEEDS)
@examples(60)
def test_the_outcome_accounts_for_every_item(seed: int) -> None:
    """Each item has one verdict; what stands in memory, and what was put aside, agree with it."""
    maker = Maker(seed)
    items = maker.memory()
    outcome = AutoContext(maker.options()).compact(Snapshot(items), Deps(model=maker.model()))
    assert set(outcome.fates) == {item.id for item in items}
    if outcome.memory is None or outcome.result is None or outcome.result.report is None:
        return
    left = {item.id: item for item in outcome.memory.items}
    for item in items:
        verdict = outcome.fates[item.id].verdict
        assert (verdict == Verdict.SUMMARISED) == (item.id not in left) == (item.id in outcome.covered)
        assert (verdict == Verdict.OFFLOADED) == (item.id in left and left[item.id] != item)
    report = outcome.result.report
    assert report.summarised_items == len(outcome.covered)
    assert report.source_items == len(items)


@given(SEEDS)
@examples(60)
def test_the_view_needs_no_model_and_changes_nothing_twice(seed: int) -> None:
    """The projection leaves every item at its place, is the same each time, and projected again is itself."""
    maker = Maker(seed)
    items = maker.memory()
    given_as = copy.deepcopy(items)
    projector = AutoContextView(maker.options())
    seen = projector.project(Source.of(items))
    assert items == given_as
    assert [item.id for item in seen.items] == [item.id for item in items]
    assert repairs(seen.items) <= repairs(items)
    for item, shown, fate in zip(items, seen.items, seen.fates, strict=True):
        assert (fate.verdict == Verdict.OFFLOADED) == (shown.text != item.text)
    assert seen.report.offloaded_items == sum(fate.verdict == Verdict.OFFLOADED for fate in seen.fates)
    assert projector.project(Source.of(items)).items == seen.items
    assert [item.text for item in projector.project(Source.of(seen.items)).items] == [
        i.text for i in seen.items
    ]


@pytest.mark.parametrize("mode", ["safe", "reference"])
def test_an_empty_memory_is_left_alone(mode: str) -> None:
    """Nothing to compress is no error, even when it is forced."""
    policy = AutoContext.from_options({}, mode)
    assert not policy.compact(Snapshot(), Deps(force=True)).compacted
