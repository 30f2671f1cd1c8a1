"""What a person asks for: read from a form, an API call or code, and refused with the place that is wrong."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from contextlab.core.errors import ContextLabError
from contextlab.core.policy import Policy, builtin, parse_policy
from contextlab.core.texts import clean
from contextlab.queries.policies import known_policy

DEFAULT_POLICY = "rule-based"
LONGEST_INSTRUCTIONS = 20_000
"""Characters. More would crowd out what is to be summarised."""
MOST_PINS = 500
LONGEST_ID = 255
MOST_RECENT = 100_000
LARGEST = 2**31 - 1
KEYS = (
    "policy", "view", "before_step", "before_compaction", "keep_recent", "pins", "instructions", "confirm",
)  # fmt: skip
_KEEPS = {"rule_based": "keep_recent", "llm_summary": "max_items", "structured_summary": "max_items"}
"""The option by which each kind of compaction is told how many of the newest entries stay."""


class BadRequest(Exception):
    """A value that cannot be used; `place` names it, the message is for people."""

    def __init__(self, place: str, message: str) -> None:
        """`place` is the key of the request."""
        super().__init__(message)
        self.place = place


@dataclass(frozen=True, slots=True)
class CompactRequest:
    """How to compact, and where."""

    policy: Policy
    view: str = "recorded"
    """Name of the view whose memory is read; of a branch: its memory in force."""
    before_step: int | None = None
    """As if before this step; None: after the last one."""
    before_compaction: int | None = None
    """The memory that this compaction of the log found, in the place of `before_step`."""
    keep_recent: int | None = None
    """Newest entries that stay; None: as the policy says."""
    pins: tuple[str, ...] = ()
    """Native ids of items that must stay as they are."""
    instructions: str = ""
    confirm: bool = False
    """The person has seen tokens and cost and wants the model asked. Without it no model is asked."""
    trigger: str = "manual"


def read_request(values: Any, workspace_id: int | None = None) -> CompactRequest:
    """A request from its values; raises BadRequest. With a workspace its own policies may be named, too.

    Keys: `policy` (a name or a document), `view`, `before_step` or `before_compaction`, `keep_recent`, `pins` (list of
    ids), `instructions`, `confirm`. Numbers may be given as text; empty text and None count as not given.
    """
    check_keys(values, KEYS)
    keep_recent = _number(values, "keep_recent", 0, MOST_RECENT)
    before_step, before_compaction = (
        _number(values, "before_step", 1, LARGEST),
        _number(values, "before_compaction", 1, LARGEST),
    )
    if before_step is not None and before_compaction is not None:
        raise BadRequest("before_compaction", "A compaction of the log has its place: leave the step empty.")
    return CompactRequest(
        policy=_kept(_policy(values.get("policy"), workspace_id), keep_recent),
        view=_text(values, "view", 80) or "recorded",
        before_step=before_step,
        before_compaction=before_compaction,
        keep_recent=keep_recent,
        pins=_pins(values.get("pins")),
        instructions=_text(values, "instructions", LONGEST_INSTRUCTIONS).strip(),
        confirm=_flag(values.get("confirm")),
    )


def check_keys(values: Any, keys: Collection[str]) -> None:
    """Raises BadRequest unless a request is an object that has none but these keys."""
    if not isinstance(values, Mapping):
        raise BadRequest("body", "The request must be an object.")
    unknown = [str(key) for key in values if key not in keys]
    if unknown:
        raise BadRequest(unknown[0][:80], f"There is no such key; known: {', '.join(keys)}.")


def _policy(given: object, workspace_id: int | None) -> Policy:
    """The policy of a name or a document; one that compacts."""
    try:
        policy = _named(given, workspace_id)
    except ContextLabError as error:
        raise BadRequest("policy", f"{error}.") from error
    if policy.compaction is None:
        raise BadRequest("policy", f"The policy {policy.name!r} replaces no memory: it has no compaction.")
    return policy


def _named(given: object, workspace_id: int | None) -> Policy:
    if given in (None, ""):
        return builtin(DEFAULT_POLICY)
    if isinstance(given, str):
        return builtin(given) if workspace_id is None else known_policy(workspace_id, given)
    if isinstance(given, Mapping):
        return parse_policy(given)
    raise BadRequest("policy", "The policy must be a name or a policy document.")


def _kept(policy: Policy, keep_recent: int | None) -> Policy:
    """The policy with another number of newest entries that stay; raises BadRequest where it knows no such number."""
    if keep_recent is None:
        return policy
    compaction = policy.document.get("compaction")
    given = dict(compaction) if isinstance(compaction, Mapping) else {}
    option = _KEEPS.get(str(given.get("kind")))
    if option is None:
        raise BadRequest(
            "keep_recent",
            "This policy decides by itself what stays; leave the number of newest entries empty.",
        )
    return parse_policy({**policy.document, "compaction": {**given, option: keep_recent}})


def _number(values: Mapping[str, Any], name: str, least: int, most: int) -> int | None:
    value = values.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.isascii() and value.strip().isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadRequest(name, f"{name} must be a whole number from {least:,} to {most:,}.")
    return value


def _text(values: Mapping[str, Any], name: str, most: int) -> str:
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadRequest(name, f"{name} must be a text.")
    if len(value) > most:
        raise BadRequest(name, f"{name} has {len(value):,} characters; at most {most:,} are taken.")
    if clean(value) != value:
        raise BadRequest(name, f"{name} holds a character that no text can have.")
    return value


def _pins(value: object) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise BadRequest("pins", "pins must be a list of item ids.")
    if len(value) > MOST_PINS:
        raise BadRequest("pins", f"{len(value):,} items are pinned; at most {MOST_PINS} are taken.")
    if any(not isinstance(one, str) or not 0 < len(one) <= LONGEST_ID or clean(one) != one for one in value):
        raise BadRequest("pins", "Each pin must be the id of an item.")
    return tuple(dict.fromkeys(value))


def _flag(value: object) -> bool:
    if value in (None, "", False, "0", "false", "off"):
        return False
    if value in (True, "1", "true", "on"):
        return True
    raise BadRequest("confirm", "confirm must be true or false.")


def read_key(key: str | None) -> str | None:
    """An idempotency key as a caller gives it; raises BadRequest."""
    if key is None or key == "":
        return None
    if len(key) > 64 or not key.isascii() or not key.isprintable():
        raise BadRequest("idempotency_key", "The key must be at most 64 printable ASCII characters.")
    return key


def as_values(request: CompactRequest, view: UUID) -> str:
    """What a request asks for as one text: two that ask for the same are equal."""
    return json.dumps(
        [
            view.hex,
            request.before_step,
            request.before_compaction,
            request.policy.hash,
            request.pins,
            request.instructions,
            request.confirm,
        ]
    )
