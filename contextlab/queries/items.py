"""Items as rows of a page: typed columns, the preview, and the fate at a step. Bodies stay where they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from contextlab.core.items import KINDS, Kind, Verdict
from contextlab.core.timeline import FLAG_ERROR, FLAG_INJECTED, FLAG_MEDIA, FLAG_OPENS_TURN
from contextlab.queries.fates import Fate
from contextlab.store.models import ItemRecord

COLUMNS = (
    "position", "native_id", "kind", "entry", "turn", "step", "first_step", "pair", "tool", "call_id", "flags",
    "injected", "label", "chars", "tokens", "estimate", "opaque_chars", "preview", "text_length", "media", "original",
    "ts",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One item as a list shows it."""

    position: int
    native_id: str
    kind: Kind
    entry: int
    turn: int
    step: int | None
    first_step: int
    pair: int | None
    tool: str
    call_id: str
    flags: int
    injected: str
    label: str
    chars: int
    tokens: int | None
    estimate: int
    opaque_chars: int
    preview: str
    text_length: int
    """Bytes of its text."""
    media: Sequence[Mapping[str, Any]]
    original: str | None
    ts: datetime | None

    @property
    def size(self) -> int:
        """Tokens, counted or estimated (`size_source`)."""
        return self.estimate if self.tokens is None else self.tokens

    @property
    def size_source(self) -> str:
        """Where `size` comes from."""
        return "estimated" if self.tokens is None else "counted"

    @property
    def is_error(self) -> bool:
        """Whether the log marks the result as failed."""
        return bool(self.flags & FLAG_ERROR)

    @property
    def is_injected(self) -> bool:
        """Whether it is a user item that no person wrote at the start of a turn."""
        return bool(self.flags & FLAG_INJECTED)

    @property
    def opens_turn(self) -> bool:
        """Whether a turn begins with it."""
        return bool(self.flags & FLAG_OPENS_TURN)

    @property
    def has_media(self) -> bool:
        """Whether images or files stand in it, whose tokens nobody has reported."""
        return bool(self.flags & FLAG_MEDIA)


@dataclass(frozen=True, slots=True)
class ContextRow:
    """An item with its fate at a step. `verdict` is kept where no span says otherwise."""

    item: ItemRow
    fate: Fate | None
    is_new: bool
    """Whether it stood in no context before this step."""
    changed: bool
    """Whether its fate begins at this step."""
    call_tool: str = ""
    """For a result the name of the tool that was called."""

    @property
    def verdict(self) -> Verdict:
        """Its verdict at the step."""
        return self.fate.verdict if self.fate else Verdict.KEPT

    @property
    def reason(self) -> str:
        """Why; empty for kept."""
        return self.fate.reason if self.fate else ""

    @property
    def is_stub(self) -> bool:
        """Whether a placeholder stood in its stead."""
        return self.verdict in (Verdict.CLEARED, Verdict.REASONING_CLEARED)


def read_items(session_id: int, revision: int, positions: Sequence[int]) -> dict[int, ItemRow]:
    """The items at some positions (a page's worth), by position."""
    records = ItemRecord.objects.filter(session_id=session_id, revision=revision, position__in=positions)
    return {row.position: row for row in item_rows(records.values_list(*COLUMNS))}


def tools_called(session_id: int, revision: int, items: Iterable[ItemRow]) -> dict[int, str]:
    """Names of the tools that results among these items answer, by position of the call."""
    calls = {item.pair for item in items if item.pair is not None and item.kind == Kind.TOOL_RESULT}
    if not calls:
        return {}
    records = ItemRecord.objects.filter(session_id=session_id, revision=revision, position__in=calls)
    return dict(records.values_list("position", "tool"))


def item_rows(values: Iterable[tuple[Any, ...]]) -> list[ItemRow]:
    """Rows from the values of COLUMNS."""
    rows = []
    for value in values:
        named = dict(zip(COLUMNS, value, strict=True))
        code = named["kind"]
        named["kind"] = KINDS[code] if 0 <= code < len(KINDS) else Kind.UI
        named["media"] = tuple(named["media"] or ())
        rows.append(ItemRow(**named))
    return rows
