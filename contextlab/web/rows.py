"""Items, folds and gaps of a context as a list shows them: words instead of codes, addresses instead of numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse

from contextlab.core.items import Injected, Kind, Reason, Verdict, estimate_tokens
from contextlab.core.projecting.stand_ins import REASONING_CLEARED, cleared_text
from contextlab.queries.context import Entry, Fold, Gap
from contextlab.queries.items import ContextRow, ItemRow
from contextlab.web import figures, words
from contextlab.web.opened import RECORDED, Opened

INJECTED_LABELS: dict[str, str] = {
    Injected.META: "added by the agent",
    Injected.TASK: "task notification",
    Injected.COMMAND_OUTPUT: "command output",
    Injected.ATTACHMENT: "attachment",
    Injected.QUEUED: "queued by the person",
    Injected.CONTEXT: "context added by the agent",
    Injected.SYNTHETIC: "made by the agent",
    Injected.MIDTURN: "sent in the middle of the turn",
}
_MONO = frozenset({Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.REASONING})
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,[A-Za-z0-9+/=]{80,}")


@dataclass(frozen=True, slots=True)
class ShownItem:
    """A row of an item."""

    position: int
    kind: str
    verdict: str
    reason: str
    tool: str
    text: str
    mono: bool
    original: str
    """The beginning of what a placeholder stands for."""
    media_words: str
    note: str
    size: str
    size_words: str
    is_new: bool
    selected: bool
    page: str
    """Address of the item's own page."""
    body: str
    """Address of its text, as a fragment."""


@dataclass(frozen=True, slots=True)
class ShownFold:
    """A row of items that were left out."""

    first: int
    last: int
    count: int
    verdict: str
    reason: str
    words: str
    address: str
    page: str
    auto: bool
    """Whether it opens by itself: the selected item is in it."""
    summary: str = ""
    """Address of the compaction whose summary stands for the items."""
    into: str = ""
    """Its name."""
    is_fold: bool = True


@dataclass(frozen=True, slots=True)
class ShownGap:
    """A row that leads on."""

    first: int
    last: int
    words: str
    address: str
    in_fold: bool
    is_gap: bool = True


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """A heading inside a list."""

    words: str
    is_group: bool = True


Shown = ShownItem | ShownFold | ShownGap | ShownGroup


@dataclass(frozen=True, slots=True)
class Speller:
    """Turns the entries of one step into rows."""

    opened: Opened
    step: int
    show: str = ""
    selected: int | None = None
    compactions: Mapping[int, int] = field(default_factory=dict)
    """Number of the compaction that took effect at a step."""

    def rows(self, entries: Sequence[Entry], inside: bool = False) -> list[Shown]:
        """One row for each entry; `inside` a run its gaps go on in place, without a new address."""
        return [self._row(entry, inside) for entry in entries]

    def _row(self, entry: Entry, inside: bool) -> Shown:
        if isinstance(entry, Gap):
            return self._gap(entry, inside)
        return self.fold(entry) if isinstance(entry, Fold) else self.item(entry)

    def item(self, row: ContextRow) -> ShownItem:
        """The row of an item."""
        item, position = row.item, row.item.position
        stub = stub_text(row)
        size, size_words = _size(row, stub)
        address = f"{_items_of(self.opened.session.uid)}{position}"
        at = f"?step={self.step}{self.opened.more}"
        return ShownItem(
            position=position, kind=item.kind, verdict=row.verdict, reason=row.reason,
            tool="" if stub else item.tool if item.kind == Kind.TOOL_CALL else "",
            text=stub or self._text(item), mono=item.kind in _MONO, original=self._text(item) if stub else "",
            media_words=media_words(item),
            note="; ".join(_notes(row, bool(stub))), size=size, size_words=size_words,
            is_new=row.is_new, selected=position == self.selected, page=f"{address}{at}",
            body=f"{address}/body{at}",
        )  # fmt: skip

    def fold(self, fold: Fold) -> ShownFold:
        """The row of a run that was left out."""
        inside = self.selected is not None and fold.first <= self.selected <= fold.last
        page = self._address(show="left-out")
        return ShownFold(
            fold.first, fold.last, fold.count, fold.verdict, fold.reasons[0], self._why(fold),
            self._run(fold.first, fold.last), page, inside, *self._summary(fold),
        )  # fmt: skip

    def _summary(self, fold: Fold) -> tuple[str, str]:
        """Address and name of the compaction of the log; empty where there is none."""
        number = self._number(fold)
        if number is None or self.opened.name != RECORDED:
            return "", ""
        return reverse("compaction_recorded", args=[self.opened.session.uid, number]), f"#{number}"

    def _number(self, fold: Fold) -> int | None:
        return self.compactions.get(fold.since) if fold.reasons == (Reason.COMPACTED,) else None

    def _why(self, fold: Fold) -> str:
        number = self._number(fold)
        if number is not None:
            why = f"replaced by the summary of compaction #{number}"
        else:
            why = "; ".join(
                words.REASON_LABELS.get(reason, reason.replace("_", " ")) for reason in fold.reasons
            )
        if not fold.exact:
            why += "; there may be other reasons inside"
        if fold.was is not None:
            return f"was {words.VERDICT_LABELS[fold.was]} · {why or 'as it is again'}"
        return why

    def _gap(self, gap: Gap, inside: bool) -> ShownGap:
        if inside:
            return ShownGap(gap.first, gap.last, "show more", self._run(gap.first, gap.last), in_fold=True)
        earlier = gap.before is not None and gap.before == gap.last + 1
        text = "show earlier items" if earlier else "show later items"
        return ShownGap(
            gap.first, gap.last, text, self._address(show=self.show, before=gap.before), in_fold=False
        )

    def _run(self, first: int, last: int) -> str:
        address = reverse("step_run", args=[self.opened.session.uid, self.step])
        query: dict[str, Any] = {"first": first, "last": last}
        if self.opened.name != "recorded":
            query["view"] = self.opened.name
        if self.selected is not None:
            query["item"] = self.selected
        return f"{address}?{urlencode(query)}"

    def _address(self, **query: Any) -> str:
        return step_address(self.opened, self.step, **query)

    def _text(self, item: ItemRow) -> str:
        text = without_data_urls(item.preview)
        if text or item.media:
            return text
        if item.opaque_chars:
            return f"(no text in the log, {item.opaque_chars:,} characters encrypted or signed)"
        return "(empty)"


