"""The last turns of the work: the correction, the deployment, the pull request."""

# ruff: noqa: E501  (what was said stands on one line)

from __future__ import annotations

from scripts.sample_sessions import bulk
from scripts.sample_sessions.agent import Agent
from scripts.sample_sessions.project import bash
from scripts.sample_sessions.texts import text


def sixth_turn(a: Agent) -> None:
    """The user corrects it."""
    p = a.project
    a.prompt(
        "No! You edited a file under migrations/. I said at the very beginning: never edit those, they are applied in "
        "production. Take it back and put the index into a new file, that is fine."
    )
    a.step(
        "The user is right: the rule was given early and I broke it. It is not in the summary that I continue from. I take the "
        "edit back with git and add a new file.",
        "You are right, and I am sorry: I take it back.",
        bash(
            "git checkout -- migrations/0007_sessions.sql && git status --short",
            "Take back the edit of the applied migration",
            " M src/acme_api/middleware.py\n M src/acme_api/sessions/cleanup.py\n M src/acme_api/sessions/retry.py\n"
            " M src/acme_api/sessions/store.py\n M tests/conftest.py\n M tests/sessions/test_cleanup.py\n?? src/acme_api/clock.py",
        ),
    )
    a.step(
        "CREATE INDEX CONCURRENTLY cannot run inside a transaction; conftest runs each file with execute(), which is an implicit "
        "transaction only if several statements stand in it. One statement is fine.",
        "`CONCURRENTLY`, so that production is not locked while the index is built; it stands alone in its file because it "
        "cannot run inside a transaction.",
        p.write("migrations/0012_sessions_expires_index.sql", text("index")),
        p.glob("migrations/", "migrations/*.sql"),
    )
    a.step(
        "",
        "",
        bash(
            "git diff --stat -- migrations/ && python -m pytest tests/sessions -v",
            "See that nothing applied has changed, run the tests",
            bulk.pytest_run(63, only="sessions", seconds=1.5),
        ),
    )
    a.step(
        "",
        "",
        bash(
            "for i in $(seq 20); do python -m pytest tests/sessions -q 2>&1 | tail -1; done",
            "Run the session tests twenty times",
            "\n".join(f"26 passed in 1.{n % 6 + 2}s" for n in range(20)),
        ),
    )
    a.step(
        "",
        "Twenty of twenty. `0007_sessions.sql` is as it was; the index is in `0012_sessions_expires_index.sql`.",
    )


def seventh_turn(a: Agent) -> None:
    """Deployment to staging, the explanation, the changelog."""
    a.prompt("Good. Deploy it to staging and show me the sweeps before and after.")
    a.step(
        "",
        "",
        bash(
            "make release-staging 2>&1 | tail -40",
            "Deploy to staging",
            "\n".join(
                [
                    f"[{n:02d}/18] {line}"
                    for n, line in enumerate(
                        (
                            "build image acme-api:2.4.0-rc2",
                            "push to registry.acme.internal",
                            "migrate: 0012_sessions_expires_index.sql",
                            "CREATE INDEX (took 11.4 s)",
                            "stop 1 of 4",
                            "start 1 of 4",
                            "healthy",
                            "stop 2 of 4",
                            "start 2 of 4",
                            "healthy",
                            "stop 3 of 4",
                            "start 3 of 4",
                            "healthy",
                            "stop 4 of 4",
                            "start 4 of 4",
                            "healthy",
                            "smoke tests: 31 passed",
                            "done",
                        ),
                        1,
                    )
                ]
            ),
        ),
    )
    a.step(
        "",
        "",
        bash(
            "curl -sk https://staging.acme.internal:8443/health",
            "Ask staging whether it is up",
            '{"status": "ok", "version": "2.4.0-rc2", "database": "pg-staging-1", "sweep_age_s": 3}',
        ),
        bash(
            "ssh staging-1 'journalctl -u acme-api --since -20m -o cat | grep cleanup | tail -50'",
            "Sweeps after the deployment",
            bulk.server_log(71, 50),
        ),
    )
    a.step(
        "",
        "",
        bash(
            "ssh staging-1 'psql -h pg-staging-1 acme -c \"explain (analyze) delete from sessions ...\"'",
            "Explain the delete again",
            " Delete on sessions  (cost=43.10..50.85 rows=0 width=0) (actual time=6.410..6.412 rows=0 loops=1)\n"
            "   ->  Nested Loop  (actual time=2.950..4.711 rows=500 loops=1)\n"
            "         ->  Index Scan using sessions_expires_open on sessions sessions_1 (actual time=0.041..1.904 rows=500)\n"
            " Planning Time: 0.702 ms\n Execution Time: 6.533 ms",
        ),
    )
    a.step(
        "",
        "| | before | after |\n|---|---|---|\n| one batch of 500 | 5,211 ms | 6.5 ms |\n| plan | Seq Scan, sort on disk | Index "
        'Scan using sessions_expires_open |\n| "session expired" below the ttl, 20 minutes | 61 | 0 |\n\nThe sweeps are about '
        "800 times faster, and no session was lost early since the deployment.",
    )


def last_turn(a: Agent) -> None:
    """Changelog and pull request."""
    p = a.project
    a.prompt("Write it up in the changelog and open the pull request.")
    a.step("", "", p.read("CHANGELOG.md"), p.read("CLAUDE.md"))
    a.step(
        "",
        "",
        p.edit(
            "CHANGELOG.md",
            "- `X-Acme-One-Shot: 1` closes the session after the request (used by acme-batch).\n",
            "- `X-Acme-One-Shot: 1` closes the session after the body is sent (used by acme-batch).\n"
            "- Fixed: sessions in use could be deleted by the cleanup and their users signed out.\n"
            "- Fixed: shutting down waited up to a minute for a back-off.\n"
            "- Sweeps use an index (migration 0012): 6.5 ms instead of 5.2 s per 500 sessions on staging.\n",
        ),
    )
    a.step(
        "",
        "",
        bash(
            "python -m pytest -v 2>&1",
            "Run all tests before the pull request",
            bulk.pytest_run(81, seconds=37),
        ),
        bash(
            "ruff check src tests && mypy src",
            "Lint and type check",
            "Success: no issues found in 42 source files",
        ),
    )
    a.step(
        "",
        "",
        bash(
            "git checkout -b fix/session-cleanup && git add -A && git commit -q -F - <<'EOF'\nLet the database decide which "
            "sessions have expired\n\nSelecting ids and deleting them later lost sessions that were touched in between.\nEOF\n"
            "git push -q -u origin fix/session-cleanup && gh pr create --fill",
            "Commit and open the pull request",
            "https://github.example/acme/acme-api/pull/412",
        ),
    )
    a.step(
        "",
        "The pull request is https://github.example/acme/acme-api/pull/412. It has the fix, the tests with a clock of their own, "
        "migration 0012 and the changelog. acme-admin and acme-batch need no change: the five methods are as they were.",
    )
