"""What a compaction would lose, fact by fact, before it is made: the policy runs, and its summary is held against what
leaves. A policy that asks a model is not run with one: what it would write is not known, so its facts are at stake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextlab.core.audit.auditing import ledger_of
from contextlab.core.audit.results import Entry, FactKind, FactVerdict, Ledger
from contextlab.core.committing.compacting import compacted
from contextlab.core.compaction import Outcome
from contextlab.core.errors import CompactError
from contextlab.core.items import LEFT_OUT
from contextlab.services.compaction.given import deps_for
from contextlab.services.compaction.held import Held
from contextlab.services.compaction.memory import read_memory
from contextlab.services.compaction.planning import PlayedModel, open_base, refuse_being_read
from contextlab.services.compaction.requests import BadRequest, CompactRequest
from contextlab.services.texts import SessionTexts
from contextlab.services.timelines import load_timeline
from contextlab.store.models import Session

MOST_ITEMS = 20_000
"""Items of a session whose facts are looked for in a request; larger ones are audited behind it."""
MOST_CHARS = 8_000_000
SHOWN = 40
MOST_PINS = 60
LOST = (FactVerdict.DROPPED, FactVerdict.CHANGED, FactVerdict.CANNOT_TELL)
PINNED_KINDS = (FactKind.RULE, FactKind.USER_CORRECTION, FactKind.DECISION, FactKind.PORT, FactKind.SETTING)


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The facts that would not be there any more, the heaviest first."""

    ledger: Ledger
    lost: Sequence[Entry]
    """Dropped or changed; where a model would write the summary: at stake."""
    partial: int
    kept: int
    at_stake: bool
    """The summary is a model's, and not known yet."""
    pins: Sequence[int]
    """Positions of the items to pin so that the weightiest of them stay."""


def foresee(session: Session, request: CompactRequest) -> Foreseen | None:
    """What the request would lose; None where it would do nothing. Raises BadRequest."""
    if is_too_large(session):
        raise BadRequest(
            "session", f"Facts are foreseen in sessions of up to {MOST_ITEMS:,} items; this one is larger."
        )
    view = open_base(session, request.view)
    refuse_being_read(session)
    held = read_memory(session, view, request.before_step, request.before_compaction)
    deps = deps_for(held, request.pins, request.instructions, PlayedModel())
    try:
        done = compacted(request.policy, held.snapshot, deps)
    except CompactError:
        return None
    if done.state != "done" or done.outcome is None or done.outcome.memory is None:
        return None
    return _foreseen(session, held, done.outcome, request.policy.needs_model)


def is_too_large(session: Session) -> bool:
    """Whether looking for a session's facts would take longer than somebody waits for a page."""
    return session.items > MOST_ITEMS or session.text_chars > MOST_CHARS


def _foreseen(session: Session, held: Held, outcome: Outcome, asks: bool) -> Foreseen:
    gone = {name for name, fate in outcome.fates.items() if fate.verdict in LEFT_OUT}
    left = [at for name, at in held.positions.items() if name in gone]
    stayed = [at for name, at in held.positions.items() if name not in gone]
    summary = None if asks or outcome.memory is None else outcome.memory.summary
    ledger = ledger_of(
        load_timeline(session), SessionTexts(session), left, stayed, summary=summary, opaque=asks
    )
    lost = [entry for entry in ledger.entries if entry.verdict in LOST]
    worth = [entry for entry in lost if entry.fact.kind in PINNED_KINDS] or lost[:5]
    pins = dict.fromkeys(entry.fact.position for entry in worth)
    return Foreseen(
        ledger, lost[:SHOWN], ledger.count(FactVerdict.PARTIAL), ledger.count(FactVerdict.KEPT), asks,
        list(pins)[:MOST_PINS],
    )  # fmt: skip
