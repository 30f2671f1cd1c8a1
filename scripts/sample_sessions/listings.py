"""Listings from a database, a metrics page and git, as the sample agents see them."""

from __future__ import annotations

STATES = ("active", "idle in transaction", "idle")
WAITS = ("Lock:transactionid", "IO:DataFileRead", "Client:ClientRead")
QUERIES = (
    "DELETE FROM sessions WHERE id IN (",
    "SELECT id, number, currency FROM invoices",
    "UPDATE sessions SET exp",
)


def activity() -> str:
    """Connections of a database and what they wait for, as psql shows them."""
    rows = [
        f" {40000 + n * 7} | acme_api | {STATES[n % 3]:19} | {n * 13 % 61:3d}.{n * 37 % 1000:03d} s | "
        f"{WAITS[n % 3]:18} | {QUERIES[n % 3]}"
        for n in range(34)
    ]
    head = "  pid  | usename  | state               | xact_age  | wait               | query\n" + "-" * 108
    return "\n".join([head, *rows, "(34 rows)"])


def metrics(seed: int) -> str:
    """The session metrics in Prometheus' text format."""
    rows = [
        f'acme_session_sweep_seconds_bucket{{pid="{pid}",le="{le}"}} {n * 17 + pid + seed}'
        for pid in (31, 32, 33, 34)
        for n, le in enumerate(("0.1", "0.5", "1", "2.5", "5", "10", "+Inf"))
    ]
    rows += [f'acme_sessions_deleted_total{{pid="{pid}"}} {pid * 811 + seed}' for pid in (31, 32, 33, 34)]
    return "\n".join(rows)


def history() -> str:
    """git log --stat of the session code."""
    subjects = (
        "Move the cleanup into the API",
        "Measure the sweep",
        "Back off when the database restarts",
        "Close one-shot sessions",
        "Stream exports",
        "Delete in batches",
        "Shorten device names to 120 characters",
        "Let close() be called twice",
        "Keep closed sessions for thirty days",
        "One schema per test",
    )
    out = []
    for number in range(18):
        subject = subjects[number % len(subjects)]
        out += [
            f"commit {number * 7919 + 40:07x}{'c0ffee' * 5}{number:03x}",
            (
                f"Author: {('Mara', 'Jonas', 'Ines')[number % 3]} "
                f"<{('mara', 'jonas', 'ines')[number % 3]}@acme.example>"
            ),
            f"Date:   2026-{9 - number // 3:02d}-{27 - number:02d}",
            "",
            f"    {subject}{' (again)' if number >= len(subjects) else ''}",
            "",
            f" src/acme_api/sessions/store.py   | {number * 5 % 40 + 2} +++--",
            f" tests/sessions/test_cleanup.py   | {number + 3} ++-",
            "",
        ]
    return "\n".join(out)
