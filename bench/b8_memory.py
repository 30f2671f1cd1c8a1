"""B8: peak memory of an import, and whether it grows with the file."""

from __future__ import annotations

from bench.measure import note, run
from bench.places import claude_log, installation, own_command
from bench.report import Figure, Report

MOST_MB = 300.0
MOST_SLOPE = 0.1


def measure(report: Report, sizes: list[int]) -> None:
    """Import files of these sizes (MB), with exact counts, each into an empty database."""
    peaks: dict[float, float] = {}
    with installation() as made:
        for size in sizes:
            log = claude_log("--target-mb", str(size), "--seed", "3")
            made.renew()
            cost = run(own_command("import", str(log)), made.env())
            megabytes = log.stat().st_size / 1e6
            peaks[megabytes] = cost.peak_mb
            note(f"B8 {megabytes:.0f} MB: peak {cost.peak_mb:.0f} MB, {cost.cpu:.1f} CPU s")
    report.figures.append(
        Figure("B8", "peak memory of the largest import", max(peaks.values()), "MB", MOST_MB, MOST_MB)
    )
    # Below, caches of fixed size still fill; what grows with a file shows in the larger ones.
    settled = sorted(peaks.items())[1:] or [*peaks.items()]
    (small, low), (large, high) = settled[0], settled[-1]
    if large > small:
        slope = max(0.0, (high - low) / (large - small))
        report.figures.append(Figure("B8", "memory per MB of log", slope, "MB/MB", MOST_SLOPE, MOST_SLOPE))
    report.facts["B8"] = {"peaks": peaks}
