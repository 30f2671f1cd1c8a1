"""A text over a session, or over all sessions: who holds it, and at which steps the model had it before it.

The index names candidates, the text itself decides. Where not all could be looked at (a session that is not indexed
yet, a word that stands everywhere) the answer says so: then "not there" is not promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from contextlab.core.audit.last_seen import (
    Band,
    Fold,
    Holder,
    Seen,
    SpanIndex,
    at_step,
    bands,
    last_seen,
    life,
)
from contextlab.core.audit.search_words import SearchQuery, may_change, near, variants
from contextlab.core.items import KIND_CODE, KINDS, Kind, Verdict
from contextlab.queries.spans_kept import spans_of
from contextlab.store.items import session_items
from contextlab.store.models import CompactionRecord, SearchState, Session, View
from contextlab.store.search import find
from contextlab.store.texts import TEXT_COLUMNS, read_texts

HITS = 100
"""Items of one session whose lives are looked at."""
LISTED = 50
"""Hits that an answer shows."""
UNINDEXED = 2_000
"""Items behind the index that are read through one by one."""
AROUND = 80
"""Letters shown on both sides of a find."""
SUMMARY_BYTES = 256 * 1024

PLACE_COLUMNS = ("kind", "tool", "native_id", "first_step", *TEXT_COLUMNS)
_CALL, _SUMMARY = KIND_CODE[Kind.TOOL_CALL], KIND_CODE[Kind.SUMMARY]


class ItemPlace(NamedTuple):
    """An item that may hold the text; the last four are where its own text is."""

    kind: int
    tool: str
    native_id: str
    first_step: int
    position: int
    segment: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Snippet:
    """The text around a find: what stands before it, it, and what stands behind it."""

    before: str
    found: str
    after: str


@dataclass(frozen=True, slots=True)
class Hit:
    """An item that holds the text, and how the model had that item from step to step."""

    position: int
    native_id: str
    kind: Kind
    tool: str
    first_step: int
    snippet: Snippet
    places: int
    """How often it stands in the item, counted up to 100."""
    bands: Sequence[Band]


@dataclass(frozen=True, slots=True)
class LastSeen:
    """What a search over one session found."""

    text: str
    view: str
    steps: int
    hits: Sequence[Hit]
    hits_total: int
    complete: bool
    """False where more items may hold it than were looked at, or some are not indexed yet."""
    unindexed: int
    """Items that are neither indexed nor were read."""
    bands: Sequence[Band]
    last_step: int | None
    """The last step at which the model had it, verbatim or in a summary."""
    changed: str | None
    """What a summary says in its place."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Whether the model could know a text at a step. `answer` is yes, no, or unknown."""

    text: str
    step: int
    answer: str
    seen: Seen
    why: str
    """One sentence with the evidence."""
    band: Band | None
    hit: Hit | None
    last_step: int | None


