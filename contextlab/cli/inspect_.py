"""`contextlab inspect`: what a log holds and how well it was read; needs no database."""

from __future__ import annotations

import argparse
import os
from typing import Any

from contextlab.cli._reading import Read, print_json, read, shown, sources, table
from contextlab.core.assembler import Assembler
from contextlab.core.items import KIND_CODE, Kind
from contextlab.importers import UnreadableFile
from contextlab.importers.base import Source

NAME = "inspect"
HELP = (
    "say what log files hold: sessions, turns, steps, tool calls, compactions, usage, and what was not read"
)
NEEDS_DJANGO = False

USAGE = ("input", "cache_read", "cache_write", "output")
COUNTS = (
    "sessions", "subagents", "turns", "steps", "items", "entries", "tool_calls", "tool_results",
    "results_without_call", "calls_without_result", "compactions", "micro_compactions",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `contextlab inspect`."""
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="a log file, a folder of them, or - for standard input"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list with one object for each file")


def run(args: argparse.Namespace) -> int:
    """Exit code 0 when anything could be read, 3 when nothing could."""
    answers = [inspect_source(source) for source in sources(args.paths)]
    if args.json:
        print_json(answers)
    else:
        print("\n".join(readable(answers)), flush=True)
    return 0 if any("error" not in answer for answer in answers) else 3


def inspect_source(source: Source) -> dict[str, Any]:
    """The object of one file, or its name with the reason why it cannot be read."""
    name = shown(source)
    try:
        made = read(source)
    except UnreadableFile as error:
        return {"file": name, "error": str(error)}
    return {"file": name, "format": made.report.format, **_counts(made), **_reading(made)}


def _counts(made: Read) -> dict[str, Any]:
    sessions = list(made.sessions.values())
    roles = [session.meta.role for session in sessions]
    lines = [session.timeline for session in sessions]
    kinds = [line.kinds for line in lines]
    micro = sum(row.micro for session in sessions for row in session.compactions)
    return {
        "sessions": roles.count(None),
        "subagents": roles.count("subagent"),
        "turns": sum(len(line.turns_list) for line in lines),
        "steps": sum(len(line.steps) for line in lines),
        "items": sum(len(line) for line in lines),
        "entries": sum(1 + max(line.entries, default=-1) for line in lines),
        "tool_calls": sum(column.count(KIND_CODE[Kind.TOOL_CALL]) for column in kinds),
        "tool_results": sum(column.count(KIND_CODE[Kind.TOOL_RESULT]) for column in kinds),
        "results_without_call": sum(session.results_without_call for session in sessions),
        "calls_without_result": sum(session.calls_without_result for session in sessions),
        "compactions": sum(len(session.compactions) for session in sessions) - micro,
        "micro_compactions": micro,
        "usage": {name: _total(sessions, name) for name in USAGE},
    }


def _total(sessions: list[Assembler], name: str) -> int | None:
    """The sum over all steps that report it; None when none does."""
    figures = [getattr(step, name) for session in sessions for step in session.timeline.steps]
    reported = [figure for figure in figures if figure is not None]
    return sum(reported) if reported else None


def _reading(made: Read) -> dict[str, Any]:
    report = made.report
    warnings = list(report.warnings)
    if (more := report.skipped_total - len(report.skipped)) > 0:
        warnings.append(f"{more} more lines were skipped")
    return {
        "skipped": [{"line": line, "reason": reason} for line, reason in report.skipped],
        "unknown_types": dict(report.unknown_types),
        "warnings": warnings,
    }


# For people

SHORT = {"results_without_call": "no call", "calls_without_result": "no result", "micro_compactions": "micro"}


def readable(answers: list[dict[str, Any]]) -> list[str]:
    """The lines for a terminal: a table, then what went wrong, file by file."""
    good = [answer for answer in answers if "error" not in answer]
    lines: list[str] = []
    if good:
        head = ["file", "format", *(SHORT.get(name, name.replace("_", " ")) for name in COUNTS), *USAGE]
        lines += table([head, *(_row(answer, _folder(good)) for answer in good)])
    for answer in answers:
        lines += _remarks(answer)
    return lines


def _folder(answers: list[dict[str, Any]]) -> str:
    """The folder that all files lie in, with its slash: it need not stand in every row."""
    parents = {os.path.dirname(answer["file"]) for answer in answers}
    if len(answers) < 2 or len({os.path.isabs(parent) for parent in parents}) > 1:
        return ""
    common = os.path.commonpath(parents)
    return os.path.join(common, "") if common else ""


def _row(answer: dict[str, Any], folder: str) -> list[str]:
    usage = answer["usage"]
    figures = [f"{answer[name]:,}" for name in COUNTS]
    tokens = ["?" if usage[name] is None else f"{usage[name]:,}" for name in USAGE]
    return [answer["file"].removeprefix(folder), answer["format"], *figures, *tokens]


def _remarks(answer: dict[str, Any]) -> list[str]:
    if "error" in answer:
        return [answer["error"]]
    name = answer["file"]
    lines = [f"{name}: line {one['line']} skipped: {one['reason']}" for one in answer["skipped"]]
    lines += [
        f"{name}: unknown type {kind} ({number} times)" for kind, number in answer["unknown_types"].items()
    ]
    return lines + [f"{name}: {warning}" for warning in answer["warnings"]]
