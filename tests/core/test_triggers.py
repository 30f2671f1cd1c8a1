"""Triggers: due or not, with the figures that say so."""

from __future__ import annotations

import pytest

from contextlab.core import Item, Kind, PolicyError
from contextlab.core.compaction import Deps, Snapshot
from contextlab.core.registry import TRIGGERS

MEMORY = Snapshot(
    (
        Item("u", Kind.USER, "x" * 40),
        Item("k", Kind.TOOL_CALL, "{}", "m", "read", "c", chars=6),
        Item("k2", Kind.TOOL_CALL, "{}", "m", "read", "d", chars=6),
        Item("r", Kind.TOOL_RESULT, "y" * 100, call_id="c"),
        Item("r2", Kind.TOOL_RESULT, "y" * 60, call_id="d"),
    ),
    "z" * 40,
)


@pytest.mark.parametrize(
    ("kind", "options", "due", "estimate"),
    [
        ("never", {}, False, None),
        ("items", {"max_items": 4}, False, 4),
        ("items", {"max_items": 3}, True, 4),
        ("messages", {"min_messages": 4}, True, 4),
        ("messages", {"min_messages": 5}, False, 4),
        ("tokens", {"min_tokens": 64}, True, 64),
        ("tokens", {"min_tokens": 65}, False, 64),
        ("pending_turns", {"min_turns": 1}, True, 1),
        ("pending_turns", {"min_turns": 2}, False, 1),
        ("tool_result_size", {"min_chars": 160}, True, 160),
        ("tool_result_size", {"min_chars": 101, "each": True}, False, 100),
        ("age", {"min_seconds": 60}, True, 60),
        ("age", {"min_seconds": 61}, False, 60),
        ("any_of", {"triggers": [{"kind": "never"}, {"kind": "items", "max_items": 3}]}, True, 4),
        ("any_of", {"triggers": [{"kind": "never"}]}, False, None),
    ],
)
def test_a_trigger_is_due_at_its_bound(
    kind: str, options: dict[str, object], due: bool, estimate: int | None
) -> None:
    """Each trigger is due exactly at its bound and tells what it measured, entries counted as one."""
    decision = TRIGGERS.get(kind).from_options(options, "safe").decide(MEMORY, Deps(age=60.9))
    assert (decision.due, decision.estimate) == (due, estimate)


def test_time_that_nobody_tells_is_never_due() -> None:
    """Without a clock the age trigger does not guess."""
    assert not TRIGGERS.get("age").from_options({"min_seconds": 1}, "safe").decide(MEMORY, Deps()).due


@pytest.mark.parametrize(
    ("kind", "options", "place"),
    [
        ("items", {}, "trigger.max_items"),
        ("tokens", {"min_tokens": 0}, "trigger.min_tokens"),
        ("tokens", {"min_tokens": "9"}, "trigger.min_tokens"),
        ("never", {"x": 1}, "trigger.x"),
        ("any_of", {"triggers": []}, "trigger.triggers"),
        ("any_of", {"triggers": [{"kind": "moon"}]}, "trigger.triggers[0].kind"),
        (
            "any_of",
            {"triggers": [{"kind": "never"}, {"kind": "items", "max": 1}]},
            "trigger.triggers[1].max",
        ),
    ],
)
def test_a_wrong_option_is_named(kind: str, options: dict[str, object], place: str) -> None:
    """An error says which key is wrong, inside any_of too."""
    with pytest.raises(PolicyError) as raised:
        TRIGGERS.get(kind).from_options(options, "safe")
    assert raised.value.place == place
    assert str(raised.value).startswith(f"{place}: ")
