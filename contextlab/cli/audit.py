"""`contextlab audit`: what each compaction of a session lost or changed, and what came of it; needs no database."""

from __future__ import annotations

import argparse
from typing import Any

from contextlab.cli._reading import complain, print_json, read, sources
from contextlab.core.assembler import Assembler
from contextlab.core.audit.answers import audit_answer
from contextlab.core.audit.auditing import audit
from contextlab.core.audit.results import Audit, ConsequenceKind, FactKind, FactVerdict
from contextlab.core.items import Injected
from contextlab.core.timeline import ItemRow
from contextlab.importers import UnreadableFile
from contextlab.importers.base import Source

NAME = "audit"
HELP = "show what each compaction lost or changed, and what came of it"
NEEDS_DJANGO = False
FAILURES = ("lost-rule", "changed-value", "rule-broken")
_SAID = (Injected.QUEUED, Injected.MIDTURN)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `contextlab audit`."""
    parser.add_argument("path", metavar="PATH", help="a log file, a folder of them, or - for standard input")
    parser.add_argument("--session", metavar="ID", help="only this session (subagents too)")
    parser.add_argument(
        "--fail-on",
        default="",
        metavar="KIND,...",
        help=f"exit with 1 where there is one of: {', '.join(FAILURES)}",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a line for each session")


def run(args: argparse.Namespace) -> int:
    """0 when done, 1 for a finding that --fail-on names, 2 wrong usage, 3 when no file could be read."""
    asked = [kind.strip() for kind in args.fail_on.split(",") if kind.strip()]
    if unknown := [kind for kind in asked if kind not in FAILURES]:
        complain(f"--fail-on knows {', '.join(FAILURES)}, not {unknown[0]!r}")
        return 2
    files, found, failed = 0, False, False
    for source in sources([args.path]):
        try:
            sessions = _sessions(source, args.session)
        except UnreadableFile as error:
            complain(str(error))
            continue
        files += 1
        for assembler, rows in sessions:
            found = True
            done = _audited(assembler, rows)
            failed |= any(_fails(done, kind) for kind in asked)
            _show(assembler.meta.native_id, done, rows, args.json)
    if files and args.session is not None and not found:
        complain(f"{args.path}: there is no session {args.session!r}")
        return 2
    return (1 if failed else 0) if files else 3


def _sessions(source: Source, wanted: str | None) -> list[tuple[Assembler, list[ItemRow]]]:
    """The sessions of a file with their rows: the one asked for, else those that are no subagent's (or all)."""
    rows: dict[str, list[ItemRow]] = {}
    made = read(source, lambda key, row: rows.setdefault(key, []).append(row))
    pairs = [(assembler, rows.get(key, [])) for key, assembler in made.sessions.items()]
    if wanted is not None:
        return [pair for pair in pairs if pair[0].meta.native_id == wanted]
    return [pair for pair in pairs if pair[0].meta.role is None] or pairs


def _audited(assembler: Assembler, rows: list[ItemRow]) -> Audit:
    texts = [row.event.text for row in rows]
    said = [row.position for row in rows if row.event.injected in _SAID]
    return audit(assembler.timeline, texts.__getitem__, assembler.compactions, spoken=said)


def _fails(done: Audit, kind: str) -> bool:
    """Whether there is a finding of a kind that --fail-on knows."""
    for one in done.compactions:
        entries = one.ledger.entries
        if kind == "changed-value" and any(entry.verdict == FactVerdict.CHANGED for entry in entries):
            return True
        if kind == "lost-rule" and any(
            entry.fact.kind == FactKind.RULE and entry.verdict == FactVerdict.DROPPED for entry in entries
        ):
            return True
        if kind == "rule-broken" and any(
            after.kind == ConsequenceKind.RULE_BROKEN for after in one.consequences
        ):
            return True
    return False


def _show(session: str, done: Audit, rows: list[ItemRow], as_json: bool) -> None:
    if as_json:
        print_json(audit_answer(session, done, lambda at: rows[at].event.id))
    else:
        print("\n".join(_readable(session, done)), flush=True)


def _readable(session: str, done: Audit) -> list[str]:
    """A session as lines: its compactions, then what to look at."""
    lines = [f"session {session}"]
    if not done.compactions:
        lines.append("  no compaction")
    for one in done.compactions:
        counts = _counts(one.ledger.counts)
        name = "micro-compaction" if one.micro else "compaction"
        how = "" if one.origin == "recorded" else f" ({one.origin}: {one.evidence})"
        lines.append(
            f"  {name} {one.number} before step {one.at_step}{how}: {one.ledger.items:,} items left, {counts}"
        )
    lines += [f"  {finding.severity:<6}  {finding.title}" for finding in done.findings]
    return lines


def _counts(counts: tuple[tuple[Any, FactVerdict, int], ...]) -> str:
    sums = {verdict: sum(count for _, found, count in counts if found == verdict) for verdict in FactVerdict}
    told = [f"{count:,} {verdict.replace('_', ' ')}" for verdict, count in sums.items() if count]
    return "facts: " + (", ".join(told) or "none")
