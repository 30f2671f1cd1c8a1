"""The form that asks for a compaction: what was typed, item numbers to ids, and the policies to choose from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from contextlab.queries.compaction import CompactionPage
from contextlab.queries.live import live_name
from contextlab.queries.policies import is_known, own_policies, package_policies
from contextlab.queries.recorded_compaction import ids_at, positions_of
from contextlab.services.compaction import BadRequest, CompactRequest, read_request
from contextlab.store.models import Session, View
from contextlab.web.addresses import clean
from contextlab.web.opened import LARGEST, RECORDED

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


def views(session: Session, wanted: str) -> dict[str, str]:
    """The memories that can be compacted, in words by their names: the agent's own of a live session, as recorded,
    and the branches, newest first; the one that is wanted whatever it is of, where the session has it."""
    wanted, lived = clean(wanted), live_name(session)
    in_force = "{}, its memory in force"
    branches = session.views.filter(kind=View.Kind.BRANCH).order_by("-id").values_list("name", flat=True)
    found = {lived: f"{lived}: what the agent gets at its next step"} if lived else {}
    found |= {RECORDED: "as recorded in the log"}
    found |= {name: in_force.format(name) for name in branches[:MOST_VIEWS]}
    other = None if wanted in found else session.views.filter(name=wanted).first()
    if other is not None:
        found[wanted] = in_force.format(wanted) if other.keeps_memory else f"under the policy {wanted}"
    return found


def typed(given: Mapping[str, Any]) -> dict[str, str]:
    """What the fields hold, as texts."""
    return {name: str(given.get(name) or "") for name in FIELDS}


def again_query(session: Session, page: CompactionPage) -> str:
    """The query of the form filled in as it was for a compaction, to start it again or in another way."""
    places = positions_of(session, page.pins)
    values = {
        "policy": page.policy_name if is_known(session.workspace_id, page.policy_name) else "",
        "view": page.base_view, "before_step": page.before_step, "before_compaction": page.before_compaction,
        "keep_recent": page.keep_recent, "pins": ", ".join(str(places[name]) for name in page.pins if name in places),
        "instructions": page.instructions[:2000],
    }  # fmt: skip
    return urlencode({name: value for name, value in values.items() if value not in (None, "")})


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


def with_pins(fields: Mapping[str, str], positions: Sequence[int]) -> str:
    """The pins of the form with these items besides."""
    more = [str(at) for at in positions]
    return ", ".join([one for one in [fields["pins"].strip(" ,;")] if one] + more)[:LONGEST_PINS]


def said(error: BadRequest) -> str:
    """A refusal with the field that it is about, by its label in the place of its name."""
    label = LABELS.get(error.place)
    return f"{label}: {str(error).removeprefix(f'{error.place} ')}" if label else str(error)
