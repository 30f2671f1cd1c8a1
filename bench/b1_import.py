"""B1: from a transcript to the first page, and to exact counts, against two converters of the same transcript.

CPU seconds of whole process trees (PostgreSQL's own included), alternating runs, median of the ratios of pairs.
The converters store nothing and count nothing; they are the fastest way known to make a transcript readable.

first browse   the session's page, its first turns and what the model saw at its first step answer (rulings.md 33)
whole log      all of the log is browsable, with estimates
exact counts   all of it, every item counted
"""

from __future__ import annotations

import shutil
import sys
from collections import defaultdict
from pathlib import Path

from bench.measure import Cost, Watched, note, postgres_cpu, run, run_watched
from bench.places import (
    CACHE,
    POSTGRES,
    Installation,
    ask,
    claude_log,
    installation,
    own_command,
    peers,
    postgres,
)
from bench.report import Figure, Report, median_ratio

FAST, FULL = "claude-code-transcripts", "claude-code-log"
TARGETS = {
    ("first browse", FAST): 2.5,
    ("whole log", FAST): 2.5,
    ("exact counts", FAST): 1.5,
    ("whole log", FULL): 10.0,
    ("exact counts", FULL): 6.0,
}


def measure(report: Report, pairs: int, lines: int) -> None:
    """Add B1's figures to the report."""
    found = peers()
    if isinstance(found, str):
        report.skipped.append(f"B1: {found}")
        return
    log = claude_log("--lines", str(lines), "--seed", "7")
    server = postgres()
    if server is None:
        report.skipped.append(f"B1 on PostgreSQL: {POSTGRES} names no server")
    databases = {"SQLite": None} | ({"PostgreSQL": server} if server else {})
    for database, address in databases.items():
        with installation(address) as made:
            _compare(report, made, found, log, pairs, database)


def _compare(
    report: Report, made: Installation, found: dict[str, Path], log: Path, pairs: int, database: str
) -> None:
    spent: dict[str, list[float]] = defaultdict(list)
    walls: dict[str, list[float]] = defaultdict(list)
    for number in range(1, pairs + 1):
        watched = _watched(made, log)
        costs = {
            "first browse": watched.first,
            "whole log": watched.whole,
            FAST: _peer([str(found[FAST]), "json", str(log), "-o"]),
            "exact counts": _ours(made, log),
        }
        # A minute each: twice is enough to know a factor of ten.
        if number <= 2:
            costs[FULL] = _peer([str(found[FULL]), str(log), "--no-cache", "-o"], "index.html")
        for name, cost in costs.items():
            spent[name].append(cost.cpu)
            walls[name].append(cost.wall)
        note(
            f"B1 {database} {number}/{pairs}: "
            + ", ".join(f"{name} {cost.cpu:.1f}" for name, cost in costs.items())
        )
    megabytes = log.stat().st_size / 1e6
    for (ours, theirs), target in TARGETS.items():
        ratio = median_ratio(spent[ours][: len(spent[theirs])], spent[theirs])
        name = f"{ours}, {database}: times {theirs}"
        report.figures.append(
            Figure("B1", name, ratio, "x", target, target / 2 if theirs == FAST else None, better="higher")
        )
    for ours in ("first browse", "whole log", "exact counts"):
        cpu = sorted(spent[ours])[len(spent[ours]) // 2]
        report.figures.append(Figure("B1", f"{ours}, {database}: CPU", cpu, "s"))
        report.figures.append(Figure("B1", f"{ours}, {database}: rate", megabytes / cpu, "MB per CPU s"))
    report.facts[f"B1 {database}"] = {
        "log": log.name,
        "megabytes": megabytes,
        "cpu": dict(spent),
        "wall": dict(walls),
    }


def _watched(made: Installation, log: Path) -> Watched:
    """An import with estimates only, and when somebody who waits for it can begin to read."""
    made.renew()
    watcher = [sys.executable, "-m", "bench.browsable", "--watch"]
    server = postgres_cpu if made.server else lambda: 0.0
    watched = run_watched(own_command("import", "--no-count", str(log)), watcher, made.env(), server)
    ask(made, "bench.browsable")
    return watched


def _ours(made: Installation, log: Path, *options: str) -> Cost:
    made.renew()
    before = postgres_cpu() if made.server else 0.0
    cost = run(own_command("import", *options, str(log)), made.env())
    backend = postgres_cpu() - before if made.server else 0.0
    ask(made, "bench.browsable", *([] if options else ["--counted"]))
    return Cost(cost.cpu + backend, cost.wall, cost.peak_mb)


def _peer(command: list[str], name: str = "") -> Cost:
    out = CACHE / "peer-output"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    try:
        return run([*command, str(out / name)])
    finally:
        shutil.rmtree(out, ignore_errors=True)
