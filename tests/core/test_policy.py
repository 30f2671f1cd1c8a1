"""Policy documents: what they say, what is refused, and how a policy is told from another."""

from __future__ import annotations

from typing import Any

import pytest

from contextlab.core import (
    BUILTINS,
    Budget,
    PolicyError,
    UnknownNameError,
    builtin,
    parse_policy,
    policy_hash,
)
from contextlab.core.compaction import Decision, Deps, Snapshot
from contextlab.core.items import Item, Kind
from contextlab.core.policies.rule_based import RuleBased
from contextlab.core.projectors.default import DefaultProjector
from contextlab.core.projectors.type_aware import TypeAwareProjector


def document(**changes: Any) -> dict[str, Any]:
    """A document with some keys changed."""
    return {"version": 1, "name": "mine", "projector": {"kind": "default"}, **changes}


def test_a_document_becomes_a_policy() -> None:
    """Kind and options of the projector, and the mode, are what the document says."""
    options = {"kind": "type_aware", "max_items": 9, "max_recent_tool_results": 2, "trim_old_reasoning": True}
    policy = parse_policy(document(mode="reference", projector=options))
    budget = Budget(max_items=9, max_recent_tool_results=2, trim_old_reasoning=True, mode="reference")
    assert policy.projector == TypeAwareProjector(budget)
    assert (policy.name, policy.mode) == ("mine", "reference")


def test_compaction_and_trigger() -> None:
    """A document's compaction and trigger become plug-ins; the trigger decides, else the compaction itself."""
    part = {"kind": "rule_based", "max_items": 1, "keep_recent": 0}
    snapshot = Snapshot(tuple(Item(str(n), Kind.ASSISTANT, "x") for n in range(3)))
    own = parse_policy(document(compaction=part))
    assert own.compaction == RuleBased(max_items=1, keep_recent=0)
    assert own.decide(snapshot, Deps()).rule == "items > 1"
    asked = parse_policy(document(compaction=part, trigger={"kind": "items", "max_items": 2}))
    assert asked.decide(snapshot, Deps()) == Decision(True, "items > 2", 3, 2)
    never = parse_policy(document(trigger={"kind": "items", "max_items": 2}))
    assert not never.decide(snapshot, Deps()).due
    assert (own.needs_model, own.require_gain) == (False, True)
    assert parse_policy(document(compaction={"kind": "llm_summary"}, require_gain=False)).needs_model


def test_null_is_no_limit() -> None:
    """A limit of null is no limit; so is a negative one."""
    assert (
        parse_policy(document(projector={"kind": "default", "max_items": None})).projector
        == DefaultProjector()
    )
    assert (
        parse_policy(document(projector={"kind": "default", "max_items": -1})).projector == DefaultProjector()
    )


REFUSED = [
    (document(colour=1), "colour"),
    (document(version=2), "version"),
    (document(name=" "), "name"),
    (document(mode="fast"), "mode"),
    (document(projector="default"), "projector"),
    (document(projector={}), "projector.kind"),
    (document(projector={"kind": "nobody"}), "projector.kind"),
    (document(projector={"kind": "default", "max_itemz": 1}), "projector.max_itemz"),
    (
        document(projector={"kind": "default", "max_recent_tool_results": 1}),
        "projector.max_recent_tool_results",
    ),
    (document(projector={"kind": "default", "max_items": "9"}), "projector.max_items"),
    (document(projector={"kind": "default", "max_items": True}), "projector.max_items"),
    (document(projector={"kind": "type_aware", "trim_old_reasoning": 1}), "projector.trim_old_reasoning"),
    (document(require_gain="yes"), "require_gain"),
    (document(version=True), "version"),
    (document(name="x" * 81), "name"),
    (document(name="a\nb"), "name"),
    (document(compaction={"kind": "nobody"}), "compaction.kind"),
    (document(compaction="rule_based"), "compaction"),
    (document(compaction={"kind": "none", "keep_recent": 1}), "compaction.keep_recent"),
    (document(compaction={"kind": "rule_based", "keep_recent": -1}), "compaction.keep_recent"),
    (document(trigger={"kind": "items"}), "trigger.max_items"),
    (
        document(trigger={"kind": "any_of", "triggers": [{"kind": "never"}, {"kind": "tokens", "min": 1}]}),
        "trigger.triggers[1].min",
    ),
    (
        document(projector={"kind": "chain", "stages": [{"kind": "default"}, {"kind": "default", "x": 1}]}),
        "projector.stages[1].x",
    ),
    (document(projector={"kind": "default", "max_items": 2**60}), "projector.max_items"),
    (document(projector={"kind": "default", "max_items": float("nan")}), "projector.max_items"),
    (document(mode="a\x00"), "mode"),
]


@pytest.mark.parametrize(("wrong", "place"), REFUSED)
def test_errors_name_the_key(wrong: dict[str, Any], place: str) -> None:
    """A document that cannot be used is refused with the place of the key that is wrong."""
    with pytest.raises(PolicyError) as caught:
        parse_policy(wrong)
    assert caught.value.place == place
    assert str(caught.value).startswith(f"{place}: ")


def test_a_document_is_an_object() -> None:
    """What is no object is refused as such."""
    with pytest.raises(PolicyError, match="not list"):
        parse_policy([])  # type: ignore[arg-type]


def test_the_hash_is_of_what_a_policy_does() -> None:
    """Order of keys, name and absent options do not change the hash; any option does."""
    one = document(projector={"kind": "default", "max_items": 5, "max_tokens": None})
    other = {"projector": {"max_items": 5, "kind": "default"}, "name": "other", "mode": "safe", "version": 1}
    assert policy_hash(one) == policy_hash(other)
    assert policy_hash(one) != policy_hash(document(projector={"kind": "default", "max_items": 6}))
    assert policy_hash(one) != policy_hash({**one, "mode": "reference"})
    compacts = {**one, "compaction": {"kind": "rule_based"}}
    assert policy_hash(one) == policy_hash({**one, "compaction": {"kind": "none"}, "require_gain": False})
    assert policy_hash(compacts) not in (policy_hash(one), policy_hash({**compacts, "require_gain": False}))
    assert policy_hash(compacts) != policy_hash({**compacts, "trigger": {"kind": "never"}})


def test_built_in_policies() -> None:
    """The built-in policies are valid documents with hashes of their own."""
    assert len({builtin(name).hash for name in BUILTINS}) == len(BUILTINS)
    assert {"keep-all", "last-n", "type-aware", "token-budget"} <= set(BUILTINS)
    with pytest.raises(UnknownNameError, match="keep-all"):
        builtin("nobody")
