"""The JSON Schema of policy documents, made of what the plug-ins declare: one that is installed appears by itself.

A plug-in declares its options where it reads them (options.py). One that reads them otherwise may say them in a class
attribute `options_schema` (a mapping from names to fragments of JSON Schema); without either anything is let through,
and the plug-in itself refuses what it does not know.
"""

from __future__ import annotations

import json
from typing import Any

from contextlab.core.documents.options import declared_options
from contextlab.core.policy import LONGEST_NAME, NONE, VERSION
from contextlab.core.registry import COMPRESSORS, POLICIES, PROJECTORS, TRIGGERS, Registry

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PARTS: dict[str, Registry[Any]] = {
    "projector": PROJECTORS,
    "compaction": POLICIES,
    "trigger": TRIGGERS,
    "compressor": COMPRESSORS,
}
_NESTED = {
    "stages": "projector",
    "triggers": "trigger",
    "members": "compressor",
    "compressor": "compressor",
    "context_compressor": "compressor",
}
"""Options that hold plug-ins themselves, by name; those in the plural hold lists of them."""


def policy_schema() -> dict[str, Any]:
    """The schema of a policy document with everything that is installed."""
    return {
        "$schema": DIALECT,
        "title": "ContextLab policy document",
        "description": "What a view of a session is computed with. docs/policies.md explains every key.",
        "type": "object",
        "required": ["version", "name"],
        "additionalProperties": False,
        "properties": {
            "version": {"const": VERSION},
            "name": {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
            "mode": {"enum": ["safe", "reference"], "default": "safe"},
            "projector": {"$ref": "#/$defs/projector"},
            "compaction": {"$ref": "#/$defs/compaction"},
            "trigger": {"$ref": "#/$defs/trigger"},
            "require_gain": {"type": "boolean", "default": True},
        },
        "$defs": {key: _part(key, registry) for key, registry in _PARTS.items()},
    }


def schema_text() -> str:
    """The schema as it is published."""
    return json.dumps(policy_schema(), indent=2, ensure_ascii=False) + "\n"


def options_of(key: str, kind: str) -> dict[str, dict[str, Any]] | None:
    """The options of a plug-in by name, each as a fragment of JSON Schema; None where they are not known."""
    return _options(_PARTS[key].get(kind))[0]


def parts() -> list[tuple[str, str, str, list[str]]]:
    """What is installed: key (projector, compaction ...), kind, what it does in a line, the names of its options."""
    return [
        (key, kind, _first_line(registry.get(kind)), list(options_of(key, kind) or ()))
        for key, registry in _PARTS.items()
        for kind in registry.names()
    ]


def _part(key: str, registry: Registry[Any]) -> dict[str, Any]:
    kinds = [_kind(kind, registry.get(kind)) for kind in registry.names()]
    if key == "compaction":
        none = {"type": "object", "properties": {"kind": {"const": NONE}}, "required": ["kind"]}
        kinds.append({"title": NONE, **none, "additionalProperties": False})
    return {"type": "object", "required": ["kind"], "oneOf": kinds}


def _kind(kind: str, plugin: Any) -> dict[str, Any]:
    options, required = _options(plugin)
    schema = {
        "title": kind,
        "description": _first_line(plugin),
        "type": "object",
        "required": ["kind", *required],
        "properties": {"kind": {"const": kind}, **(options or {})},
    }
    return schema if options is None else {**schema, "additionalProperties": False}


def _options(plugin: Any) -> tuple[dict[str, dict[str, Any]] | None, list[str]]:
    stated = getattr(plugin, "options_schema", None)
    if stated is not None:
        return dict(stated), []
    declared = declared_options(lambda options: plugin.from_options(options, "safe"))
    if declared is None:
        return None, []
    return {name: _nested(name) or schema for name, schema in declared.options.items()}, declared.required


def _nested(name: str) -> dict[str, Any] | None:
    if name not in _NESTED:
        return None
    one: dict[str, Any] = {"$ref": f"#/$defs/{_NESTED[name]}"}
    if name.endswith("s"):
        items = {"anyOf": [one, {"type": "null"}]} if name == "members" else one
        return {"type": "array", "items": items}
    return {"anyOf": [one, {"type": "null"}]} if name == "context_compressor" else one


def _first_line(plugin: Any) -> str:
    return next(iter((getattr(plugin, "__doc__", None) or "").strip().splitlines()), "")
