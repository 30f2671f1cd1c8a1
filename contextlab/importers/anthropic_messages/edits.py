"""Context edits: what the provider cleared before a call, as far as its answer tells.

An answer says how many tool uses or thinking turns an edit cleared, not which. The documentation does: the oldest
first, never those of excluded tools. Edits are applied to each request anew, so what an answer does not name again
stands in the context again. Where the number is missing, or is larger than what stands, no item gets a verdict: a
note says how many tokens went.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from contextlab.core.events import Cleared, Event, Note
from contextlab.core.items import Reason, Verdict
from contextlab.importers.message import Call
from contextlab.importers.talk import Talk
from contextlab.importers.values import count, mapping, sequence, text


@dataclass(slots=True)
class Edits:
    """What edits did in one session so far."""

    _cleared: dict[str, Verdict] = field(default_factory=dict)

    def applied(self, talk: Talk, edits: list[Any], request: dict[str, Any], call: Call) -> Iterator[Event]:
        """The events of the edits that an answer names."""
        wanted: dict[str, Verdict] = {}
        saved = 0
        for edit in map(mapping, edits):
            kind = text(edit.get("type"))
            tokens = count(edit.get("cleared_input_tokens"))
            named = self._named(talk, kind, edit, request)
            if named is None:
                yield Note("other", _unclear(kind, tokens), call.place, call.ts, tokens)
                continue
            saved += tokens or 0
            verdict = Verdict.REASONING_CLEARED if kind.startswith("clear_thinking") else Verdict.CLEARED
            wanted.update(dict.fromkeys(named, verdict))
        yield from self._changed(talk, wanted, saved, call)

    def _named(
        self, talk: Talk, kind: str, edit: dict[str, Any], request: dict[str, Any]
    ) -> list[str] | None:
        """The items of an edit; None where it cannot be told."""
        if kind.startswith("clear_tool_uses"):
            number = count(edit.get("cleared_tool_uses"))
            found = talk.standing_results(_excluded(kind, request), with_calls=_clears_inputs(kind, request))
        elif kind.startswith("clear_thinking"):
            number = count(edit.get("cleared_thinking_turns"))
            found = talk.standing_thinking()
        else:
            return None
        if number is None or number > len(found):
            return None
        return [name for group in found[:number] for name in group]

    def _changed(self, talk: Talk, wanted: dict[str, Verdict], saved: int, call: Call) -> Iterator[Event]:
        back = tuple(name for name in self._cleared if name not in wanted)
        for verdict in (Verdict.CLEARED, Verdict.REASONING_CLEARED):
            items = tuple(
                name for name, what in wanted.items() if what == verdict and name not in self._cleared
            )
            if items:
                # Nothing is left of cleared thinking; a cleared result leaves a placeholder.
                stub = verdict == Verdict.CLEARED
                reason = Reason.MICRO_COMPACTED if stub else Reason.PROVIDER_STRIPS
                event = Cleared("", items, verdict, reason, call.ts, call.place, trigger="auto")
                event.tokens_saved, saved = saved or None, 0
                yield from talk.clear(event)
        if back:
            yield from talk.clear(
                Cleared("", back, Verdict.KEPT, Reason.CONTEXT_CLEARED, call.ts, call.place)
            )
        self._cleared = wanted


def _edit(kind: str, request: dict[str, Any]) -> dict[str, Any]:
    edits = sequence(mapping(request.get("context_management")).get("edits"))
    return next((one for one in map(mapping, edits) if text(one.get("type")) == kind), {})


def _excluded(kind: str, request: dict[str, Any]) -> frozenset[str]:
    return frozenset(map(text, sequence(_edit(kind, request).get("exclude_tools"))))


def _clears_inputs(kind: str, request: dict[str, Any]) -> bool:
    return _edit(kind, request).get("clear_tool_inputs") is True


def _unclear(kind: str, tokens: int | None) -> str:
    size = f"{tokens:,} tokens" if tokens else "something"
    return (
        f"the provider cleared {size} ({kind or 'an edit without a type'}); the log does not say which items"
    )
