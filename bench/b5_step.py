"""B5: the step page of a very long session: server time at its beginning, middle and end.

The time is the process's own (CPU), which other work on the machine does not lengthen; wall time stands beside it.
Prints as a helper (inside an installation) the milliseconds of each request as JSON.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

from bench.measure import note, run
from bench.places import ask, installation, long_session, own_command
from bench.report import Figure, Report, percentile

MOST_P50, MOST_RATIO = 25.0, 1.3


def measure(report: Report, turns: int, requests: int) -> None:
    """Import the session, ask for three of its steps in turns, and compare."""
    log = long_session(turns)
    with installation() as made:
        made.renew()
        note("B5: importing the session")
        run(own_command("import", str(log)), made.env())
        found = json.loads(ask(made, "bench.b5_step", str(requests)))
    steps, times = found["steps"], {int(step): values for step, values in found["times"].items()}
    walls = {int(step): statistics.median(values) for step, values in found["walls"].items()}
    report.facts["B5"] = found | {"log": log.name}
    for step, values in times.items():
        report.figures.append(
            Figure(
                "B5", f"step {step:,} of {steps:,}: p50", statistics.median(values), "ms", MOST_P50, MOST_P50
            )
        )
        figures = {"p95": percentile(values, 0.95), "p50, wall": walls[step]}
        report.figures += [
            Figure("B5", f"step {step:,} of {steps:,}: {name}", ms, "ms") for name, ms in figures.items()
        ]
    first, *_, last = times.values()
    ratio = statistics.median(last) / statistics.median(first)
    report.figures.append(Figure("B5", "depth ratio, last to first", ratio, "x", MOST_RATIO, MOST_RATIO))


def main() -> None:
    """Ask for the pages in this process, so that nothing but the server's own work is measured."""
    import django

    django.setup()
    from django.test import Client

    from contextlab.store.models import Session

    session = Session.objects.filter(role="").order_by("-steps")[0]
    client = Client()
    wanted = [100, session.steps // 2, session.steps - 1]
    times: dict[int, list[float]] = {step: [] for step in wanted}
    walls: dict[int, list[float]] = {step: [] for step in wanted}
    sizes: dict[int, int] = {}
    for number in range(int(sys.argv[1]) + 5):
        for step in wanted:
            started, spent = time.perf_counter(), time.process_time()
            answer = client.get(f"/sessions/{session.uid}/steps/{step}", headers={"host": "localhost"})
            took, cost = time.perf_counter() - started, time.process_time() - spent
            assert answer.status_code == 200, answer.status_code
            sizes[step] = len(answer.content)
            if number >= 5:  # the first requests load templates and fill caches
                times[step].append(cost * 1000)
                walls[step].append(took * 1000)
    print(json.dumps({"steps": session.steps, "times": times, "walls": walls, "bytes": sizes}))


if __name__ == "__main__":
    main()
