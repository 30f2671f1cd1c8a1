"""Policies as pages and the API show them: of the package, presets, the workspace's own with their versions."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from contextlab.core.documents.policy_schema import parts
from contextlab.core.documents.policy_text import write_json
from contextlab.core.documents.presets import PRESETS
from contextlab.core.errors import PolicyError, UnknownNameError
from contextlab.core.policy import BUILTINS, NONE, Policy, builtin, parse_policy
from contextlab.store.models import PolicyDocument, PolicyVersion, Session

SHOWN = 200
VERSIONS = 100
WORDS = {
    "keep-all": "everything, nothing left out",
    "last-n": "the newest 50 entries and a pinned beginning",
    "type-aware": "the newest 5 tool results whole, older ones and earlier reasoning as placeholders",
    "token-budget": "the newest items within 60,000 tokens and a pinned beginning",
}


@dataclass(frozen=True, slots=True)
class PolicyLine:
    """A policy in a list. Those of the workspace have a uid, a version and times."""

    name: str
    origin: str
    """builtin, preset or own."""
    words: str
    does: str
    """What its document says, in short."""
    needs_model: bool = False
    compacts: bool = False
    source: str = ""
    """Where a preset's numbers come from."""
    uid: UUID | None = None
    version: int | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PartLine:
    """Something that documents are made of: a projector, a compaction policy, a trigger, a compressor."""

    key: str
    kind: str
    words: str
    options: Sequence[str]

    @property
    def begins(self) -> bool:
        """Whether a document can be begun from it."""
        return self.key in ("projector", "compaction")


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A policy as it was saved once."""

    version: int
    name: str
    policy_hash: str
    created_at: datetime
    text: str = ""


@dataclass(frozen=True, slots=True)
class PolicyPage:
    """One of the workspace's policies."""

    line: PolicyLine
    text: str
    document: dict[str, Any]
    policy_hash: str
    created_at: datetime
    versions: Sequence[VersionLine] = field(default_factory=tuple)


def known_policy(workspace_id: int, name: str) -> Policy:
    """The policy of a name: of the package, a preset, or the workspace's; raises UnknownNameError, or PolicyError for
    one whose parts are no longer installed."""
    if name in BUILTINS or name in PRESETS:
        return builtin(name)
    found = PolicyDocument.objects.filter(workspace_id=workspace_id, name=name).first()
    if found is None:
        own = PolicyDocument.objects.filter(workspace_id=workspace_id).values_list("name", flat=True)[:SHOWN]
        raise UnknownNameError("policy", name, (*BUILTINS, *PRESETS, *own))
    return parse_policy(found.document)


def is_known(workspace_id: int, name: str) -> bool:
    """Whether there is a policy of this name."""
    if name in BUILTINS or name in PRESETS:
        return True
    return PolicyDocument.objects.filter(workspace_id=workspace_id, name=name).exists()


def hash_of(workspace_id: int, name: str) -> str:
    """Hash of the policy of this name; empty when there is none."""
    if name in BUILTINS or name in PRESETS:
        return builtin(name).hash
    rows = PolicyDocument.objects.filter(workspace_id=workspace_id, name=name)
    return rows.values_list("policy_hash", flat=True).first() or ""


def compacts(workspace_id: int, name: str) -> bool:
    """Whether the policy of this name compacts; False when there is none, or when it cannot be used here."""
    try:
        return known_policy(workspace_id, name).compaction is not None
    except (UnknownNameError, PolicyError):
        return False


def own_names(workspace_id: int, most: int = SHOWN) -> list[str]:
    """Names of the workspace's policies, the last changed first."""
    rows = PolicyDocument.objects.filter(workspace_id=workspace_id).order_by("-updated_at", "-id")
    return list(rows.values_list("name", flat=True)[:most])


def package_policies() -> list[PolicyLine]:
    """The policies that come with the package: the built-in ones, then the presets."""
    lines = [
        _line(name, "builtin", document, words=WORDS.get(name, "")) for name, document in BUILTINS.items()
    ]
    return lines + [
        _line(one.name, "preset", one.document, words=one.words, source=one.source)
        for one in PRESETS.values()
    ]


def installed_parts() -> list[PartLine]:
    """All parts that are installed, plug-ins of others among them."""
    return [PartLine(*part) for part in parts()]


