"""The form that asks for a compaction: what was typed, item numbers to ids, and the policies to choose from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contextlab.queries.policies import own_policies, package_policies
from contextlab.queries.recorded_compaction import ids_at
from contextlab.services.compaction import BadRequest, CompactRequest, read_request
from contextlab.store.models import Session, View
from contextlab.web.opened import LARGEST

FIELDS = ("policy", "view", "before_step", "before_compaction", "keep_recent", "pins", "instructions")
FIRST = "rule-based"
MOST_PINS = 500
LONGEST_PINS = 4_000
MOST_VIEWS = 50
LABELS = {
    "policy": "Policy", "view": "Memory", "before_step": "As if before step",
    "before_compaction": "As a compaction of the log found it", "keep_recent": "Keep recent",
    "pins": "Never lose these", "instructions": "Instructions", "confirm": "Confirmation",
}  # fmt: skip
_RANGE = re.compile(r"#?([0-9]{1,9})(?:\s*-\s*#?([0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class PolicyChoice:
    """A policy that compacts."""

    name: str
    words: str
    needs_model: bool


def policies(workspace_id: int) -> Sequence[PolicyChoice]:
    """Those that can compact, the workspace's own too; the one that is taken without a choice first."""
    lines = [*package_policies(), *own_policies(workspace_id)]
    choices = [PolicyChoice(line.name, line.words, line.needs_model) for line in lines if line.compacts]
    return sorted(choices, key=lambda choice: (choice.name != FIRST, choice.needs_model))


def views(session: Session) -> Sequence[str]:
    """The memories that can be compacted: as recorded, and the branches, newest first."""
    branches = session.views.filter(kind=View.Kind.BRANCH).order_by("-id").values_list("name", flat=True)
    return ["recorded", *branches[:MOST_VIEWS]]


def typed(given: Mapping[str, Any]) -> dict[str, str]:
    """What the fields hold, as texts."""
    return {name: str(given.get(name) or "") for name in FIELDS}


def asked(session: Session, fields: Mapping[str, str], confirm: bool = False) -> CompactRequest:
    """The request of a form; raises BadRequest."""
    pins = read_pins(session, fields["pins"])
    return read_request({**fields, "pins": pins, "confirm": confirm}, session.workspace_id)


def read_pins(session: Session, text: str) -> list[str]:
    """Ids of the items at `12, 18-20`; raises BadRequest."""
    if len(text) > LONGEST_PINS:
        raise BadRequest(
            "pins", f"{len(text):,} characters of item numbers; at most {LONGEST_PINS:,} are taken."
        )
    wanted: list[int] = []
    for part in filter(None, (one.strip() for one in re.split(r"[,;\n]", text))):
        found = _RANGE.fullmatch(part)
        if found is None:
            raise BadRequest("pins", f"{part[:40]!r} is no item number; write them as 12, 18-20.")
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first or last > LARGEST:
            raise BadRequest("pins", f"{part[:40]!r} is no range of items.")
        if len(wanted) + last - first >= MOST_PINS:
            raise BadRequest("pins", f"More than {MOST_PINS} items are pinned.")
        wanted += range(first, last + 1)
    ids = ids_at(session, wanted)
    if missing := [one for one in wanted if one not in ids]:
        raise BadRequest("pins", f"The session has no item #{missing[0]}.")
    return [ids[one] for one in dict.fromkeys(wanted)]


def said(error: BadRequest) -> str:
    """A refusal with the field that it is about."""
    label = LABELS.get(error.place)
    return f"{label}: {error}" if label else str(error)
