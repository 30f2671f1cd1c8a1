"""The audit of a session: its compactions, each with ledger and consequences, their decay, and what to look at.

    audit(timeline, texts, compactions)            a whole session as recorded
    ledger_of(timeline, texts, left, stayed, ...)  one ledger: a compaction to come, or what a step cannot see

Both are pure: no clock, no files, the same values for the same input. `texts` gives an item's text by its position.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from contextlab.core.audit.consequences import Tracer
from contextlab.core.audit.decay import Generation, decay
from contextlab.core.audit.detected import detected
from contextlab.core.audit.facts import Extractor
from contextlab.core.audit.findings import findings
from contextlab.core.audit.ledger import Bookkeeper, Replacement
from contextlab.core.audit.matching.corpus import Corpus
from contextlab.core.audit.matching.index import Index
from contextlab.core.audit.matching.judgement import Case
from contextlab.core.audit.results import Audit, CompactionAudit, Ledger
from contextlab.core.audit.source import Source, StepOf, Texts
from contextlab.core.items import IN_CONTEXT, KINDS, Kind, Reason, Verdict
from contextlab.core.recorded import RecordedReplayer
from contextlab.core.spans import Span, verdicts_at
from contextlab.core.timeline import CompactionRow, Step, Timeline

_SYSTEM = KINDS.index(Kind.SYSTEM)
_UI = KINDS.index(Kind.UI)


@dataclass(slots=True)
class _Event:
    """A compaction with what left and what stayed."""

    number: int
    micro: bool
    origin: str
    evidence: str
    at_step: int
    upto: int
    summary: int | None
    opaque: bool
    left: list[int]
    stayed: list[int]


def audit(
    timeline: Timeline,
    texts: Texts,
    compactions: Sequence[CompactionRow],
    *,
    spans: Sequence[Span] | None = None,
    spoken: Collection[int] = (),
) -> Audit:
    """The audit of a session as recorded.

    `spans` are those of the recorded view, where they are at hand (else it is replayed); `spoken` are the positions
    of injected items that are a person's words (queued, or sent in the middle of a turn).
    """
    source = Source(timeline, texts, spoken)
    extractor = Extractor(source)
    keeper = Bookkeeper(extractor)
    events = _recorded(timeline, compactions, spans)
    known = frozenset(row.summary for row in compactions if row.summary is not None)
    if not any(not event.micro for event in events):
        events += _detected(source, known)
    events.sort(key=lambda event: (event.upto, event.at_step))
    audits, generations = [], []
    for at, event in enumerate(events):
        text = None if event.summary is None else source.item(event.summary).text
        unread = event.opaque or (not event.micro and not text)
        replacement = Replacement(text or None, unread)
        ledger = keeper.ledger(event.left, event.stayed, replacement, event.upto)
        stop = next((later.upto for later in events[at + 1 :] if not later.micro), len(source))
        if event.micro:
            stop = next((later.upto for later in events[at + 1 :]), len(source))
        start = event.upto if event.summary is None else max(event.upto, event.summary + 1)
        after = Tracer(extractor, event.number, event.micro, event.left).trace(ledger, start, stop)
        audits.append(
            CompactionAudit(
                event.number, event.micro, event.origin, event.evidence, event.at_step, event.upto, event.summary,
                unread, ledger, after,
            )
        )  # fmt: skip
        if not event.micro:
            generations.append(_generation(extractor, event, text, ledger, unread))
    return Audit(tuple(audits), decay(generations), findings(audits))


def ledger_of(
    timeline: Timeline,
    texts: Texts,
    left: Iterable[int],
    stayed: Iterable[int],
    *,
    summary: str | None = None,
    opaque: bool = False,
    spoken: Collection[int] = (),
) -> Ledger:
    """One ledger: of a compaction before it is made (its items, what stays, its summary), or of a projection
    (what the step cannot see, what it can; no summary)."""
    keeper = Bookkeeper(Extractor(Source(timeline, texts, spoken)))
    return keeper.ledger(sorted(left), sorted(stayed), Replacement(summary, opaque), None)


def _generation(
    extractor: Extractor, event: _Event, text: str | None, ledger: Ledger, opaque: bool
) -> Generation:
    source = extractor.source
    stayed = [source.item(at).text for at in event.stayed]
    seen = "\n".join([text or "", *stayed])
    case = Case(Index(seen), Corpus(()), Corpus(()), extractor.facts(())) if text else None
    return Generation(event.number, ledger, case, opaque)


def _recorded(
    timeline: Timeline, compactions: Sequence[CompactionRow], spans: Sequence[Span] | None
) -> list[_Event]:
    """The compactions that the log records, with the items that left memory at each and those that stayed."""
    if not compactions:
        return []
    if spans is None:
        spans = _replayed(timeline)
    events = []
    for row in compactions:
        before = verdicts_at(spans, row.at_step - 1, range(row.upto))
        after = verdicts_at(spans, row.at_step, range(row.upto))
        left, stayed = [], []
        for position in range(row.upto):
            if timeline.kinds[position] == _UI or position == row.summary:
                continue
            was, now = before[position], after[position]
            gone = now[0] == (Verdict.CLEARED if row.micro else Verdict.SUMMARISED)
            if gone and (was[0] != now[0]):
                left.append(position)
            elif now[0] in IN_CONTEXT and now[0] != Verdict.CLEARED and now[1] != Reason.PROVIDER_STRIPS:
                stayed.append(position)
        events.append(
            _Event(
                row.number, row.micro, row.event.origin, "", row.at_step, row.upto, row.summary,
                row.event.opaque and not row.micro, left, stayed,
            )
        )  # fmt: skip
    return events


def _replayed(timeline: Timeline) -> list[Span]:
    """The spans of the recorded view, one step beyond its last: a compaction may stand at the very end."""
    last = Step(len(timeline.steps) + 1, "", len(timeline.turns_list), len(timeline))
    replayer = RecordedReplayer(replace(timeline, steps=[*timeline.steps, last]))
    for _ in replayer.run():
        pass
    return replayer.spans()


def _detected(source: Source, known: frozenset[int]) -> Iterator[_Event]:
    """The summaries that only say so themselves: each replaced what stands before it, back to the one before."""
    steps = StepOf(source.timeline)
    start, kinds = 0, source.timeline.kinds
    for number, one in enumerate(detected(source, known), 1):
        left = [at for at in range(start, one.position) if kinds[at] not in (_SYSTEM, _UI)]
        stayed = [at for at in range(one.position) if kinds[at] == _SYSTEM]
        step = steps.of(one.position) or len(source.timeline.steps) + 1
        yield _Event(
            number, False, "detected", one.evidence, step, one.position, one.position, False, left, stayed
        )
        start = one.position
