"""The short list: what a person should look at first, one line for one thing.

| finding       | from                                                | severity                         |
|---------------|-----------------------------------------------------|----------------------------------|
| rule_broken   | a lost rule with a later call against it            | high                             |
| changed_value | a fact whose value the summary changed              | high if it was used, else medium |
| lost_rule     | a rule or correction that is gone, not broken (yet) | medium                           |
| user_repeated | a person said again what was lost or changed        | medium                           |
| same_error    | an error met again                                  | medium                           |
| reread        | files read again, all of one compaction together    | low                              |
| cannot_tell   | a summary that cannot be read                       | low                              |

Facts that say one thing (a port in a URL, of a host, by itself) are one finding; so are several consequences of one
fact: "rule lost at compaction 1, broken at step 118, corrected by the user at step 120".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from contextlab.core.audit.results import (
    CompactionAudit,
    Consequence,
    ConsequenceKind,
    Entry,
    FactKind,
    FactVerdict,
    Finding,
    Severity,
)
from contextlab.core.evidence.words import short

MOST = 40
RULES = (FactKind.RULE, FactKind.USER_CORRECTION)


def findings(audits: Sequence[CompactionAudit]) -> tuple[Finding, ...]:
    """The list, the heaviest first."""
    found = [finding for audit in audits for finding in _of(audit)]
    found.sort(key=lambda one: (-one.weight, one.step, one.positions))
    return tuple(found[:MOST])


def _of(audit: CompactionAudit) -> Iterator[Finding]:
    by_fact: dict[int, list[Consequence]] = defaultdict(list)
    for one in audit.consequences:
        by_fact[id(one.entry)].append(one)
    where = f"{'micro-compaction' if audit.micro else 'compaction'} {audit.number}"
    found = list(_changes(audit, by_fact, where))
    found += [
        _rule(audit, entry, by_fact[id(entry)], where)
        for entry in audit.ledger.entries
        if entry.fact.kind in RULES and entry.verdict == FactVerdict.DROPPED
    ]
    yield from found
    told = {at for finding in found for at in finding.positions}
    for entry in audit.ledger.entries:
        if entry.verdict not in (FactVerdict.DROPPED, FactVerdict.PARTIAL, FactVerdict.RESUPPLIED):
            continue
        for finding in _told_again(audit, entry, by_fact[id(entry)], where):
            if finding.positions[-1] not in told:
                told.add(finding.positions[-1])
                yield finding
    yield from _errors(audit, where)
    yield from _rereads(audit, where)
    if audit.opaque and any(entry.verdict == FactVerdict.CANNOT_TELL for entry in audit.ledger.entries):
        count = audit.ledger.count(FactVerdict.CANNOT_TELL)
        title = f"The summary of {where} cannot be read: what became of {count:,} facts cannot be told"
        yield _finding(audit, "cannot_tell", Severity.LOW, title, (), 10)


def _changes(audit: CompactionAudit, by_fact: dict[int, list[Consequence]], where: str) -> Iterator[Finding]:
    """Changed values; facts that became the same at the same place are told once, by the shortest value."""
    groups: dict[object, list[Entry]] = defaultdict(list)
    for entry in audit.ledger.entries:
        if entry.verdict == FactVerdict.CHANGED:
            groups[
                (entry.place.start // 80, _figures(entry.became or "")) if entry.place else id(entry)
            ].append(entry)
    for entries in groups.values():
        main = max(
            entries,
            key=lambda entry: (entry.fact.kind in (FactKind.PORT, FactKind.SETTING), entry.fact.weight),
        )
        after = sorted((one for entry in entries for one in by_fact[id(entry)]), key=lambda one: one.position)
        used = next((one for one in after if one.kind == ConsequenceKind.USED_UNSEEN), None)
        told = next((one for one in after if one.kind == ConsequenceKind.USER_REPEATED), None)
        title = f"{main.fact.text} became {main.became} at {where}"
        title += f", used at step {used.step}" if used and used.step else ""
        title += _corrected(told)
        severity = Severity.HIGH if used or told else Severity.MEDIUM
        weight = main.fact.weight + (60 if used or told else 35)
        yield _finding(audit, "changed_value", severity, title, _evidence(audit, main, (used, told)), weight)


def _corrected(told: Consequence | None) -> str:
    if told is None:
        return ""
    return (
        f", corrected by the user at step {told.step}" if told.step else ", corrected by the user at the end"
    )


def _figures(text: str) -> str:
    return "".join(letter for letter in text if letter.isdigit()) or text


def _rule(audit: CompactionAudit, entry: Entry, after: list[Consequence], where: str) -> Finding:
    name = "Rule" if entry.fact.kind == FactKind.RULE else "Correction"
    broken = next((one for one in after if one.kind == ConsequenceKind.RULE_BROKEN), None)
    told = next((one for one in after if one.kind == ConsequenceKind.USER_REPEATED), None)
    title = f"{name} lost at {where}"
    title += f", broken at step {broken.step}" if broken and broken.step else ""
    title += _corrected(told)
    title += f": {short(entry.fact.text, 140)}"
    kind = "rule_broken" if broken else "user_repeated" if told else "lost_rule"
    if kind == "lost_rule" and entry.fact.kind == FactKind.USER_CORRECTION:
        kind = "lost_correction"
    severity = Severity.HIGH if broken else Severity.MEDIUM
    weight = entry.fact.weight + (80 if broken else 30 if told else 0)
    return _finding(audit, kind, severity, title, _evidence(audit, entry, (broken, told)), weight)


def _told_again(
    audit: CompactionAudit, entry: Entry, after: list[Consequence], where: str
) -> Iterator[Finding]:
    told = next((one for one in after if one.kind == ConsequenceKind.USER_REPEATED), None)
    if told is not None:
        when = f"at step {told.step}" if told.step else "at the end"
        title = f"The user said again {when} what {where} lost: {short(entry.fact.text, 140)}"
        evidence = _evidence(audit, entry, (told,))
        yield _finding(audit, "user_repeated", Severity.MEDIUM, title, evidence, entry.fact.weight + 10)


def _errors(audit: CompactionAudit, where: str) -> Iterator[Finding]:
    seen: set[int] = set()
    for one in audit.consequences:
        if one.kind == ConsequenceKind.SAME_ERROR and one.position not in seen:
            seen.add(one.position)
            title = f"The same error at step {one.step} as before {where}: {short(one.text, 140)}"
            evidence = _evidence(audit, one.entry, (one,))
            yield _finding(audit, "same_error", Severity.MEDIUM, title, evidence, one.entry.fact.weight)


def _rereads(audit: CompactionAudit, where: str) -> Iterator[Finding]:
    again = [one for one in audit.consequences if one.kind == ConsequenceKind.REREAD]
    if again:
        tokens = sum(one.tokens or 0 for one in again)
        files = "1 file was" if len(again) == 1 else f"{len(again)} files were"
        title = f"{files} read again after {where}: about {tokens:,} tokens"
        positions = tuple(one.position for one in again)
        yield _finding(audit, "reread", Severity.LOW, title, positions, 15 + min(15, tokens / 4_000))


def _evidence(audit: CompactionAudit, entry: Entry, after: Sequence[Consequence | None]) -> tuple[int, ...]:
    summary = () if audit.summary is None else (audit.summary,)
    return (entry.fact.position, *summary, *(one.position for one in after if one is not None))


def _finding(
    audit: CompactionAudit,
    kind: str,
    severity: Severity,
    title: str,
    positions: tuple[int, ...],
    weight: float,
) -> Finding:
    return Finding(
        kind, severity, title, audit.number, audit.micro, audit.at_step, positions, round(weight, 1)
    )