@lru_cache(maxsize=64)
def _items_of(uid: UUID) -> str:
    # Sixty rows ask for it: resolving the address costs more than all else in a row.
    return reverse("item", args=[uid, 0])[:-1]


def step_address(opened: Opened, step: int, **query: Any) -> str:
    """The address of a step with the given state; what is None or empty is not in it."""
    if opened.name != "recorded":
        query = {"view": opened.name} | query
    said = {name: value for name, value in query.items() if value not in (None, "")}
    address = reverse("step", args=[opened.session.uid, step])
    return f"{address}?{urlencode(said)}" if said else address


def stub_text(row: ContextRow) -> str:
    """What stood in the item's place, empty when it stood there itself (or nothing did)."""
    if row.verdict == Verdict.CLEARED:
        tool, call_id = row.item.tool or row.call_tool or None, row.item.call_id or None
        return cleared_text(row.reason, tool, call_id, row.item.preview)
    stripped = row.reason == Reason.PROVIDER_STRIPS
    return REASONING_CLEARED if row.verdict == Verdict.REASONING_CLEARED and not stripped else ""


def media_words(item: ItemRow) -> str:
    """The images and files of an item: type and size; their tokens are unknown until a provider reports them."""
    parts = []
    for media in item.media:
        name = str(media.get("mime") or media.get("type") or "file")
        size = media.get("size")
        parts.append(f"{name}, {figures.size(size)} encoded" if isinstance(size, int) else name)
    return "; ".join(parts) + ", tokens unknown" if parts else ""


def without_data_urls(text: str) -> str:
    """The text with embedded files named instead of spelled out in base64."""
    return _DATA_URL.sub(lambda found: f"[{found[1]}, {figures.size(len(found[0]))} encoded]", text)


def _size(row: ContextRow, stub: str) -> tuple[str, str]:
    """What the item took in the context, and where the figure comes from."""
    item = row.item
    if stub:
        return f"~{estimate_tokens(stub):,}", "estimated size of the placeholder"
    if row.reason == Reason.PROVIDER_STRIPS:
        return "–", "nothing of it is sent"
    if item.media and not item.size:
        return "unknown", "tokens of images and files are unknown until a provider reports them"
    source = (
        "counted with o200k_base"
        if item.tokens is not None
        else "estimated from its size until it is counted"
    )
    rest = "; images and files not included" if item.media else ""
    mark = "" if item.tokens is not None else "~"
    return f"{mark}{item.size:,}", f"{item.size:,} tokens, {source}{rest}"


def _notes(row: ContextRow, stub: bool) -> list[str]:
    item, notes = row.item, []
    if stub or row.reason == Reason.PROVIDER_STRIPS:
        notes.append(f"was {item.size:,}" + (" · cleared at this step" if row.changed else ""))
    elif row.changed:
        notes.append("since this step")
    if row.verdict == Verdict.OFFLOADED and item.original:
        notes.append("original in a file")
    if item.is_error:
        notes.append("failed")
    if item.injected:
        notes.append(INJECTED_LABELS.get(item.injected, item.injected.replace("_", " ")))
    return notes
