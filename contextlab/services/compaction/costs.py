"""What a compaction cost, and after how many of the agent's steps that has paid for itself; prices go with both."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from contextlab.adapters.prices import Priced, price_of, shares_of
from contextlab.core.language_model import ModelUsage
from contextlab.core.measuring.pays_back import ASSUMED, Shares, pays_back
from contextlab.core.summarising.asking import added
from contextlab.store.models import CompactionJob, Session, StepRecord


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote for a compaction, or would, and what all of its part costs; None is unknown."""

    output: int | None
    cost: Decimal | None


COSTS = ("usage", "raw_reply", "cost", "prices")
"""Columns of a job that its answers fill."""


def note_costs(job: CompactionJob) -> None:
    """Write into the job what its model has taken so far, whatever will come of it."""
    for name, value in (told := _costs(job)).items():
        setattr(job, name, value)
    job.save(update_fields=list(told))


def written_for(job: CompactionJob) -> Written | None:
    """What a model wrote for it; None where none was asked."""
    return Written(job.usage["output_tokens"], job.cost) if job.usage else None


def _costs(job: CompactionJob) -> dict[str, Any]:
    answers = list(job.answers.order_by("id").values_list("text", "usage"))
    usage: ModelUsage | None = None
    for _, one in answers:
        usage = added(usage, ModelUsage(**one))
    if usage is None:
        return {}  # nobody has answered
    priced = priced_for(usage, job.model)
    told = {"usage": asdict(usage), "raw_reply": "\n\n".join(text for text, _ in answers)}
    return told | ({"cost": priced.cost, "prices": priced.prices} if priced else {})


def priced_for(usage: ModelUsage, model: str) -> Priced | None:
    """What that use costs, by the name that the model gives itself, else by that under which it was asked; None where
    no price of either is known."""
    names = filter(None, (usage.model, model))
    found = (price_of(name, usage.input_tokens, usage.output_tokens, usage.cached_tokens) for name in names)
    return next(filter(None, found), None)


def payback_of(
    session: Session, at_step: int, before: int, after: int | None, written: Written | None
) -> dict[str, Any] | None:
    """Steps, saved tokens and the shares they are computed from; None where nothing was saved.

    The prices are those of the model that the agent used last before the step: its cache is what is read again. The
    shares are `assumed` where the price list does not know that model.
    """
    if after is None or after >= before:
        return None
    model = _model_before(session, at_step)
    listed = shares_of(model)
    shares = Shares(listed.read, listed.write, listed.output) if listed else ASSUMED
    asked = None
    if written is not None and written.cost is not None and listed is not None:
        asked = float(written.cost / listed.input)
    output = None if written is None else written.output or 0
    return {
        "steps": pays_back(before, after, output, shares, asked),
        "saves_per_step": before - after,
        "read": shares.read,
        "write": shares.write,
        "output": shares.output,
        "assumed": listed is None,
        "model": model or None,
        "prices": listed.prices if listed else None,
    }


def _model_before(session: Session, at_step: int) -> str:
    rows = StepRecord.objects.filter(session=session, revision=session.revision, number__lt=at_step)
    rows = rows.exclude(model="").order_by("-number")
    return rows.values_list("model", flat=True).first() or ""
