"""A workspace's own policies: made, saved in versions, copied, deleted, chosen for a session.

What a person types is checked before anything is written; PolicyTextError names the key and the line.
"""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from contextlab.core.documents.policy_text import (
    JSON,
    PolicyTextError,
    form_of,
    line_of,
    parse_policy_text,
    write_json,
)
from contextlab.core.documents.presets import PRESETS
from contextlab.core.errors import UnknownNameError
from contextlab.core.policy import BUILTINS, LONGEST_NAME, VERSION, Policy
from contextlab.core.registry import POLICIES, PROJECTORS, Registry
from contextlab.queries.policies import text_of
from contextlab.services import opening
from contextlab.store.bulk import lock_rows
from contextlab.store.models import (
    CompactionJob,
    PolicyDocument,
    PolicyVersion,
    Run,
    Session,
    View,
    Workspace,
)

MOST = 200
"""Policies of a workspace."""
_BRANCH = re.compile(r"branch-\d+")
"""Names that views get which are no policies."""


class Stale(Exception):
    """Somebody saved another version meanwhile: nothing was written."""


class TooMany(Exception):
    """A workspace has as many policies as it may have."""


def create(workspace: Workspace, text: str) -> PolicyDocument:
    """A new policy; raises PolicyTextError, TooMany."""
    policy = _checked(text)
    if PolicyDocument.objects.filter(workspace=workspace).count() >= MOST:
        raise TooMany(f"There are {MOST} policies; delete one that is not needed any more.")
    try:
        with transaction.atomic():
            made = PolicyDocument.objects.create(
                workspace=workspace, name=policy.name, document=dict(policy.document), policy_hash=policy.hash,
                text=text,
            )  # fmt: skip
            _add_version(made)
    except IntegrityError as error:
        raise _taken(text, policy.name) from error
    return made


def save(policy: PolicyDocument, text: str, version: int) -> PolicyDocument:
    """A new version in place of `version`; the same text again is none. Raises PolicyTextError, Stale."""
    parsed = _checked(text)
    if policy.version != version:
        raise Stale
    if text == policy.text:
        return policy
    old_name = policy.name
    values = {
        "name": parsed.name, "document": dict(parsed.document), "policy_hash": parsed.hash, "text": text,
    }  # fmt: skip
    try:
        with transaction.atomic():
            rows = PolicyDocument.objects.filter(pk=policy.pk, version=version)
            if not rows.update(**values, version=F("version") + 1, updated_at=timezone.now()):
                raise Stale
            policy.refresh_from_db()
            _add_version(policy)
            if policy.name != old_name:
                _rename_views(policy.workspace_id, old_name, policy.name)
    except IntegrityError as error:
        raise _taken(text, parsed.name) from error
    return policy


def duplicate(policy: PolicyDocument) -> PolicyDocument:
    """A copy under a name of its own."""
    return create(policy.workspace, text_under(policy.workspace, policy.text, policy.name))


def delete(policy: PolicyDocument) -> None:
    """Remove a policy, its versions and the views that were made by it; those that a branch left stay."""
    with transaction.atomic():
        _drop_views(policy.workspace_id, policy.name)
        policy.delete()


def find(workspace: Workspace, uid: UUID) -> PolicyDocument | None:
    """One of the workspace's policies."""
    return PolicyDocument.objects.filter(workspace=workspace, uid=uid).select_related("workspace").first()


def text_from(workspace: Workspace, name: str) -> str:
    """The text to begin a new policy from: one of the package, under a free name; raises UnknownNameError."""
    text = text_of(name)
    if text is None:
        raise UnknownNameError("policy", name, (*BUILTINS, *PRESETS))
    return text_under(workspace, text, name)


def text_with(workspace: Workspace, key: str, kind: str) -> str:
    """The text to begin a policy from that uses a part; raises UnknownNameError."""
    registry: Registry[Any] = PROJECTORS if key == "projector" else POLICIES
    registry.get(kind)
    document: dict[str, object] = {"version": VERSION, "name": free_name(workspace, kind), "mode": "safe"}
    document[key] = {"kind": kind}
    if key == "compaction":
        document["trigger"] = {"kind": "tokens", "min_tokens": 60_000}
    return write_json(document)


def text_under(workspace: Workspace, text: str, name: str) -> str:
    """A policy's text with its name exchanged for a free one; all else stays as it was typed."""
    free = free_name(workspace, name)
    value = json.dumps(free, ensure_ascii=False)
    if form_of(text) == JSON:
        return write_json({**json.loads(text.lstrip("\ufeff")), "name": free})
    return re.sub(r"(?m)^(\s*name\s*=\s*).*$", lambda found: found[1] + value, text, count=1)


def free_name(workspace: Workspace, name: str) -> str:
    """`my NAME`, with a number behind it where that is taken."""
    stem = name if name.startswith("my ") else f"my {name}"
    stem = re.sub(r" \d+$", "", stem)[: LONGEST_NAME - 6]
    taken = set(PolicyDocument.objects.filter(workspace=workspace).values_list("name", flat=True))
    names = (stem if number == 1 else f"{stem} {number}" for number in range(1, MOST + 2))
    return next(one for one in names if one not in taken)


def choose(session: Session, name: str) -> tuple[View, Run | None]:
    """The session under a policy, and the run that makes the view; raises UnknownNameError, PolicyError."""
    return opening.open_view(session, name)


def _checked(text: str) -> Policy:
    """The policy of a text under a name that is free for people; raises PolicyTextError."""
    policy = parse_policy_text(text)
    if policy.name in BUILTINS or policy.name in PRESETS:
        message = f"{policy.name!r} comes with ContextLab; give yours another name"
        raise PolicyTextError(message, "name", line_of(text, "name"))
    if policy.name == opening.RECORDED or _BRANCH.fullmatch(policy.name):
        message = f"{policy.name!r} is the name of another kind of view; give yours another name"
        raise PolicyTextError(message, "name", line_of(text, "name"))
    if policy.name != policy.name.strip():
        raise PolicyTextError("must not begin or end with a space", "name", line_of(text, "name"))
    return policy


def _taken(text: str, name: str) -> PolicyTextError:
    message = f"there is a policy {name!r} already; give this one another name"
    return PolicyTextError(message, "name", line_of(text, "name"))


def _add_version(policy: PolicyDocument) -> None:
    PolicyVersion.objects.create(
        policy=policy, version=policy.version, name=policy.name, document=policy.document,
        policy_hash=policy.policy_hash, text=policy.text,
    )  # fmt: skip


def _views(workspace_id: int, name: str) -> Q:
    return Q(kind=View.Kind.POLICY, name=name, session__workspace_id=workspace_id)


def _drop_views(workspace_id: int, name: str) -> None:
    """Remove views by name; a view that a compaction was made on is part of its lineage and stays."""
    used = Exists(CompactionJob.objects.filter(base_view=OuterRef("pk")))
    left = Exists(View.objects.filter(base=OuterRef("pk")))
    views = View.objects.filter(_views(workspace_id, name)).exclude(used).exclude(left)
    with transaction.atomic():
        lock_rows(views)
        views.delete()


def _rename_views(workspace_id: int, old: str, new: str) -> None:
    """Views go with their policy's name, except where a session has a view of the new name left over."""
    _drop_views(workspace_id, new)
    taken = View.objects.filter(session=OuterRef("session"), name=new)
    View.objects.filter(_views(workspace_id, old)).exclude(Exists(taken)).update(name=new)
