"""What holds for every compaction, whatever the memory, the registered policy and the model: invariants 15 to 21.

test_live_session.py has the same over whole lives of a session.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core import Item, Kind, PolicyError, faults_of
from contextlab.core.committing.commit import faults_of_outcome, with_open_prompt
from contextlab.core.compaction import CompactPolicy, Deps, Outcome, Snapshot
from contextlab.core.errors import CompactError
from contextlab.core.items import estimate_tokens
from contextlab.core.language_model import ModelError
from contextlab.core.memory import SUMMARY_ID, AgentMemory
from contextlab.core.offload import InMemoryOffloadStore, Offload
from contextlab.core.registry import POLICIES
from contextlab.core.session import AgentSession
from contextlab.core.summarising.cut import open_prompt
from contextlab.core.summarising.file_tracking import files_of
from contextlab.core.testing import CountingIds, ScriptedModel
from tests.core.memories import random_memory, random_policy
from tests.core.plugins import examples, random_plugin

SEEDS = st.integers(0, 10**6)
WIRES = ("openai_chat", "openai_responses", "anthropic")
many = examples(150)


def policy_of(seed: int) -> CompactPolicy:
    """A policy in safe mode: any that is registered with options as they come, or one with limits that matter."""
    if seed % 3:
        policy: CompactPolicy = random_plugin(
            "compaction", random.Random(seed).choice(POLICIES.names()), seed
        )
        return policy
    kind, options = random_policy(seed)
    return POLICIES.get(kind).from_options(options, "safe")


def session_of(seed: int, model: ScriptedModel) -> AgentSession:
    """A session with a random memory and a random policy."""
    summary = random.Random(seed).choice((None, "## Goal\nold"))
    memory = AgentMemory(random_memory(seed), summary)
    deps = Deps(model=model, new_id=CountingIds(), offloads=InMemoryOffloadStore())
    return AgentSession(policy=policy_of(seed), deps=deps, memory=memory)


def by_hand(session: AgentSession) -> Outcome | None:
    """Compact; the outcome where memory was replaced."""
    try:
        done = session.compact(session.policy)
    except CompactError:
        return None
    return done.outcome if done.compacted else None


def ids(items: Sequence[Item]) -> list[str]:
    """Ids of items."""
    return [item.id for item in items]


@many
@given(SEEDS)
def test_15_what_is_committed_is_valid_and_smaller(seed: int) -> None:
    """A commit leaves a text, every pin as it was, the open prompt, whole pairs, valid messages, fewer tokens."""
    session = session_of(seed, ScriptedModel())
    before = session.snapshot()
    done = None
    try:
        done = session.compact(session.policy)
    except CompactError:
        assert session.snapshot() == before
    if done is not None and done.compacted:
        after = {item.id: item for item in session.memory.items}
        assert session.memory.summary or not before.summary
        assert all(after[item.id] == item for item in before.items if item.pinned or item.kind == Kind.SYSTEM)
        assert open_prompt(before.items) in (None, *after)
        assert done.tokens_before is not None
        assert done.tokens_after is not None
        assert done.tokens_after < done.tokens_before
    for format in WIRES:
        session.policy = None
        assert faults_of(session.next_context(format).document, format) == []


@many
@given(SEEDS, st.sampled_from([ModelError("overloaded", "529"), RuntimeError("boom"), " "]))
def test_16_a_failure_leaves_everything_as_it_was(seed: int, answer: Exception | str) -> None:
    """A model that fails costs no item and no version; the automatic path goes on, by hand it is told."""
    session = session_of(seed, ScriptedModel([answer] * 9))
    version, before = session.memory.version, session.snapshot()
    context = session.next_context()
    if context.compaction is not None and context.compaction.state == "failed":
        assert (session.memory.version, session.snapshot()) == (version, before)
        with pytest.raises(CompactError):
            session.compact(session.policy)
        assert (session.memory.version, session.snapshot()) == (version, before)


@many
@given(SEEDS)
def test_17_every_item_is_kept_or_covered_and_what_came_meanwhile_follows(seed: int) -> None:
    """Kept and covered items together are the memory that was read; items added meanwhile stand behind them."""

    class Slow(ScriptedModel):
        def complete(self, *args: object, **options: object):  # type: ignore[no-untyped-def]
            session.add(Item(f"late{len(self.calls)}", Kind.USER, "meanwhile"))
            return super().complete(*args, **options)  # type: ignore[arg-type]

    model = Slow()
    session = session_of(seed, model)
    before = session.snapshot()
    outcome = by_hand(session)
    if outcome is None:
        return
    late = [f"late{number}" for number in range(len(model.calls))]
    after = ids(session.memory.items)
    assert after[len(after) - len(late) :] == late
    read = set(ids(before.items))
    kept = [name for name in after[: len(after) - len(late)] if name in read]
    assert sorted([*kept, *outcome.covered]) == sorted(ids(before.items))
    assert kept == [name for name in ids(before.items) if name in set(kept)]
    assert set(outcome.fates) == set(ids(before.items))


@many
@given(SEEDS)
def test_the_report_has_the_sizes_of_both_memories(seed: int) -> None:
    """Items, characters and tokens before and after, summaries included, whatever the policy."""
    session = session_of(seed, ScriptedModel(["a summary"] * 20))
    before = session.snapshot()
    outcome = by_hand(session)
    report = outcome.result.report if outcome is not None and outcome.result is not None else None
    if report is None:
        return
    after = session.snapshot()
    gone = report.summarised_items + report.dropped_items
    assert report.source_items - gone == sum(item.id in set(ids(before.items)) for item in after.items)
    assert report.projected_items == len(after.items)
    sizes = (report.source_chars, report.source_tokens, report.projected_chars, report.projected_tokens)
    assert sizes == (*size_of(before), *size_of(after))


def size_of(memory: Snapshot) -> tuple[int, int]:
    """Characters and tokens (no counter is set: estimated)."""
    texts = [*(item.text for item in memory.items), memory.summary or ""]
    estimated = sum(estimate_tokens(item.text, item.tool) for item in memory.items if item.tokens is None)
    counted = sum(item.tokens for item in memory.items if item.tokens is not None)
    return sum(map(len, texts)), estimated + counted + estimate_tokens(memory.summary or "")


@many
@given(SEEDS, st.integers(2, 5))
def test_18_after_any_number_of_rounds_there_is_one_summary(seed: int, rounds: int) -> None:
    """Nothing is summarised twice, nothing is lost, a pin stands once, and one summary stands in the prompt."""
    session = session_of(seed, ScriptedModel())
    everything, covered = ids(session.memory.items), []
    for number in range(rounds):
        if (outcome := by_hand(session)) is not None:
            covered += outcome.covered
        for item in random_memory(seed + number + 1, 2):
            item.id, item.entry = f"{number}{item.id}", f"{number}{item.entry}"
            item.call_id = item.call_id and f"{number}{item.call_id}"
            session.add(item)
            everything.append(item.id)
    stand = [*ids(session.memory.items), *covered]
    assert len(stand) == len(set(stand))
    assert set(everything) <= set(stand)
    assert ids(session.memory.prompt_items()).count(SUMMARY_ID) <= 1
    assert (session.memory.summary or "").count("AI4J_COMPACT_SUMMARY") <= 1


@many
@given(SEEDS)
def test_19_what_was_put_aside_comes_back_as_it_was(seed: int) -> None:
    """A reload gives the originals, and forgets them when told to."""
    items, store = tuple(random_memory(seed)), InMemoryOffloadStore()
    store.put(Offload("a", items))
    assert store.get("a") == tuple(copy.deepcopy(items))
    store.clear("a")
    assert store.get("a") == ()


@many
@given(SEEDS)
def test_20_file_lists_are_scanned_not_believed(seed: int) -> None:
    """Whatever a model writes of files, the lists hold what the calls name."""
    session = session_of(seed, ScriptedModel(['{"goal": "g", "read_files": ["/made/up"]}'] * 9))
    before = session.snapshot()
    outcome = by_hand(session)
    if outcome is not None and outcome.result is not None and outcome.result.method == "model":
        gone = files_of([item for item in before.items if item.id in outcome.covered])
        assert sorted(outcome.result.read_files) == sorted(gone.read)
        assert sorted(outcome.result.modified_files) == sorted(gone.modified)


@many
@given(SEEDS)
def test_21_at_most_three_runs_in_a_row_without_use(seed: int) -> None:
    """While memory hardly grows, a policy that never gets below its threshold is tried three times."""
    session = session_of(seed, ScriptedModel())
    runs = useless = 0
    for number in range(8):
        session.add(Item(f"n{number}", Kind.USER, ""))
        compaction = session.next_context().compaction
        if compaction is not None and compaction.tokens_before is not None:
            runs += 1
        useless = max(useless, session.auto.useless.failures)
    assert useless <= 3
    assert runs <= 8
    if useless == 3:
        last = session.next_context().compaction
        assert last is None or last.tokens_before is None


@pytest.mark.parametrize("kind", POLICIES.names())
@pytest.mark.parametrize("force", [True, False])
def test_every_policy_keeps_the_contract(kind: str, force: bool) -> None:
    """A policy changes nothing that it is given, says what becomes of each item, and gives the same for the same."""
    try:
        policy = POLICIES.get(kind).from_options({}, "safe")
    except PolicyError as error:
        pytest.skip(f"needs options: {error}")
    for seed in range(60):
        items = tuple(random_memory(seed, 20))
        snapshot, before = Snapshot(items, "old"), copy.deepcopy(items)
        outcomes = []
        for _ in range(2):
            deps = Deps(
                model=ScriptedModel(), new_id=CountingIds(), offloads=InMemoryOffloadStore(), force=force
            )
            try:
                outcomes.append(with_open_prompt(snapshot, policy.compact(snapshot, deps)))
            except CompactError as error:
                outcomes.append(Outcome(reason=str(error), fates=dict.fromkeys(ids(items))))  # type: ignore[arg-type]
        assert items == before
        assert outcomes[0] == outcomes[1]
        assert set(outcomes[0].fates) == set(ids(items))
        if outcomes[0].result is not None:
            assert faults_of_outcome(snapshot, outcomes[0], deps) == []
