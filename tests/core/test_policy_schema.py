"""The published JSON Schema of policy documents, and the presets: current, and telling the same as the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from contextlab.core import BUILTINS, PolicyError, builtin, parse_policy
from contextlab.core.documents.policy_schema import options_of, parts, policy_schema, schema_text
from contextlab.core.documents.presets import PRESETS
from contextlab.core.policy import Policy
from contextlab.core.registry import COMPRESSORS, POLICIES, PROJECTORS, TRIGGERS

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCHEMA = policy_schema()


def says(document: Any) -> bool:
    """Whether the schema takes a document."""
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(document)


def test_the_published_schema_is_current() -> None:
    """docs/policy.schema.json is what the plug-ins declare; scripts/policy_schema.py writes it."""
    assert (DOCS / "policy.schema.json").read_text() == schema_text()
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_everything_that_is_installed_is_in_it() -> None:
    """Each kind of each registry has its branch, with its options by name."""
    told = {(key, kind) for key, kind, _, _ in parts()}
    registries = {
        "projector": PROJECTORS,
        "compaction": POLICIES,
        "trigger": TRIGGERS,
        "compressor": COMPRESSORS,
    }
    assert told == {(key, kind) for key, registry in registries.items() for kind in registry.names()}
    for key, kind, words, options in parts():
        assert words
        assert options_of(key, kind) is not None
        branch = next(one for one in SCHEMA["$defs"][key]["oneOf"] if one["title"] == kind)
        assert set(branch["properties"]) == {"kind", *options}
        assert branch["additionalProperties"] is False


@pytest.mark.parametrize("name", [*BUILTINS, *PRESETS])
def test_documents_of_the_package_can_be_used(name: str) -> None:
    """Built-in policies and presets are read, and the schema takes them."""
    policy = builtin(name)
    assert isinstance(policy, Policy)
    assert policy.name == name
    assert says(json.loads(json.dumps(dict(policy.document))))


def test_presets_say_what_they_reproduce_and_where_their_numbers_are_from() -> None:
    """Each preset has a line of words and a source, and stands in the documentation."""
    page = (DOCS / "policies.md").read_text()
    assert not set(PRESETS) & set(BUILTINS)
    for name, preset in PRESETS.items():
        assert preset.name == name
        assert preset.words
        assert "\n" not in preset.words
        assert preset.source.endswith(".")
        assert f"| `{name}` |" in page
    assert len({builtin(name).hash for name in PRESETS}) == len(PRESETS)


def test_every_part_and_every_option_is_documented() -> None:
    """What a document can name stands on docs/policies.md, with all that it takes."""
    page = (DOCS / "policies.md").read_text()
    for _, kind, _, options in parts():
        assert f"| `{kind}` |" in page
        for option in options:
            assert f"`{option}`" in page, f"{kind}: {option}"


BASE = {"version": 1, "name": "x"}
BOTH = [
    {},
    {"projector": {"kind": "default", "max_items": 3, "max_tokens": None}},
    {"projector": {"kind": "chain", "stages": [{"kind": "type_aware"}, {"kind": "default", "max_items": 9}]}},
    {
        "projector": {
            "kind": "turn_window",
            "context_compressor": {"kind": "text_excerpt", "max_characters": 50},
        }
    },
    {"compaction": {"kind": "none"}},
    {"compaction": {"kind": "rule_based", "keep_recent": 3}, "trigger": {"kind": "items", "max_items": 4}},
    {"compaction": {"kind": "incremental_window", "compressor": {"kind": "chain", "members": [None]}}},
    {"trigger": {"kind": "any_of", "triggers": [{"kind": "never"}, {"kind": "age", "min_seconds": 5}]}},
    {"mode": "reference", "require_gain": False},
]
NEITHER = [
    {"colour": 1},
    {"mode": "fast"},
    {"require_gain": 1},
    {"projector": {"kind": "default", "max_itemz": 3}},
    {"projector": {"kind": "default", "max_items": "3"}},
    {"projector": {}},
    {"compaction": {"kind": "none", "keep_recent": 3}},
    {"compaction": {"kind": "rule_based", "keep_recent": -1}},
    {"compaction": {"kind": "llm_summary", "fallback": "perhaps"}},
    {"trigger": {"kind": "items"}},
    {"trigger": {"kind": "any_of", "triggers": [{"kind": "tokens", "min_tokens": 0}]}},
    {"trigger": "never"},
]


@pytest.mark.parametrize("more", BOTH)
def test_what_both_take(more: dict[str, Any]) -> None:
    """The reader and the schema take these."""
    assert parse_policy(BASE | more)
    assert says(BASE | more)


@pytest.mark.parametrize("more", NEITHER)
def test_what_both_refuse(more: dict[str, Any]) -> None:
    """The reader and the schema refuse these."""
    with pytest.raises(PolicyError):
        parse_policy(BASE | more)
    assert not says(BASE | more)
