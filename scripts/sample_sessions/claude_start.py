"""The first two turns: a test that fails one run in ten, and two rules."""

# ruff: noqa: E501  (what was said stands on one line)

from __future__ import annotations

from scripts.sample_sessions import bulk
from scripts.sample_sessions.agent import Agent, picture
from scripts.sample_sessions.project import bash, todo
from scripts.sample_sessions.texts import text


def first_turn(a: Agent) -> None:
    """Find the reason."""
    p = a.project
    a.prompt("The session cleanup test fails about one run in ten on CI. Find out why and fix it.")
    a.step(
        "The user wants me to find out why a session cleanup test is flaky. I should look at the test first, then at the "
        "code that it exercises, and reproduce the failure before I change anything.",
        "I'll start with the test and the code behind it.",
        p.grep("cleanup|delete_expired"),
        p.glob("tests/", "tests/**/*.py"),
    )
    a.step("", "", p.read("tests/sessions/test_cleanup.py"), p.read("src/acme_api/sessions/cleanup.py"))
    a.step(
        "test_keeps_sessions_that_are_in_use runs forty users that touch their sessions and two sweeps at once. If a sweep "
        "selects a session as expired and the user touches it before the delete, the session is lost. Let me look at "
        "delete_expired.",
        "",
        p.read("src/acme_api/sessions/store.py"),
    )
    a.step(
        "",
        "Let me see the fixtures and what the CI job ran.",
        p.read("tests/conftest.py"),
        p.read("src/acme_api/sessions/retry.py"),
    )
    a.step(
        "",
        "Now I reproduce it: the file alone first, then ten times in a row.",
        bash(
            "python -m pytest tests/sessions/test_cleanup.py -v",
            "Run the cleanup tests once",
            bulk.pytest_run(1, only="test_cleanup", seconds=6.1),
        ),
    )
    a.step(
        "",
        "",
        bash(
            "for i in $(seq 10); do python -m pytest tests/sessions/test_cleanup.py -q 2>&1 | tail -3; done",
            "Run the cleanup tests ten times",
            "\n".join(
                f"run {n}: " + ("1 failed, 9 passed in 6.4s" if n == 7 else f"10 passed in 6.{n}s")
                for n in range(1, 11)
            ),
        ),
    )
    a.step(
        "One of ten, as on CI. To be certain that it is the race and not the clock I want the whole output of a failing run.",
        "One of ten fails here too. I run the whole suite verbosely to see whether anything else is touched by it.",
        bash(
            "python -m pytest -v 2>&1",
            "Run all tests verbosely",
            bulk.pytest_run(2, failing=("in_use",), seconds=48),
            error=True,
        ),
    )
    a.step("", "", p.read("src/acme_api/middleware.py"), p.read("src/acme_api/sessions/model.py"))
    a.step(
        "",
        "Found it. `delete_expired()` reads the ids of expired sessions on one connection and deletes them on another. A "
        "session that is touched in between has a new `expires_at`, and is deleted all the same. The test loses that race "
        "about one time in ten; in production a user is signed out while working.\n\nThe remedy is to let the database "
        "decide: one `DELETE ... WHERE expires_at < now` instead of select-then-delete. Shall I go on?",
    )


