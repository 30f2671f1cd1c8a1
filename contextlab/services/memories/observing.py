"""The run that notes what a session brought to light: turn by turn, each committed alone, resumable at any point.

| happens                        | comes to                                                                       |
|--------------------------------|--------------------------------------------------------------------------------|
| a turn that was read already   | not read again (by its digest); one that grew is                                |
| cancelled, killed              | what is committed stays; the next run goes on behind it                         |
| the provider refuses in prose  | the turn stays pending, nothing further is asked; the run says so               |
| other prose, nothing, no XML   | counted by class with a preview; not asked again                                |
| the model fails                | what may pass is tried again, three attempts in all; answers kept are not asked |
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from contextlab.core.language_model import LanguageModel, ModelError, ModelUsage
from contextlab.core.memory_keeping import by_rules
from contextlab.core.memory_keeping.batches import Batch, Fate, judged
from contextlab.core.memory_keeping.by_model import Asked, observe_turn, summarise_session
from contextlab.core.memory_keeping.prompts import Prompts
from contextlab.services.compaction.costs import priced_for
from contextlab.services.compaction.models import model_status, open_model
from contextlab.services.memories.keeping import all_settled, keep, settled
from contextlab.services.memories.settings import prompts_for, settings_of
from contextlab.services.memories.turns import TurnToRead, items_of, turns_to_read, whole_session
from contextlab.services.runs import Refused, TryAgain
from contextlab.services.work import Outcome, Work
from contextlab.store.bulk import clean_text
from contextlab.store.models import ObservationBatch, RunState, Session

PUT_BACK = "The model's provider refuses ({}); what was noted stays, the rest can be asked for again."
CHECKED = 500
"""Of turns that were read before, one in so many says how far the run is."""
NOT_ALLOWED = "No model may be asked for memories here any more; what was noted stays."


@dataclass(slots=True)
class Reading:
    """A run in somebody's hands, with what came of its turns so far."""

    work: Work
    session: Session
    method: str
    prompts: Prompts
    model: LanguageModel | None = None
    ends: Counter[str] = field(default_factory=Counter)
    made: int = 0
    known: dict[int, str] = field(init=False)
    """Digests of the turns that were read before this run, by their numbers."""

    def __post_init__(self) -> None:
        """Look up what was read before, once for all turns."""
        self.known = all_settled(self.session, self.method)

    def knows(self, turn: TurnToRead) -> bool:
        """Whether the turn was read before this run, and has not changed since."""
        return self.known.get(turn.number) == turn.digest

    def read(self, turn: TurnToRead) -> Fate | None:
        """Read one turn; None where that has been done already."""
        if self.knows(turn) or settled(self.session, turn, self.method):
            self.ends["known"] += 1
            return None
        batch, values = self._by_rules(turn) if self.method == by_rules.METHOD else self._by_model(turn)
        self.made += keep(self.work, self.session, turn, self.method, batch, values)
        self.ends[str(batch.fate)] += 1
        if batch.fate in (Fate.PENDING, Fate.DISCARDED):
            self.ends[f"{batch.fate}:{batch.answer_class}"] += 1
        if batch.fate == Fate.PENDING:
            raise Refused(PUT_BACK.format(batch.preview))
        return batch.fate

    def result(self) -> dict[str, Any]:
        """What the run's row says."""
        return {"observations": self.made, "ends": dict(self.ends), "method": self.method}

    def _by_rules(self, turn: TurnToRead) -> tuple[Batch, dict[str, Any]]:
        items = items_of(self.session, turn)
        values = {"discovery_tokens": 0}
        if turn.number:
            made = by_rules.observations(items, turn.number)
            fate = Fate.STORED if made else Fate.SKIPPED
            return Batch(fate, made, skip_reason=None if made else by_rules.NO_WORK), values
        summary = by_rules.session_summary(items)
        fate = Fate.STORED if summary else Fate.SKIPPED
        return Batch(fate, summary=summary, skip_reason=None if summary else by_rules.NO_WORK), values

    def _by_model(self, turn: TurnToRead) -> tuple[Batch, dict[str, Any]]:
        items = items_of(self.session, turn)
        kept = self._kept_answer(turn)
        if kept is not None:
            number = turn.number or None
            batch = judged(kept.answer, by_rules.evidence_files(items), self.prompts.types, number)
            return batch, {}
        if not settings_of(self.session.workspace).allow_model:
            raise Refused(NOT_ALLOWED)
        self.work.still_ours(
            f"asking the model about turn {turn.number:,}" if turn.number else "asking the model"
        )
        self.model = self.model or open_model()
        if turn.number:
            asked = observe_turn(items, self.model, self.prompts, turn=turn.number)
        else:
            asked = summarise_session(items, self.model, self.prompts)
        values = _costs(asked)
        self._keep_answer(turn, asked, values)
        return asked.batch, values

    def _kept_answer(self, turn: TurnToRead) -> ObservationBatch | None:
        """An answer that an attempt before this one got and did not come to read."""
        rows = ObservationBatch.objects.filter(
            session=self.session, turn=turn.number, method=self.method, digest=turn.digest
        )
        return rows.filter(fate=ObservationBatch.Fate.ANSWERED).first()

    def _keep_answer(self, turn: TurnToRead, asked: Asked, values: dict[str, Any]) -> None:
        fields = {
            "digest": turn.digest,
            "fate": ObservationBatch.Fate.ANSWERED,
            "answer": clean_text(asked.text),
        }
        ObservationBatch.objects.update_or_create(
            session=self.session, turn=turn.number, method=self.method, defaults={**fields, **values}
        )


def perform(work: Work) -> Outcome:
    """Do the run."""
    session = Session.objects.select_related("workspace").filter(uid=work.run.target).first()
    if session is None:
        raise Refused("The session was deleted.")
    method = str(work.run.params.get("method", by_rules.METHOD))
    reading = Reading(work, session, method, prompts_for(session.workspace, session.project))
    try:
        for done, turn in enumerate(turns_to_read(session)):
            if done % CHECKED == 0 or not reading.knows(turn):
                work.check_in(done, session.turns, f"turn {turn.number:,}")
            reading.read(turn)
        if work.run.params.get("summary"):
            reading.read(whole_session(session))
    except ModelError as error:
        raise (TryAgain(str(error), error.retry_after) if error.retryable else Refused(str(error))) from error
    work.check_in(session.turns, session.turns, "")
    nothing_new = reading.ends["known"] == sum(reading.ends.values())
    return Outcome(RunState.NOOP if nothing_new else RunState.DONE, reading.result())


def _costs(asked: Asked) -> dict[str, Any]:
    usage: ModelUsage = asked.usage
    priced = priced_for(usage, model_status().model)
    return {
        "discovery_tokens": asked.cost,
        "model": clean_text(usage.model or "", 200),
        "cost": priced.cost if priced else None,
    }