def search_session(session: Session, asked: SearchQuery, view: View | None) -> LastSeen:
    """Everything of one session that holds the text, and the bands of steps under a view."""
    candidates, listed = find(asked, session.pk)
    positions = [one.position for one in candidates if one.revision == session.revision]
    state = SearchState.objects.filter(session=session, revision=session.revision).first()
    indexed = state.items if state else 0
    behind = max(0, session.items - indexed)
    if 0 < behind <= UNINDEXED:
        positions += range(indexed, session.items)
        behind = 0
    steps = view.steps if view else session.steps
    spans = spans_of(view)
    hits, looked_at_all = _hits(session, asked, positions, spans, steps)
    recorded = view is None or view.name == "recorded"
    folds, changed = _folds(session, asked, hits) if recorded else ([], None)
    merged = bands([one.bands for one in hits], folds, steps)
    complete = listed and looked_at_all and not behind
    name = view.name if view else "recorded"
    shown = hits if len(hits) <= LISTED else [*hits[: LISTED // 2], *hits[-LISTED // 2 :]]
    return LastSeen(
        asked.text, name, steps, shown, len(hits), complete, behind, merged, last_seen(merged), changed
    )


def knowledge(found: LastSeen, step: int) -> Knowledge:
    """Whether the model could know the text at a step, with the item that tells."""
    band = at_step(found.bands, step)
    seen = band.seen if band else Seen.NONE
    hit = next((one for one in found.hits if band and one.position == band.position), None)
    if seen in (Seen.VERBATIM, Seen.SUMMARY):
        answer = "yes"
    else:
        answer = "unknown" if seen is Seen.SEALED or not found.complete else "no"
    last = max((b.end - 1 for b in found.bands if b.seen in (Seen.VERBATIM, Seen.SUMMARY) and b.end <= step),
               default=None)  # fmt: skip
    return Knowledge(found.text, step, answer, seen, _why(found, seen, answer, last), band, hit, last)


def readings_of(row: ItemPlace, text: str) -> list[str]:
    """What an item says, in all readings that are indexed; a call says its tool as well."""
    return variants(f"{row.tool} {text}" if row.kind == _CALL and row.tool else text)


def _hits(
    session: Session,
    asked: SearchQuery,
    positions: Sequence[int],
    spans: SpanIndex,
    steps: int,
    most: int | None = None,
) -> tuple[list[Hit], bool]:
    """Those of the items that do hold the text, and whether all were looked at; of too many the first and the last."""
    most = HITS if most is None else most
    complete = len(positions) <= most * 2
    if not complete:
        positions = [*positions[:most], *positions[-most:]]
    rows: list[ItemPlace] = []
    for start in range(0, len(positions), 500):
        some = session_items(session).filter(position__in=positions[start : start + 500])
        rows += map(ItemPlace._make, some.order_by("position").values_list(*PLACE_COLUMNS))
    hits: list[Hit] = []
    for start in range(0, len(rows), 100):
        part = rows[start : start + 100]
        texts = read_texts(session.pk, session.revision, [row[4:] for row in part])
        for row in part:
            hit = hit_of(asked, row, texts.get(row.position, ""), spans, steps)
            hits += [hit] if hit else []
        if len(hits) >= most:
            return hits[:most], complete and start + 100 >= len(rows)
    return hits, complete


def hit_of(asked: SearchQuery, row: ItemPlace, text: str, spans: SpanIndex, steps: int) -> Hit | None:
    for reading in readings_of(row, text):
        if places := asked.find(reading, 100):
            holder = Holder(row.position, row.first_step, row.kind == _SUMMARY)
            lived = life(holder, spans.of(row.position), steps)
            shown = _snippet(reading, places[0])
            kind = KINDS[row.kind]
            return Hit(row.position, row.native_id, kind, row.tool, row.first_step, shown, len(places), lived)
    return None


def _snippet(text: str, place: tuple[int, int]) -> Snippet:
    first, end = place
    return Snippet(text[max(0, first - AROUND) : first], text[first:end], text[end : end + AROUND])


def _folds(session: Session, asked: SearchQuery, hits: Sequence[Hit]) -> tuple[list[Fold], str | None]:
    """What each compaction of the log has in place of the text: nothing, another value, or something sealed."""
    if not any(band.verdict == Verdict.SUMMARISED for hit in hits for band in hit.bands):
        return [], None
    records = CompactionRecord.objects.filter(session=session, revision=session.revision, micro=False)
    rows = list(records.order_by("at_step").values_list("at_step", "upto", "opaque", "summary"))
    texts: dict[int, str] = {}
    if may_change(asked):
        positions = [summary for *_, summary in rows if summary is not None]
        items = session_items(session).filter(position__in=positions)
        texts = read_texts(session.pk, session.revision, items.values_list(*TEXT_COLUMNS), SUMMARY_BYTES)
    folds, changed = [], None
    for step, upto, opaque, summary in rows:
        other = near(texts.get(summary, ""), asked) if summary is not None else None
        changed = other or changed
        instead = Seen.SEALED if opaque else Seen.CHANGED if other else Seen.NONE
        folds.append(Fold(step, upto, instead, summary))
    return folds, changed


def _why(found: LastSeen, seen: Seen, answer: str, last: int | None) -> str:
    if answer == "yes":
        return "It stood in the context " + ("verbatim." if seen is Seen.VERBATIM else "in a summary.")
    if seen is Seen.SEALED:
        return "It was summarised, and what the summary says is sealed."
    if not found.complete:
        return "Not everything could be looked at: not indexed yet, or the text stands in too many items."
    gone = {
        Seen.STUB: "Only a placeholder was left of what held it.",
        Seen.CHANGED: f"A summary says {found.changed} in its place.",
    }.get(seen)
    past = f" The model had it last at step {last}." if last else ""
    if gone:
        return gone + past
    if last:
        return "What held it is no longer in the context." + past
    return "Nothing before this step holds it. (System prompt and hidden reasoning are not in every log.)"
