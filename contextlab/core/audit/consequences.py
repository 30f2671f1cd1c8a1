"""What later happened because a compaction lost or changed a fact.

| kind          | a later event                                                                                  |
|---------------|------------------------------------------------------------------------------------------------|
| rule_broken   | an edit of a file, or a command, that a lost rule forbids; an edit outside of what a lost      |
|               | `only` allows                                                                                  |
| reread        | a call that reads a file again which had been read before: its result's tokens were spent      |
|               | again                                                                                          |
| same_error    | a result with an error that had been met before, and was not told any more                     |
| used_unseen   | the agent uses a dropped value before anybody brought it back, or uses the value that a fact   |
|               | was changed to                                                                                 |
| user_repeated | a person says a lost or changed fact again                                                     |

Looked for from the compaction to the next one that has a summary (then the next ledger speaks), at most FEW of a
kind for one fact. Before a person or a result brings a lost fact back, after that the agent knew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from contextlab.core.audit.extract.outcomes import (
    command_line,
    is_editing,
    is_reading,
    patched,
    path_of,
)
from contextlab.core.audit.extract.sentences import objects, repeats
from contextlab.core.audit.facts import Extractor
from contextlab.core.audit.language.normalise import path_parts
from contextlab.core.audit.language.paths import ends_alike
from contextlab.core.audit.matching.corpus import find_word
from contextlab.core.audit.matching.tokens import says, token_of
from contextlab.core.audit.results import (
    Consequence,
    ConsequenceKind,
    Entry,
    FactKind,
    FactVerdict,
    Ledger,
)
from contextlab.core.audit.source import ASSISTANT, CALL, USER, SourceItem, StepOf
from contextlab.core.evidence.words import short
from contextlab.core.timeline import UNKNOWN

FEW = 3
_LOST = (FactVerdict.DROPPED, FactVerdict.CHANGED, FactVerdict.PARTIAL, FactVerdict.RESUPPLIED)
_FORBIDS = re.compile(
    r"\b(?:never|not|n['’]t|no|without|avoid|forbidden|leave|untouched|unchanged|off[- ]limits|read[- ]only|"
    r"ask|nicht|nie|niemals|kein\w*|"
    r"verboten)\b|n['’]t\b|不|勿|禁|别|ない|なし",
    re.IGNORECASE,
)
_ONLY = re.compile(
    r"\bonly (?:edit|change|touch|modify|write|work)|\bonly in\b|只能?(?:改|动|修改)|だけを?(?:編集|変更)",
    re.IGNORECASE,
)
_WRITING = re.compile(
    r"\b(?:sed -i|perl -i|rm |mv |cp |tee |git (?:checkout|restore|rm|mv)|truncate |touch |patch |dd |chmod |"
    r"ln )|>{1,2} ?[^&\s|]"
)
_VALUES = (
    FactKind.PORT, FactKind.URL, FactKind.TICKET, FactKind.COMMIT, FactKind.SETTING, FactKind.ERROR, FactKind.PATH,
    FactKind.PATH_LINE, FactKind.IDENTIFIER, FactKind.VERSION, FactKind.QUANTITY,
)  # fmt: skip


class Tracer:
    """Looks for the consequences of one compaction."""

    def __init__(self, extractor: Extractor, number: int, micro: bool, left: Sequence[int]) -> None:
        """`left`: positions of the items that left."""
        self.source, self.extractor = extractor.source, extractor
        self.number, self.micro = number, micro
        self.steps = StepOf(self.source.timeline)
        self._left = left

    def trace(self, ledger: Ledger, start: int, stop: int) -> tuple[Consequence, ...]:
        """The consequences among the items from `start` up to `stop`, in the order in which they happened."""
        later = self.source.items(range(start, stop))
        found: list[Consequence] = []
        for entry in ledger.entries:
            if entry.verdict not in _LOST:
                continue
            found += self._of(entry, later)
        found += self._rereads(ledger, later)
        found.sort(key=lambda one: (one.position, -one.entry.fact.weight))
        return tuple(found)

    def _of(self, entry: Entry, later: list[SourceItem]) -> Iterator[Consequence]:
        fact = entry.fact
        if fact.kind in (FactKind.RULE, FactKind.USER_CORRECTION):
            yield from self._broken(entry, later)
        if fact.kind == FactKind.ERROR and entry.verdict != FactVerdict.CHANGED:
            yield from self._errors(entry, later)
        if fact.kind in _VALUES and entry.verdict != FactVerdict.PARTIAL:
            yield from self._used(entry, later)
        if fact.weight >= 40 or entry.verdict == FactVerdict.CHANGED:
            yield from self._repeated(entry, later)

    def _make(
        self, kind: ConsequenceKind, entry: Entry, item: SourceItem, text: str, tokens: int | None = None
    ) -> Consequence:
        step = self.steps.of(item.position)
        return Consequence(kind, self.number, entry, item.position, step, text, tokens, self.micro)

    def _broken(self, entry: Entry, later: list[SourceItem]) -> Iterator[Consequence]:
        fact = entry.fact
        exact = [word[1:] for word in fact.words if word[0] == "="]
        forbids, only = _FORBIDS.search(fact.text) is not None, _ONLY.search(fact.text) is not None
        paths = [word for word in exact if "/" in word or "." in word]
        told, known = 0, entry.resupplied_at if entry.resupplied_at is not None else len(self.source)
        if not (forbids or only) or not exact:
            return
        for item in later:
            if item.voice != CALL or told >= FEW or item.position > known:
                continue
            target = self._breaks(item, exact, paths, only and not forbids)
            if target:
                told += 1
                yield self._make(
                    ConsequenceKind.RULE_BROKEN, entry, item, f"{item.tool or 'call'}: {short(target, 120)}"
                )

    @staticmethod
    def _breaks(item: SourceItem, exact: list[str], paths: list[str], only: bool) -> str:
        """What a call does against a rule: the file it edits, the command it runs; empty for nothing."""
        targets = patched(item)
        if is_editing(item) and path_of(item):
            targets.append(path_of(item))
        if only:
            return next(
                (one for one in targets if paths and not any(_within(one, path) for path in paths)), ""
            )
        for target in targets:
            if any(_within(target, path) for path in paths):
                return target
        line = command_line(item)
        if not line or targets:
            return ""
        low = line.lower()
        for word in exact:
            there = all(
                find_word(low, part.rstrip("/") if "/" in part else part) >= 0 for part in word.split()
            )
            if there and (word not in paths or _WRITING.search(line)):
                return line
        return ""

    def _errors(self, entry: Entry, later: list[SourceItem]) -> Iterator[Consequence]:
        fact = entry.fact
        told = 0
        for item in later:
            if item.kind != "tool_result" or told >= FEW:
                continue
            for one in self.extractor.read(item.position).found:
                same = one.kind == FactKind.ERROR and (
                    (one.value == fact.value and one.subject == fact.subject)
                    if fact.words
                    else one.value == fact.value
                )
                if same:
                    told += 1
                    yield self._make(ConsequenceKind.SAME_ERROR, entry, item, short(one.shown, 140))
                    break

    def _used(self, entry: Entry, later: list[SourceItem]) -> Iterator[Consequence]:
        fact = entry.fact
        word = token_of(fact)
        became = entry.became if entry.verdict == FactVerdict.CHANGED else None
        if became is None and (len(word) < 4 or (fact.kind == FactKind.PATH and "." not in word)):
            return
        known = entry.resupplied_at if entry.resupplied_at is not None else len(self.source)
        told = 0
        for item in later:
            if item.voice not in (CALL, ASSISTANT) or told >= FEW:
                continue
            if became is not None:
                if len(became) >= 3 and find_word(item.text, became) >= 0:
                    told += 1
                    yield self._make(
                        ConsequenceKind.USED_UNSEEN, entry, item, f"{became} was used, it was {fact.text}"
                    )
            elif fact.kind != FactKind.ERROR and item.position < known and find_word(item.text, word) >= 0:
                yield self._make(
                    ConsequenceKind.USED_UNSEEN, entry, item, f"{word} was used while nothing said it"
                )
                return

    def _repeated(self, entry: Entry, later: list[SourceItem]) -> Iterator[Consequence]:
        fact = entry.fact
        exact = {word[1:] for word in fact.words if word[0] == "="}
        soft = {word for word in fact.words if word[0] != "="}
        told = 0
        for item in later:
            if item.voice != USER or told >= FEW or len(item.text) > 20_000:
                continue
            low = item.text.lower()
            again = says(item.text, fact) or any(find_word(low, word) >= 0 for word in exact)
            if not again and fact.kind in (FactKind.RULE, FactKind.USER_CORRECTION) and len(soft) > 1:
                again = len(objects(item.text[:2_000]) & soft) >= max(2, -(-3 * len(soft) // 5))
            if again and fact.said_by != USER and not repeats(item.text):
                continue  # new words of a person on what only the agent had said
            if again:
                told += 1
                yield self._make(ConsequenceKind.USER_REPEATED, entry, item, short(item.text, 160))

    def _rereads(self, ledger: Ledger, later: list[SourceItem]) -> Iterator[Consequence]:
        """Files read among what left, and read again; tied to their path's entry where it is listed."""
        before = {parts for at in self._left if (parts := self._read_path(self.source.item(at)))}
        if not before:
            return
        entries = [
            (path_parts(entry.fact.subject), entry)
            for entry in ledger.entries
            if entry.fact.kind == FactKind.PATH
        ]
        seen: set[tuple[str, ...]] = set()
        for item in later:
            parts = self._read_path(item)
            if not parts or parts[-3:] in seen or not any(ends_alike(one, parts) for one in before):
                continue
            entry = next((one for told, one in entries if ends_alike(told, parts)), None)
            if entry is None:
                continue
            seen.add(parts[-3:])
            tokens = self._tokens(item.result) if item.result is not None else None
            yield self._make(
                ConsequenceKind.REREAD, entry, item, f"{'/'.join(parts[-2:])} was read again", tokens
            )

    @staticmethod
    def _read_path(item: SourceItem) -> tuple[str, ...]:
        return path_parts(path_of(item)) if item.voice == CALL and is_reading(item) else ()

    def _tokens(self, position: int) -> int:
        timeline = self.source.timeline
        counted = timeline.tokens[position]
        return timeline.estimates[position] if counted == UNKNOWN else counted


def _within(path: str, place: str) -> bool:
    """Whether a path is a file, or lies in a folder, that a rule names."""
    parts, wanted = path_parts(path), path_parts(place)
    if not wanted or len(wanted) > len(parts):
        return bool(wanted) and wanted[-len(parts) :] == parts and len(parts) > 1
    if "." in wanted[-1] and not place.endswith("/"):
        return parts[-len(wanted) :] == wanted
    return any(parts[at : at + len(wanted)] == wanted for at in range(len(parts) - len(wanted) + 1))
