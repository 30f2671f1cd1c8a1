"""Policy documents: what a view of a session is computed with.

A document is a JSON or TOML shaped dict: `{"version": 1, "name": ..., "mode": "safe", "projector": {"kind": ...,
...options}}`. Keys that are not known are errors that name the key; keys are only ever added.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from contextlab.core.errors import PolicyError, UnknownNameError
from contextlab.core.options import read_mode, refuse_unknown
from contextlab.core.projection import Projector
from contextlab.core.registry import PROJECTORS

VERSION = 1
_KEYS = ("version", "name", "mode", "projector", "compaction", "trigger", "require_gain")
_NOT_YET = {"compaction": "none", "trigger": "never"}


@dataclass(slots=True, frozen=True)
class Policy:
    """A policy ready for use. `hash` identifies what it does: its name is not part of it."""

    name: str
    mode: str
    projector: Projector
    document: Mapping[str, object]
    hash: str


def parse_policy(document: Mapping[str, object]) -> Policy:
    """Read a policy document; raises PolicyError, whose `place` is the key that is wrong."""
    if not isinstance(document, Mapping):
        raise PolicyError(f"a policy is an object with keys, not {type(document).__name__}")
    refuse_unknown(document, _KEYS, "")
    if document.get("version") != VERSION:
        raise PolicyError(f"must be {VERSION}, not {document.get('version')!r}", "version")
    name = document.get("name")
    if not isinstance(name, str) or not name.strip():
        raise PolicyError("must be a non-empty text", "name")
    for key, harmless in _NOT_YET.items():
        _refuse_for_now(document.get(key), key, harmless)
    if not isinstance(document.get("require_gain", True), bool):
        raise PolicyError("must be true or false", "require_gain")
    mode = read_mode(document.get("mode", "safe"))
    projector = _projector(document.get("projector", {"kind": "default"}), mode)
    return Policy(name, mode, projector, MappingProxyType(dict(document)), policy_hash(document))


def policy_hash(document: Mapping[str, object]) -> str:
    """sha256 (hex) of what the document says, whatever the order of its keys and without its name."""
    projector = document.get("projector", {"kind": "default"})
    if isinstance(projector, Mapping):
        projector = {key: value for key, value in projector.items() if value is not None}
    said = {"version": VERSION, "mode": document.get("mode", "safe"), "projector": projector}
    text = json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _projector(options: object, mode: str) -> Projector:
    if not isinstance(options, Mapping):
        raise PolicyError("must be an object with a kind", "projector")
    kind = options.get("kind")
    if not isinstance(kind, str):
        raise PolicyError("must name a projector", "projector.kind")
    try:
        plugin = PROJECTORS.get(kind)
    except UnknownNameError as error:
        raise PolicyError(str(error), "projector.kind") from error
    return plugin.from_options({key: value for key, value in options.items() if key != "kind"}, mode)


def _refuse_for_now(value: object, key: str, harmless: str) -> None:
    """Compaction inside a policy is not built yet: say so, rather than project something else than asked for."""
    if value is None:
        return
    kind = value.get("kind") if isinstance(value, Mapping) else value
    if kind != harmless:
        raise PolicyError(f"{kind!r} is not available yet; only {harmless!r} is", f"{key}.kind")


def _document(name: str, **projector: object) -> Mapping[str, object]:
    return MappingProxyType({"version": VERSION, "name": name, "mode": "safe", "projector": projector})


BUILTINS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "keep-all": _document("keep-all", kind="default"),
        "last-n": _document("last-n", kind="default", max_items=50, pinned_prefix_items=1),
        "type-aware": _document(
            "type-aware", kind="type_aware", max_recent_tool_results=5, trim_old_reasoning=True
        ),
        "token-budget": _document("token-budget", kind="default", max_tokens=60_000, pinned_prefix_items=1),
    }
)
"""The policies that come with the package, by name."""


def builtin(name: str) -> Policy:
    """A built-in policy; raises UnknownNameError, which lists them."""
    if name not in BUILTINS:
        raise UnknownNameError("policy", name, BUILTINS)
    return parse_policy(BUILTINS[name])
