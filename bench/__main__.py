"""python -m bench [b1 b4 b5 b6 b7 b8] [--pairs 5] [--quick] [--json FILE]

Prints a table, writes the same as JSON, and exits with 1 when a gate fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench import b1_import, b4_replay, b5_step, b6_pages, b7_plan, b7_run, b8_memory
from bench.places import CACHE
from bench.report import Figure, Report

Bench = Callable[[Report, argparse.Namespace], None]


def _core(report: Report, asked: argparse.Namespace) -> None:
    """B4, and with it the core's own table: that goes out as it is, its exit code counts."""
    if asked.quick:
        b4_replay.measure(report, 1, [500, 1_000, 2_000], 300, 1_000)
        return
    done = subprocess.run([sys.executable, "-m", "bench.replay_core"], check=False)
    report.figures.append(Figure("B4", "core replay (see above): exit code", done.returncode, "", 0, 0))
    b4_replay.measure(report, min(asked.pairs, 3), [2_000, 10_000, 50_000, 100_000], 2_000, 10_000)


def _compaction(report: Report, asked: argparse.Namespace) -> None:
    sizes = [500, 1_000, 2_000] if asked.quick else [1_000, 10_000, 100_000]
    b7_plan.measure(report, asked.pairs, sizes, sizes[1])
    b7_run.measure(report, sizes[:2] if asked.quick else [2_500, 5_000, 10_000, 20_000], sizes[1])


BENCHES: dict[str, Bench] = {
    "b1": lambda report, asked: b1_import.measure(report, asked.pairs, 2000 if asked.quick else 20_000),
    "b4": _core,
    "b5": lambda report, asked: b5_step.measure(
        report, 1000 if asked.quick else 20_000, 20 if asked.quick else 100
    ),
    "b6": lambda report, asked: b6_pages.measure(
        report, [50, 500] if asked.quick else [50, 2_000, 20_000], 3
    ),
    "b7": _compaction,
    "b8": lambda report, asked: b8_memory.measure(report, [5, 10, 20] if asked.quick else [25, 53, 200, 500]),
}


def main() -> int:
    """Run the chosen benchmarks."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHES, []], help="which; all without a name")
    parser.add_argument(
        "--pairs", type=int, default=5, help="alternating pairs of runs for ratios (default 5)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small inputs: only to see that the programs work"
    )
    parser.add_argument(
        "--json", type=Path, default=CACHE / "results.json", metavar="FILE", help="where to write JSON"
    )
    asked = parser.parse_args()
    report = Report()
    for name in asked.names or BENCHES:
        print(f"{name}:", file=sys.stderr, flush=True)
        BENCHES[name](report, asked)
    print(report.table())
    report.save(asked.json)
    print(f"\nJSON: {asked.json}")
    # Start-up outweighs small inputs: their figures say nothing.
    return 0 if report.passed or asked.quick else 1


if __name__ == "__main__":
    sys.exit(main())
