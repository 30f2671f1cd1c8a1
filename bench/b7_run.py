"""B7, the whole of a compaction: a run as a worker does it, from the claim to the commit, without the model's time.

Everything counts that is ours: memory is read from the database (texts unpacked), planned, written into a prompt (some
8 MB at 10,000 messages, kept to nobody's window), the answer stored, parsed and checked, the branch with its memory,
spans, report and result committed. On PostgreSQL the time of its own processes is not in it.

Beside it LangChain's middleware, which does the plan, the prompt and the new messages in memory and keeps nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys

from bench.against_langchain import exponent, messages_file, theirs
from bench.measure import CommandError, note
from bench.places import CHECKOUT, Installation, installation, langchain, postgres
from bench.report import Figure, Report

RUNS = 5
TARGET = 0.060
"""CPU seconds aimed at. Reading 12,000 rows into items and writing 8 MB of prompt alone take that much (README)."""
GATE = 0.300
LINEAR = 1.05
LINEAR_GATE = 1.15
MODEL = {
    "CONTEXTLAB_MODEL_BASE_URL": "http://127.0.0.1:9/v1",
    "CONTEXTLAB_MODEL": "stub",
    "CONTEXTLAB_MODEL_WINDOW": "10000000",
}
"""A model that nobody asks, with room for all of it."""


def measure(report: Report, sizes: list[int], compared: int) -> None:
    """Add the figures of whole runs; `compared` is the size that the target is for."""
    servers = {"SQLite": None} | ({"PostgreSQL": server} if (server := postgres()) else {})
    for name, server in servers.items():
        spent = {}
        with installation(server) as made:
            for size in sizes:
                note(f"compacting {size:,} messages on {name}")
                spent[size] = _seconds(made, size)
        report.facts[f"B7 run {name}"] = {str(size): seconds for size, seconds in spent.items()}
        what = f"compaction of {compared:,} messages, persisted on {name}"
        grows = f"compaction persisted on {name} grows from {sizes[0]:,} to {sizes[-1]:,} messages"
        growth = exponent(sizes, list(spent.values()))
        report.figures += [
            Figure("B7", what, spent[compared], "CPU s", TARGET, GATE),
            Figure("B7", grows, growth, "exponent", LINEAR, LINEAR_GATE),
        ]
        python = langchain()
        if not isinstance(python, str):
            ratio = theirs(python, "compact", compared) / spent[compared]
            report.figures.append(Figure("B7", f"{what}: LangChain in memory / ours", ratio, "x"))


def _seconds(made: Installation, size: int) -> float:
    """CPU seconds of the fastest of some runs; the first one loads what is loaded once."""
    made.renew()
    command = [sys.executable, "-m", "bench.compacting", str(messages_file(size)), str(RUNS)]
    done = subprocess.run(
        command, env={**made.env(), **MODEL}, cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise CommandError(done.stderr[-3000:])
    return float(min(json.loads(done.stdout)["seconds"]))
