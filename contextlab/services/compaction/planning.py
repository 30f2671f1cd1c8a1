"""What a compaction would do, without a model and without a trace: the policy runs, its model is played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from contextlab.adapters.prices import Priced, price_of
from contextlab.core.agent.live import Compaction
from contextlab.core.committing.compacting import compacted, memory_faults
from contextlab.core.committing.figures import Figures, figures_of
from contextlab.core.errors import CompactError
from contextlab.core.items import LEFT_OUT, Item, Verdict
from contextlab.core.language_model import ModelMessage, ModelReply
from contextlab.core.measuring.memory_size import text_tokens
from contextlab.core.projection import item_tokens
from contextlab.services.compaction.costs import Written, payback_of
from contextlab.services.compaction.given import deps_for, pins_note
from contextlab.services.compaction.held import Held
from contextlab.services.compaction.memory import read_memory
from contextlab.services.compaction.models import model_status
from contextlab.services.compaction.requests import BadRequest, CompactRequest
from contextlab.services.compaction.values import Estimate, Preview, PreviewItem
from contextlab.store.models import FINISHED, Run, Session, View

MOST_ITEMS = 400
"""Items that a preview lists at most: half of them the oldest, half the newest."""
ANSWER = 800
"""Tokens that a model is taken to write, where no limit is set; never more than a quarter of what it reads."""


class PlayedModel:
    """Counts what it is asked and answers with a text of the size that a model would write."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self.calls = self.read = self.wrote = 0

    def complete(
        self,
        messages: Sequence[ModelMessage],
        *,
        json_mode: bool = False,  # noqa: ARG002 - the protocol's
        max_output_tokens: int | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> ModelReply:
        """A text of about the right size."""
        size = sum(text_tokens(message.content) for message in messages)
        wrote = max(1, min(max_output_tokens or ANSWER, size // 4))
        self.calls, self.read, self.wrote = self.calls + 1, self.read + size, self.wrote + wrote
        return ModelReply("xyz " * wrote)


def preview(session: Session, request: CompactRequest) -> Preview:
    """What the request would do to the memory that it names; raises BadRequest."""
    view = open_base(session, request.view)
    refuse_being_read(session)
    held = read_memory(session, view, request.before_step, request.before_compaction)
    played = PlayedModel()
    known = {item.id for item in held.snapshot.items}
    deps = deps_for(held, request.pins, request.instructions, played)
    try:
        done, fault = compacted(request.policy, held.snapshot, deps), ""
    except CompactError as error:
        done, fault = Compaction("failed"), str(error)
    missing = tuple(pin for pin in request.pins if pin not in known)
    figures = figures_of(held.snapshot, done.outcome, deps.count)
    told = _preview(held, request, done, figures, fault, played, missing)
    note = pins_note(request.policy, held, deps)
    return replace(told, notes=[note] if note else [])


def refuse_being_read(session: Session) -> None:
    """Raise BadRequest for a session whose log is just being read: its memory is not complete."""
    if session.file is None or session.views.filter(kind=View.Kind.LIVE).exists():
        return  # what a live session gets meanwhile follows
    reading = Run.objects.filter(kind=Run.Kind.IMPORT, target=session.file.uid.hex)
    if reading.exclude(state__in=FINISHED).exists():
        raise BadRequest("session", "The session is still being read; try again when that has ended.")


def open_base(session: Session, name: str) -> View:
    """The view whose memory is read; raises BadRequest where it is not there or not complete."""
    view = session.views.filter(name=name).first()
    if view is None:
        raise BadRequest("view", f"The session has no view {name!r}.")
    complete = view.revision == session.revision and view.steps == session.steps
    if not view.keeps_memory and not complete:
        raise BadRequest("view", "This view of the session is still being made; try again in a moment.")
    return view


def _preview(
    held: Held,
    request: CompactRequest,
    done: Compaction,
    figures: Figures,
    fault: str,
    played: PlayedModel,
    missing: Sequence[str],
) -> Preview:
    outcome, policy = done.outcome, request.policy
    before, size = figures.tokens_before, figures.tokens_after
    after = outcome and outcome.memory
    asks = policy.needs_model
    estimate = _estimate(played) if asks and played.calls else Estimate()
    covered = {name for name, fate in outcome.fates.items() if fate.verdict in LEFT_OUT} if outcome else set()
    ends = [held.positions[one] + 1 for one in covered if one in held.positions]
    written = Written(estimate.output_tokens, estimate.cost) if asks else None
    payback = payback_of(held.session, held.at_step, before, size, written)
    return Preview(
        compacts=done.state == "done",
        reason=fault or (done.reason if done.state != "done" else ""),
        policy=policy.name,
        method=outcome.result.method
        if outcome and outcome.result and not asks
        else "model"
        if asks
        else "rules",
        needs_model=asks,
        model_ready=not asks or model_status().allowed,
        at_step=held.at_step,
        steps_since=max(0, held.session.steps - held.at_step + 1),
        upto=held.upto,
        cut=max(ends, default=None),
        summarised=figures.summarised,
        dropped=figures.dropped,
        kept=figures.kept,
        pinned=figures.pinned,
        tokens_before=before,
        tokens_after=size,
        after_estimated=asks,
        token_source=figures.token_source,
        faults=memory_faults(after) if after and done.state == "done" else (),
        missing_pins=missing,
        estimate=estimate,
        saves_per_step=payback["saves_per_step"] if payback else None,
        pays_back=payback["steps"] if payback else None,
        payback=payback,
        items=_listed(held, done),
        items_total=len(held.snapshot.items),
    )


def _estimate(played: PlayedModel) -> Estimate:
    model = model_status().model
    priced: Priced | None = price_of(model, played.read, played.wrote)
    return Estimate(
        played.calls,
        played.read,
        played.wrote,
        priced.cost if priced is not None else None,
        priced.prices if priced is not None else None,
        model or None,
    )


def _listed(held: Held, done: Compaction) -> list[PreviewItem]:
    items = held.snapshot.items
    shown = items if len(items) <= MOST_ITEMS else (*items[: MOST_ITEMS // 2], *items[-MOST_ITEMS // 2 :])
    return [_line(held, item, done) for item in shown]


def _line(held: Held, item: Item, done: Compaction) -> PreviewItem:
    fate: Any = done.outcome.fates.get(item.id) if done.outcome else None
    verdict, reason = (str(fate.verdict), fate.reason) if fate else (str(Verdict.KEPT), None)
    return PreviewItem(
        item.id, held.positions.get(item.id), str(item.kind), item.tool, verdict, reason and str(reason),
        item_tokens(item), item.chars,
    )  # fmt: skip
