"""What becomes of an answer: nothing is lost in silence, and nothing that is no error is treated as one.

| the answer                                   | the batch                                                            |
|----------------------------------------------|----------------------------------------------------------------------|
| observations or a summary                    | stored, all or nothing                                               |
| skipped                                      | done; the skip is recorded, no summary is stored, no error           |
| prose that says the provider refused (quota, login) | pending: put back, nothing is asked until a person goes on    |
| other prose, nothing, XML that says nothing  | discarded: counted by class, with a preview; not asked again          |

Files: what was modified comes from tool evidence alone; what was read is the evidence, then what the answer claims.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from contextlab.core.memory_keeping.observations import TYPES, Observation, SessionSummary
from contextlab.core.memory_keeping.replies import ReplyClass, class_of, read_reply
from contextlab.core.summarising.file_tracking import Files

PREVIEW = 200
"""Characters of a discarded answer that are kept."""
LONGEST_REFUSAL = 2_000
"""A longer text is no provider's refusal."""
_REFUSED = re.compile(
    r"usage limit|rate limit|quota|\b(?:401|403|429)\b|credit balance|billing|invalid api key|"
    r"api key (?:is )?(?:missing|invalid)|please (?:run )?/?log ?in|not logged in|authentication_error|"
    r"unauthori[sz]ed|overloaded_error",
    re.IGNORECASE,
)


class Fate(StrEnum):
    """What became of a batch."""

    STORED = "stored"
    SKIPPED = "skipped"
    DISCARDED = "discarded"
    PENDING = "pending"


@dataclass(slots=True)
class Batch:
    """One answer, judged. `preview` and `answer_class` tell of a discarded or pending one."""

    fate: Fate
    observations: list[Observation] = field(default_factory=list)
    summary: SessionSummary | None = None
    skip_reason: str | None = None
    answer_class: ReplyClass = ReplyClass.XML
    preview: str = ""

    @property
    def confirmed(self) -> bool:
        """Whether the turn is done with: it is not asked again."""
        return self.fate != Fate.PENDING


def judged(
    text: object, evidence: Files | None = None, types: Sequence[str] = TYPES, turn: int | None = None
) -> Batch:
    """What becomes of an answer about a turn whose tools touched these files."""
    answer_class = class_of(text)
    reply = read_reply(text, types)
    if not reply.valid:
        told = text if isinstance(text, str) else ""
        refused = answer_class == ReplyClass.PROSE and len(told) <= LONGEST_REFUSAL and _REFUSED.search(told)
        fate = Fate.PENDING if refused else Fate.DISCARDED
        return Batch(fate, answer_class=answer_class, preview=told.strip()[:PREVIEW])
    if reply.skipped:
        return Batch(Fate.SKIPPED, skip_reason=reply.skip_reason)
    observations = [with_evidence(one, evidence or Files(), turn) for one in reply.observations]
    return Batch(Fate.STORED, observations, reply.summary)


def with_evidence(one: Observation, evidence: Files, turn: int | None) -> Observation:
    """The observation with the files that tools really touched."""
    read = list(dict.fromkeys([*evidence.read, *one.files_read]))
    return replace(one, files_read=read, files_modified=list(evidence.modified), turn=turn)


def once(observations: Sequence[Observation], session: str) -> list[Observation]:
    """Each content once, the first of it."""
    found: dict[str, Observation] = {}
    for one in observations:
        found.setdefault(one.content_hash(session), one)
    return list(found.values())
