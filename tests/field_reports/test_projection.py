"""Reports about what a limit took: pairs torn apart, reasoning left alone, thinking that was altered."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import pytest

from contextlab.core import Budget, Context, Kind, LiveItem, Projection, Reason, Source, faults_of
from contextlab.core.projecting.draft import Draft
from contextlab.core.projecting.pair_guard import guard_pairs
from contextlab.core.projection import Projector
from contextlab.core.projectors.type_aware import TypeAwareProjector

from .memories import entries, memory_of, session_of, whole
from .reports import expected, given

NAMES = {
    "maxItems": "max_items",
    "maxApproxChars": "max_approx_chars",
    "trimOldReasoning": "trim_old_reasoning",
    "dropUnansweredCalls": "drop_unanswered_calls",
}


class WithoutRoles:
    """A projector such as people write: it leaves out results, and lets the guard repair the rest."""

    kind: ClassVar[str] = "without_roles"

    @classmethod
    def from_options(cls, options: Any, mode: str) -> Self:
        return cls()

    def project(self, source: Source) -> Projection:
        draft = Draft.start(source, Budget())
        for index, item in enumerate(source.items):
            if item.kind == Kind.TOOL_RESULT:
                draft.drop(index, Reason.MAX_ITEMS)
        guard_pairs(draft)
        return draft.finish()


def projector_of(name: str) -> Projector:
    """The projector that a report's budget describes."""
    budget = given(name)["budget"]
    if "dropRoles" in budget:
        return WithoutRoles()
    return TypeAwareProjector.from_options({NAMES[key]: value for key, value in budget.items()}, "safe")


def context_of(name: str) -> Context:
    """What an agent gets from next_context, in the report's format."""
    return session_of(name, projector_of(name)).next_context(given(name)["format"])


@pytest.mark.parametrize(
    "name", ["pairing-01", "pairing-04", "pairing-07", "pairing-12", "reasoning-01", "reasoning-02"]
)
def test_what_is_sent_is_valid_and_keeps_what_it_must(name: str) -> None:
    """The messages are such as the provider takes; what the report wants kept is there, what it wants gone is not."""
    context, checks = context_of(name), expected(name)
    items = memory_of(name)
    assert faults_of(context.document, checks["valid"]) == []
    assert not [repair for repair in context.repairs if "stood in" in repair or "labelled" in repair]
    seen = entries(context.projection.items)
    assert set(checks.get("kept", [])) <= set(seen)
    assert not set(checks.get("dropped", [])) & set(seen)
    for message in checks.get("kept", []):
        assert whole(context.projection, items, message)


def test_pairing_01_a_result_stays_only_with_its_call() -> None:
    """Five places, and no bare tool message among them."""
    seen = entries(context_of("pairing-01").projection.items)
    checks = expected("pairing-01")
    assert len(seen) <= checks["max_items"]
    assert checks["not_kept_alone"] not in seen or "m2" in seen


def test_pairing_07_calls_and_results_are_paired_by_id() -> None:
    """Call A, call B, result A, result B: whichever goes, its partner goes too."""
    seen = entries(context_of("pairing-07").projection.items)
    assert ("r1" in seen) == ("r3" in seen)
    assert ("r2" in seen) == ("r4" in seen)


def test_pairing_12_no_call_is_left_unanswered() -> None:
    """A filter that takes all results takes their calls along."""
    messages = context_of("pairing-12").messages
    assert not [message for message in messages if message.get("tool_calls")]


def test_reasoning_01_thinking_of_the_open_turn_is_not_altered() -> None:
    """Old thinking goes as a whole; that of the open tool turn keeps text, signature and place."""
    messages = context_of("reasoning-01").messages
    answers = [message["content"] for message in messages if message["role"] == "assistant"]
    given_block = given("reasoning-01")["items"][3]["content"][0]
    assert answers[-1][0] == given_block
    assert [block["type"] for block in answers[-1]] == expected("reasoning-01")["order_of_blocks"][1]
    thinking = [block["thinking"] for blocks in answers for block in blocks if block["type"] == "thinking"]
    assert thinking == [given_block["thinking"]]


def test_reasoning_02_reasoning_goes_with_its_call() -> None:
    """Where an unanswered call is left out, so is the reasoning that led to it."""
    items = context_of("reasoning-02").messages
    assert [item["type"] for item in items] == ["message", "message", "message"]
    assert isinstance(memory_of("reasoning-02")[1], LiveItem)
