"""Policy documents as text: JSON and TOML, and errors that name the key and the line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core.documents.policy_text import (
    LONGEST,
    PolicyTextError,
    line_of,
    parse_policy_text,
    read_policy_text,
    write_json,
)

TOML = """version = 1
name = "mine"

[projector]
kind = "chain"

[[projector.stages]]
kind = "type_aware"
max_recent_tool_results = 2

[[projector.stages]]
kind = "default"
max_itemz = 9
"""


def test_both_forms_give_the_same_policy() -> None:
    """A document is the same policy in JSON and in TOML, with a byte order mark or without."""
    toml = TOML.replace("max_itemz", "max_items")
    as_json = write_json(read_policy_text(toml))
    assert parse_policy_text(toml).hash == parse_policy_text("\ufeff" + as_json).hash


WRONG = [
    (TOML, "projector.stages[1].max_itemz", 13),
    ('{\n"version": 1,\n"name": "x",\n"projector": {\n"kind": "nobody"}}', "projector.kind", 5),
    ('{"version": 1,\n"version": 2}', "version", None),
    ('{"version": 1,\n"name": }', "", 2),
    ("version = 1\nname = ", "", 2),
    ("version = 1\nname = 'x'\nwhen = 2026-01-01", "when", 3),
    ("version = 1\nname = 'x'\n[projector]\nkind = 'default'\nmax_items = inf", "projector.max_items", 5),
    ('{"version": 1, "name": "x", "require_gain": NaN}', "", None),
    ("[1, 2]", "", None),
    ("   ", "", None),
    ("x" * (LONGEST + 1), "", None),
    ('{"a":' * 5_000, "", None),
    ('{"a": ' + "9" * 5_000 + "}", "", None),
]


@pytest.mark.parametrize(("text", "place", "line"), WRONG)
def test_errors_name_key_and_line(text: str, place: str, line: int | None) -> None:
    """What is wrong is told with the key's place, and with its line where that can be told."""
    with pytest.raises(PolicyTextError) as caught:
        parse_policy_text(text)
    assert (caught.value.place, caught.value.line) == (place, line)


def test_a_key_that_stands_twice_is_found_under_its_own_table() -> None:
    """The line is that of the key under its parent, not of another of the same name before it."""
    text = '{"compaction": {"kind": "rule_based"},\n"trigger": {\n"kind": "nobody"}}'
    assert line_of(text, "trigger.kind") == 3
    assert line_of(text, "nowhere") is None


@given(st.text(max_size=300))
def test_any_text_is_a_policy_or_refused(text: str) -> None:
    """Whatever is typed, only PolicyTextError is raised."""
    with pytest.raises(PolicyTextError):
        parse_policy_text(text)
