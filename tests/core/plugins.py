"""Plug-ins of every registry with random options, drawn from what they declare: a new one is tested as it joins."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from typing import Any

from hypothesis import settings

from contextlab.core import PolicyError
from contextlab.core.documents.policy_schema import options_of, policy_schema
from contextlab.core.registry import POLICIES, PROJECTORS, TRIGGERS, Registry

EXAMPLES = "CONTEXTLAB_EXAMPLES"
"""Variable with the number of examples of each property here (`make stress` sets 2,000)."""
SMALL = (0, 1, 2, 3, 5, 9, 30, 80, 300)
WITHOUT_MODEL = ("identity", "completed_turns", "text_excerpt")
NESTED_DEEPEST = 2
TRIES = 30

PLUGINS: dict[str, Registry[Any]] = {"projector": PROJECTORS, "compaction": POLICIES, "trigger": TRIGGERS}


def examples(usual: int) -> settings:
    """So many examples, more where the variable says so."""
    return settings(max_examples=int(os.environ.get(EXAMPLES, usual)), deadline=None)


def random_plugin(place: str, kind: str, seed: int) -> Any:
    """A plug-in of this kind in safe mode with random options.

    Options that exclude each other are drawn anew; in the end it is made of none.
    """
    roll = random.Random(seed)
    make = PLUGINS[place].get(kind).from_options
    for _ in range(TRIES):
        try:
            return make(random_options(place, kind, roll), "safe")
        except PolicyError:
            continue
    return make({}, "safe")


def random_options(place: str, kind: str, roll: random.Random, depth: int = 0) -> dict[str, object]:
    """Options that a plug-in declares, each now and then; all that it requires."""
    known = options_of(place, kind) or {}
    required = _required(place, kind)
    return {
        name: _drawn(schema, roll, depth)
        for name, schema in known.items()
        if schema and (name in required or roll.random() < 0.6)
    }


def _required(place: str, kind: str) -> list[str]:
    kinds = policy_schema()["$defs"][place]["oneOf"]
    found = next(one for one in kinds if one["title"] == kind)
    return [name for name in found["required"] if name != "kind"]


def _drawn(schema: Mapping[str, Any], roll: random.Random, depth: int) -> object:
    if "$ref" in schema:
        return _nested(schema["$ref"].rpartition("/")[2], roll, depth + 1)
    if "anyOf" in schema:
        return _drawn(schema["anyOf"][0], roll, depth)
    if "enum" in schema:
        return roll.choice(schema["enum"])
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "array" in kinds:
        count = 1 if depth >= NESTED_DEEPEST else roll.randrange(1, 4)
        return [_drawn(schema["items"], roll, depth) for _ in range(count)]
    if "integer" in kinds:
        least = schema.get("minimum", 0)
        return None if "null" in kinds and roll.random() < 0.1 else max(least, roll.choice(SMALL))
    if "boolean" in kinds:
        return roll.random() < 0.5
    return roll.random() if "number" in kinds else schema.get("default")


def _nested(place: str, roll: random.Random, depth: int) -> dict[str, object]:
    """A plug-in inside another; beyond a depth, and for compressors, a plain one."""
    if place == "compressor":
        kind = roll.choice(WITHOUT_MODEL)
    elif depth >= NESTED_DEEPEST:
        kind = {"projector": "default", "trigger": "never"}[place]
    else:
        kind = roll.choice(PLUGINS[place].names())
    return {"kind": kind, **random_options(place, kind, roll, depth)}