def second_turn(a: Agent) -> str:
    """Rules, a picture, staging; returns the id of the call that started the subagent."""
    p = a.project
    a.prompt(
        "Yes. Two rules before you go on: never edit anything under migrations/, those files are applied in production "
        "already. And when you check something on staging, it listens on port 8443, not 443. I pasted the job that failed.",
        image=picture(),
    )
    a.step(
        "Rules: never edit migrations/; staging is on port 8443. The screenshot shows the job list with the postgres16 job "
        "red. Let me look at the log of that job and the runbook.",
        "Understood: nothing under migrations/, and staging is https://staging.acme.internal:8443. I look at the job's log.",
        bash(
            "gh run view 9184412077 --job 26417 --log | tail -420",
            "Read the log of the failed job",
            bulk.ci_log(3, 230),
        ),
        p.read("docs/runbook.md"),
    )
    a.step(
        "",
        "The runbook knows the same symptom in production: SessionsGoneTooEarly, since 2.3.0. I check staging's log "
        "for it.",
        bash(
            "curl -sk https://staging.acme.internal:8443/health",
            "Ask staging whether it is up",
            '{"status": "ok", "version": "2.4.0-rc1", "database": "pg-staging-1", "sweep_age_s": 11}',
        ),
        bash(
            "ssh staging-1 'journalctl -u acme-api --since -2h -o cat | tail -220'",
            "Read staging's log",
            bulk.server_log(4, 130),
        ),
    )
    a.queued("staging was restarted at 21:40, ignore everything before that")
    a.step(
        "The user says that staging was restarted at 21:40. All lines I have are after that. Warnings 'session expired' "
        "with an age below 1800 seconds are sessions deleted too early.",
        "All of these lines are after the restart. Sessions with an age far below the 1,800 seconds of the ttl are reported "
        "as expired, so it is the same fault. I count them.",
        bash(
            "ssh staging-1 'journalctl -u acme-api --since 21:40 -o cat | grep \"session expired\" | tail -70'",
            "List sessions that were lost early",
            bulk.server_log(6, 40, word="session expired"),
        ),
    )
    call = a.task(
        "Before changing the store I need to know who depends on it. A subagent can search while I keep my context small.",
        "Before I change the store I want to know who calls it.",
        "Find every caller of SessionStore.get, touch, close and delete_expired in this repository, and what is known about "
        "callers in other repositories. For each: the file, what it relies on, and whether it can run while a sweep runs. "
        "Do not change anything.",
        "Find the callers of SessionStore",
        text("callers"),
        "a3f91c7",
        31_844,
    )
    a.step(
        "",
        "",
        todo(
            ("in_progress", "Delete expired sessions in one statement"),
            ("pending", "Close one-shot sessions after the body is sent"),
            ("pending", "Make the tests independent of real time"),
            ("pending", "Run the suite 20 times"),
        ),
    )
    a.step(
        "One statement, with a limit: DELETE ... WHERE id IN (SELECT ... FOR UPDATE SKIP LOCKED LIMIT n). SKIP LOCKED keeps "
        "two sweeps from waiting for each other, and a row that touch() has locked is skipped.",
        "I put the decision into one statement. `FOR UPDATE SKIP LOCKED` lets two sweeps work side by side, and a row that "
        "is being touched is left alone.",
        p.edit(
            "src/acme_api/sessions/store.py",
            "SELECT_EXPIRED = \"SELECT id FROM sessions WHERE expires_at < $1 AND state = 'open' ORDER BY expires_at "
            'LIMIT $2"\nDELETE_MANY = "DELETE FROM sessions WHERE id = ANY($1::text[])"\n',
            'DELETE_EXPIRED = """\n    DELETE FROM sessions WHERE id IN (\n        SELECT id FROM sessions\n        '
            "WHERE expires_at < $1 AND state = 'open'\n        ORDER BY expires_at LIMIT $2\n        "
            'FOR UPDATE SKIP LOCKED\n    )\n"""\n',
        ),
    )
    a.step(
        "",
        "",
        p.edit(
            "src/acme_api/sessions/store.py",
            "            rows = await connection.fetch(SELECT_EXPIRED, now, batch)\n"
            '        ids = [row["id"] for row in rows]\n        if not ids:\n            return 0\n'
            "        async with self.pool.acquire() as connection:\n"
            "            status = await connection.execute(DELETE_MANY, ids)\n",
            "            status = await connection.execute(DELETE_EXPIRED, now, batch)\n",
        ),
    )
    a.step(
        "",
        "",
        bash(
            "python -m pytest tests/sessions -v",
            "Run the session tests",
            bulk.pytest_run(7, only="sessions", seconds=8.3),
        ),
    )
    a.step(
        "",
        "The delete is one statement now and the session tests pass. Closing the one-shot sessions comes next; that "
        "touches the middleware. Do you want a lock around touch and get as well?",
    )
    return call