def own_policies(workspace_id: int) -> list[PolicyLine]:
    """The workspace's own, the last changed first."""
    rows = PolicyDocument.objects.filter(workspace_id=workspace_id).order_by("-updated_at", "-id")[:SHOWN]
    return [_own(row) for row in rows]


def policy_page(workspace_id: int, uid: UUID) -> PolicyPage | None:
    """One of the workspace's policies with its versions, newest first; None when there is no such one."""
    found = PolicyDocument.objects.filter(workspace_id=workspace_id, uid=uid).first()
    if found is None:
        return None
    columns = ("version", "name", "policy_hash", "created_at")
    rows = PolicyVersion.objects.filter(policy=found).order_by("-version").values_list(*columns)[:VERSIONS]
    return PolicyPage(
        _own(found), found.text, found.document, found.policy_hash, found.created_at,
        tuple(VersionLine(*row) for row in rows),
    )  # fmt: skip


def version_of(workspace_id: int, uid: UUID, version: int) -> VersionLine | None:
    """One version with its text."""
    rows = PolicyVersion.objects.filter(policy__workspace_id=workspace_id, policy__uid=uid, version=version)
    found = rows.values_list("version", "name", "policy_hash", "created_at", "text").first()
    return VersionLine(*found) if found else None


def difference(before: str, after: str) -> list[tuple[str, str]]:
    """Lines of two texts with what became of them: `same`, `gone`, `new`."""
    signs = {" ": "same", "-": "gone", "+": "new"}
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    return [(signs[line[0]], line[2:]) for line in lines if line[0] in signs]


def text_of(name: str) -> str | None:
    """The document of a policy of the package as text; None for other names."""
    if name in BUILTINS:
        return write_json(BUILTINS[name])
    return write_json(PRESETS[name].document) if name in PRESETS else None


def _own(row: PolicyDocument) -> PolicyLine:
    more = {"uid": row.uid, "version": row.version, "updated_at": row.updated_at}
    return _line(row.name, "own", row.document, **more)


def _line(name: str, origin: str, document: Mapping[str, Any], **more: Any) -> PolicyLine:
    words = more.pop("words", "")
    try:
        policy = parse_policy(document)
    except PolicyError as error:
        return PolicyLine(name, origin, words or f"cannot be used here: {error}", "", **more)
    does = in_words(document)
    return PolicyLine(
        name, origin, words or does, does, policy.needs_model, policy.compaction is not None, **more
    )


def in_words(document: Mapping[str, Any]) -> str:
    """What a document says, in a line: `type_aware (max_tokens 24,000); compacts: rule_based when tokens ...`."""
    parts = [_part(document.get("projector") or {"kind": "default"})]
    compaction = document.get("compaction")
    if isinstance(compaction, Mapping) and compaction.get("kind") != NONE:
        parts.append(f"compacts by {_part(compaction)}")
        if document.get("trigger"):
            parts.append(f"when {_part(document['trigger'])}")
    if document.get("mode") == "reference":
        parts.append("reference mode")
    return "; ".join(parts)


def _part(options: Any) -> str:
    if not isinstance(options, Mapping):
        return str(options)
    said = [f"{key} {_value(value)}" for key, value in options.items() if key != "kind" and value is not None]
    return f"{options.get('kind')}" + (f" ({', '.join(said)})" if said else "")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return _part(value)
    if isinstance(value, list | tuple):
        return " or ".join(_value(one) for one in value)
    return str(value)


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """A session to look at a policy with."""

    uid: UUID
    title: str
    steps: int
    items: int


CHOICES = 50


def session_choices(workspace_id: int, first: UUID | None = None) -> list[SessionChoice]:
    """The latest main sessions that have steps; `first` stands in front, whichever it is."""
    mine = Session.objects.filter(workspace_id=workspace_id, steps__gt=0)
    columns = ("uid", "title", "steps", "items")
    found = [
        SessionChoice(*row)
        for row in mine.filter(role="").order_by("-sort_at", "-id").values_list(*columns)[:CHOICES]
    ]
    if first is None:
        return found
    chosen = mine.filter(uid=first).values_list(*columns).first()
    rest = [one for one in found if one.uid != first]
    return [SessionChoice(*chosen), *rest] if chosen else rest
