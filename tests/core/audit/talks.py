"""Small conversations for tests of the audit: who said what, a compaction, what came after."""

from __future__ import annotations

import json
from collections.abc import Iterable

from contextlab.core.assembler import Assembler
from contextlab.core.audit.auditing import audit, ledger_of
from contextlab.core.audit.results import Audit, CompactionAudit, Entry, FactKind, Ledger
from contextlab.core.events import (
    Cleared,
    Compaction,
    Event,
    ItemEvent,
    SessionStart,
    StepEvent,
    TurnStart,
)
from contextlab.core.items import Kind

Said = tuple[str, ...]
"""`(user | assistant, text)` or `(call, tool, arguments as JSON, result[, "failed"])` or `(compact, summary)`,
`(sealed,)` for a compaction nobody can read, `(clear,)` for a micro-compaction of all results so far."""


def user(text: str) -> Said:
    """A person says something."""
    return ("user", text)


def agent(text: str) -> Said:
    """The agent says something."""
    return ("assistant", text)


def call(tool: str, result: str = "done", failed: bool = False, **arguments: object) -> Said:
    """The agent calls a tool."""
    return ("call", tool, json.dumps(arguments, ensure_ascii=False), result, "failed" if failed else "")


def bash(command: str, result: str = "done", failed: bool = False) -> Said:
    """The agent runs a command."""
    return call("Bash", result, failed, command=command)


def compact(summary: str) -> Said:
    """All before is replaced by a summary."""
    return ("compact", summary)


SEALED: Said = ("sealed",)
CLEAR: Said = ("clear",)


class Talk:
    """A session made of what was said, with its texts."""

    def __init__(self, said: Iterable[Said], keeps: tuple[str, ...] = ()) -> None:
        self.assembler = Assembler(SessionStart("talk"))
        self.texts: list[str] = []
        self._keeps = keeps
        self._results: list[str] = []
        for number, one in enumerate(said, 1):
            for event in self._events(number, one):
                row = self.assembler.feed(event)
                if row is not None:
                    self.texts.append(row.event.text)

    def audit(self) -> Audit:
        """Its audit."""
        return audit(self.assembler.timeline, self.texts.__getitem__, self.assembler.compactions)

    def one(self) -> CompactionAudit:
        """The audit of its only compaction."""
        [found] = self.audit().compactions
        return found

    def _events(self, number: int, said: Said) -> Iterable[Event]:
        name, step = f"i{number}", f"s{number}"
        if said[0] == "user":
            yield TurnStart(f"t{number}")
            yield ItemEvent(name, Kind.USER, said[1], name, opens_turn=True)
        elif said[0] == "assistant":
            yield StepEvent(step)
            yield ItemEvent(name, Kind.ASSISTANT, said[1], name, step=step)
        elif said[0] == "call":
            yield StepEvent(step)
            yield ItemEvent(name, Kind.TOOL_CALL, said[2], name, tool=said[1], call_id=name, step=step)
            error = True if said[4] else None
            yield ItemEvent(f"{name}r", Kind.TOOL_RESULT, said[3], f"{name}r", call_id=name, error=error)
            self._results.append(f"{name}r")
        elif said[0] == "clear":
            yield Cleared(name, tuple(self._results))
        elif said[0] == "sealed":
            yield Compaction(name, opaque=True, keeps=self._keeps)
        else:
            yield Compaction(name, summary=f"{name}s", keeps=self._keeps)
            yield ItemEvent(f"{name}s", Kind.SUMMARY, said[1], f"{name}s")


def ledger(*said: Said, summary: str) -> Ledger:
    """The ledger of a conversation that this summary replaces."""
    return Talk([*said, compact(summary)]).one().ledger


def preview(
    *said: Said, stayed: Iterable[int] = (), summary: str | None = None, opaque: bool = False
) -> Ledger:
    """The ledger of a compaction that is not made yet, or (without a summary) of what a step cannot see."""
    talk = Talk(said)
    stay = set(stayed)
    left = [at for at in range(len(talk.texts)) if at not in stay]
    return ledger_of(
        talk.assembler.timeline, talk.texts.__getitem__, left, stay, summary=summary, opaque=opaque
    )


def entries(of: Ledger, text: str, *kinds: FactKind) -> list[Entry]:
    """The entries whose fact has these words."""
    return [
        entry
        for entry in of.entries
        if text.lower() in entry.fact.text.lower() and (not kinds or entry.fact.kind in kinds)
    ]


def verdicts(of: Ledger, text: str, *kinds: FactKind) -> set[str]:
    """The verdicts of those."""
    return {str(entry.verdict) for entry in entries(of, text, *kinds)}


def changes(of: Ledger) -> list[tuple[str, str | None]]:
    """What was changed, and to what."""
    return [(entry.fact.text, entry.became) for entry in of.entries if entry.verdict == "changed"]
