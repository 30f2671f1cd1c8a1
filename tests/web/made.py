"""Sessions made by hand, written as rows: a page's tests need no importer and no worker.

    made = Log().ask("fix it").step(input=900).call("bash", "pytest -q").result("ok").save()
    view = made.view([Span(0, 3, Verdict.SUMMARISED, Reason.COMPACTED, 5)])

Reports are worked out item by item and step by step from the spans, by the plainest code there is: tests compare
what pages read by windows and folds with it.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import zstandard
from django.utils import timezone

from contextlab.core.assembler import Assembler
from contextlab.core.events import Compaction, ItemEvent, SessionStart, StepEvent, TurnStart, Usage
from contextlab.core.items import KIND_CODE, KINDS, VERDICT_CODE, Kind, Media, Verdict
from contextlab.core.policy import BUILTINS, policy_hash
from contextlab.core.spans import Span
from contextlab.core.timeline import ItemRow, item_flags
from contextlab.queries.fates import is_left_out
from contextlab.store.models import (
    CompactionRecord,
    ItemRecord,
    LogFile,
    MarkRecord,
    Session,
    SpanRecord,
    StepRecord,
    StepReport,
    TextSegment,
    TurnRecord,
    View,
    Workspace,
)

_numbers = itertools.count(1)


def workspace() -> Workspace:
    return Workspace.objects.order_by("id").first() or Workspace.objects.create()


@dataclass
class Made:
    """A saved session with what it was made of."""

    session: Session
    assembler: Assembler
    rows: list[ItemRow]

    @property
    def steps(self):
        return self.assembler.timeline.steps

    def url(self, rest: str = "") -> str:
        return f"/sessions/{self.session.uid}{rest}"

    def size(self, position: int) -> int:
        return self.assembler.timeline.estimates[position]

    def fate(self, spans: list[Span], position: int, step: int) -> tuple[Verdict, str, int]:
        for span in spans:
            if span.covers(position, step):
                return span.verdict, str(span.reason or ""), span.first_step
        return Verdict.KEPT, "", 0

    def view(self, spans: list[Span], name: str = "recorded", chart: dict | None = None) -> View:
        kind = View.Kind.RECORDED if name == "recorded" else View.Kind.POLICY
        view = View.objects.create(
            session=self.session,
            kind=kind,
            name=name,
            revision=1,
            steps=len(self.steps),
            stale=False,
            policy_hash=policy_hash(BUILTINS[name]) if name in BUILTINS else "",
            chart=chart or {},
        )
        SpanRecord.objects.bulk_create(
            SpanRecord(
                view=view, first_item=span.first_item, last_item=span.last_item, verdict=VERDICT_CODE[span.verdict],
                reason=str(span.reason or ""), first_step=span.first_step, end_step=span.end_step,
            )
            for span in spans
        )  # fmt: skip
        StepReport.objects.bulk_create(
            self._report(view, spans, step.number, step.upto) for step in self.steps
        )
        return view

    def _report(self, view: View, spans: list[Span], step: int, upto: int) -> StepReport:
        kinds = [KINDS[code] for code in self.assembler.timeline.kinds[:upto]]
        fates = [self.fate(spans, position, step) for position in range(upto)]
        out = [
            is_left_out(verdict, why) or kinds[at] == Kind.UI for at, (verdict, why, _) in enumerate(fates)
        ]
        verdicts = [verdict for verdict, _, _ in fates]
        shown = [position for position in range(upto) if not out[position]]
        composition = [sum(self.size(at) for at in shown if kinds[at] == kind) for kind in KINDS[:-1]]
        real = [at for at in range(upto) if kinds[at] != Kind.UI and verdicts[at] != Verdict.SUMMARISED]
        head_end, tail_start = longest_run(out)
        return StepReport(
            view=view, step=step, source_items=len(real), projected_items=len(shown),
            dropped_items=len(real) - len(shown), pinned_items=verdicts.count(Verdict.PINNED),
            cleared_items=verdicts.count(Verdict.CLEARED), offloaded_items=verdicts.count(Verdict.OFFLOADED),
            reasoning_cleared_items=verdicts.count(Verdict.REASONING_CLEARED),
            summarised_items=verdicts.count(Verdict.SUMMARISED), source_entries=len(real),
            projected_entries=len(shown), dropped_entries=len(real) - len(shown), source_chars=0, projected_chars=0,
            source_tokens=sum(self.size(at) for at in real), projected_tokens=sum(composition), counted=False,
            head_end=head_end, tail_start=tail_start, composition=composition,
        )  # fmt: skip


def longest_run(out: list[bool]) -> tuple[int, int]:
    best, start = (len(out), len(out)), 0
    for at in range(len(out) + 1):
        if at == len(out) or not out[at]:
            if at - start > best[1] - best[0]:
                best = (start, at)
            start = at + 1
    return best


def a_start(**values: object) -> SessionStart:
    given = {"title": "Made by hand", "model": "claude-opus-4-5", "project": "acme-api"} | values
    return SessionStart(f"made-{next(_numbers)}", **given)


@dataclass
class Log:
    """Writes events one after the other; every method returns the log."""

    meta: SessionStart = field(default_factory=lambda: a_start())
    feed: list = field(default_factory=list)
    _step: str | None = None
    _calls: int = 0

    def ask(self, text: str) -> Log:
        number = len(self.feed)
        self._step = None
        self.feed.append(TurnStart(f"t{number}"))
        return self.item(Kind.USER, text, opens_turn=True)

    def item(self, kind: Kind, text: str, **more: object) -> Log:
        name = f"i{len(self.feed)}"
        more.setdefault("entry", name)
        self.feed.append(ItemEvent(name, kind, text, **more))
        return self

    def step(self, limit: int | None = 200_000, **usage: int) -> Log:
        self._step = f"s{len(self.feed)}"
        self.feed.append(StepEvent(self._step, model=self.meta.model, limit=limit))
        if usage:
            self.feed.append(Usage(self._step, **usage))
        return self

    def say(self, text: str) -> Log:
        return self.item(Kind.ASSISTANT, text, step=self._step)

    def think(self, text: str) -> Log:
        return self.item(Kind.REASONING, text, step=self._step)

    def call(self, tool: str, arguments: str) -> Log:
        self._calls += 1
        return self.item(Kind.TOOL_CALL, arguments, step=self._step, tool=tool, call_id=f"call-{self._calls}")

    def result(self, text: str, **more: object) -> Log:
        return self.item(Kind.TOOL_RESULT, text, call_id=f"call-{self._calls}", **more)

    def image(self) -> Log:
        return self.item(Kind.USER, "", media=(Media("image", "image/png", 2_800_000),))

    def compaction(self, summary: str, keeps: tuple[str, ...] = (), **more: object) -> Log:
        number = len(self.feed)
        self.feed.append(Compaction(f"c{number}", summary=f"i{number + 1}", keeps=keeps, **more))
        return self.item(Kind.SUMMARY, summary)

    def repeat(self, times: int, write: Callable[[Log, int], object]) -> Log:
        for number in range(times):
            write(self, number)
        return self

    def save(self, **columns: object) -> Made:
        assembler = Assembler(self.meta)
        rows = assembler.feed_all(self.feed)
        session = _session(assembler, columns)
        _write_items(session, rows)
        timeline = assembler.timeline
        TurnRecord.objects.bulk_create(
            TurnRecord(
                session=session, number=turn.number, native_id=turn.id, first_position=turn.first_position,
                first_step=turn.first_step, last_step=turn.last_step,
                title=next((row.event.text[:240] for row in rows if row.position == turn.first_position), ""),
            )
            for turn in timeline.turns_list
        )  # fmt: skip
        StepRecord.objects.bulk_create(
            StepRecord(
                session=session, number=step.number, native_id=step.id, turn=step.turn, upto=step.upto,
                model=step.model or "", limit=step.limit, limit_source="logged" if step.limit else "",
                input=step.input, cache_read=step.cache_read, cache_write=step.cache_write, output=step.output,
                restart=step.restart,
            )
            for step in timeline.steps
        )  # fmt: skip
        CompactionRecord.objects.bulk_create(
            CompactionRecord(
                session=session, number=row.number, micro=row.micro, native_id=row.event.id, at_step=row.at_step,
                upto=row.upto, trigger=row.event.trigger or "", pre_tokens=row.event.pre_tokens,
                post_tokens=row.event.post_tokens, summary=row.summary, opaque=row.event.opaque,
            )
            for row in assembler.compactions
        )  # fmt: skip
        MarkRecord.objects.bulk_create(
            MarkRecord(
                session=session, number=number, at_step=mark.at_step, upto=mark.upto,
                verdict=VERDICT_CODE[mark.verdict], reason=mark.reason, positions=list(mark.positions),
                all_before=mark.all_before, compaction=mark.compaction, summary=mark.summary,
            )
            for number, mark in enumerate(timeline.marks, 1)
        )  # fmt: skip
        return Made(session, assembler, rows)


def _session(assembler: Assembler, columns: dict) -> Session:
    timeline, meta = assembler.timeline, assembler.meta
    inputs = [step.prompt_tokens for step in timeline.steps if step.prompt_tokens is not None]
    made = {
        "workspace": workspace(), "native_id": meta.native_id, "format": "claude-code", "title": meta.title or "",
        "model": meta.model or "", "project": meta.project or "acme-api", "turns": len(timeline.turns_list),
        "steps": len(timeline.steps), "items": len(timeline), "compactions": len(assembler.compactions),
        "peak_tokens": max(inputs, default=None), "peak_source": "reported" if inputs else "",
        "limit": timeline.steps[-1].limit if timeline.steps else None, "sort_at": timezone.now(),
    }  # fmt: skip
    if "file" not in columns:
        made["file"] = LogFile.objects.create(
            workspace=made["workspace"], name="made.jsonl", key=meta.native_id
        )
    return Session.objects.create(**(made | columns))


def _write_items(session: Session, rows: list[ItemRow]) -> None:
    blob, records = bytearray(), []
    for row in rows:
        event, text = row.event, row.event.text.encode("utf-8", "surrogatepass")
        preview = " ".join(event.text[:240].split()).replace("\x00", "")
        records.append(ItemRecord(
            session=session, position=row.position, native_id=event.id, kind=KIND_CODE[event.kind], entry=row.entry,
            turn=row.turn, step=row.step, first_step=row.first_step, pair=row.pair if row.pair >= 0 else None,
            tool=event.tool or "", call_id=event.call_id or "", flags=item_flags(event),
            injected=event.injected or "", label=event.label or "", chars=row.chars, estimate=(row.chars + 3) // 4,
            opaque_chars=event.opaque_chars, content_hash=hashlib.sha256(text).digest(), preview=preview,
            text_segment=0, text_offset=len(blob), text_length=len(text), original=event.original,
            media=[{"type": one.type, "mime": one.mime, "size": one.size} for one in event.media] or None,
        ))  # fmt: skip
        blob += text
    ItemRecord.objects.bulk_create(records)
    data = zstandard.ZstdCompressor().compress(bytes(blob))
    sha256 = hashlib.sha256(blob).hexdigest()
    TextSegment.objects.create(session=session, number=0, length=len(blob), sha256=sha256, data=data)
