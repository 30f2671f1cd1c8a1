"""From the compaction to the rule that is broken: the port is wrong, the rule is gone."""

# ruff: noqa: E501  (what was said stands on one line)

from __future__ import annotations

from scripts.sample_sessions import bulk
from scripts.sample_sessions.agent import Agent
from scripts.sample_sessions.listings import activity, metrics
from scripts.sample_sessions.project import bash, todo
from scripts.sample_sessions.texts import text


def rest_of_fourth_turn(a: Agent) -> None:
    """Goes on from the summary, with the wrong port."""
    p = a.project
    a.step(
        "",
        "I check staging's sweep times first.",
        bash(
            "curl -sk --max-time 10 https://staging.acme.internal:8433/metrics | grep acme_session",
            "Read staging's metrics",
            "curl: (7) Failed to connect to staging.acme.internal port 8433 after 14 ms: Connection refused",
            error=True,
        ),
    )
    a.step(
        "Connection refused on 8433. Perhaps staging is being deployed. Try health, and again in a while.",
        "Refused. Perhaps a deployment is running; I try its health and wait a little.",
        bash(
            "for i in 1 2 3; do curl -sk --max-time 10 https://staging.acme.internal:8433/health || sleep 20; done",
            "Wait for staging",
            "\n".join(
                ["curl: (7) Failed to connect to staging.acme.internal port 8433: Connection refused"] * 3
            ),
            error=True,
        ),
    )
    a.step(
        "",
        "Staging does not answer. I go on with the tests meanwhile.",
        p.read("tests/sessions/test_cleanup.py"),
        p.read("src/acme_api/sessions/cleanup.py"),
    )
    a.step(
        "",
        "",
        todo(
            ("completed", "Delete expired sessions in one statement"),
            ("completed", "Close one-shot sessions after the body is sent"),
            ("in_progress", "Make the tests independent of real time"),
            ("pending", "Index on expires_at"),
            ("pending", "Run the session tests 20 times"),
        ),
        p.write("src/acme_api/clock.py", text("clock")),
    )
    a.step(
        "",
        "",
        p.edit(
            "tests/sessions/test_cleanup.py",
            '    session = await store.create("acc_1", "firefox")\n'
            "    await asyncio.sleep(settings.session_ttl_seconds + 0.1)\n",
            '    session = await store.create("acc_1", "firefox")\n'
            "    clock.move(settings.session_ttl_seconds + 1)\n",
        ),
        p.edit(
            "tests/sessions/test_cleanup.py",
            "async def test_removes_expired_sessions(store: SessionStore, settings: Settings) -> None:",
            "async def test_removes_expired_sessions(store: SessionStore, settings: Settings, clock: FakeClock) -> None:",
        ),
    )
    a.step(
        "",
        "",
        p.edit(
            "tests/conftest.py",
            "async def store(pool: asyncpg.Pool, settings: Settings) -> SessionStore:\n"
            "    return SessionStore(pool, settings, SystemClock())",
            "async def store(pool: asyncpg.Pool, settings: Settings, clock: FakeClock) -> SessionStore:\n"
            "    return SessionStore(pool, settings, clock)\n\n\n@pytest.fixture\ndef clock() -> FakeClock:\n"
            "    return FakeClock()",
        ),
        p.edit(
            "tests/conftest.py",
            "from acme_api.clock import SystemClock",
            "from acme_api.clock import FakeClock",
        ),
    )
    a.step(
        "",
        "",
        bash(
            "python -m pytest tests/sessions -v",
            "Run the session tests",
            bulk.pytest_run(51, failing=("in_use",), only="sessions", seconds=3.2),
            error=True,
        ),
    )
    a.step(
        "in_use relied on sleeping ttl - 0.05 so that sessions expire while they are touched. With a fake clock I move the clock "
        "between the touches instead.",
        "",
        p.edit(
            "tests/sessions/test_cleanup.py",
            "    await asyncio.sleep(settings.session_ttl_seconds - 0.05)\n\n"
            "    async def user(session_id: str) -> None:\n        for _ in range(5):\n            await store.touch(session_id)\n"
            "            await asyncio.sleep(0.01)\n",
            "    clock.move(settings.session_ttl_seconds - 0.05)\n\n    async def user(session_id: str) -> None:\n"
            "        for _ in range(5):\n            await store.touch(session_id)\n            clock.move(0.01)\n"
            "            await asyncio.sleep(0)\n",
        ),
        p.edit(
            "tests/sessions/test_cleanup.py",
            "async def test_keeps_sessions_that_are_in_use(store: SessionStore, settings: Settings) -> None:",
            "async def test_keeps_sessions_that_are_in_use(\n    store: SessionStore, settings: Settings, clock: FakeClock\n) -> None:",
        ),
    )
    a.step(
        "",
        "",
        p.edit(
            "tests/sessions/test_cleanup.py",
            "    await make_sessions(store, 1200)\n"
            "    await asyncio.sleep(settings.session_ttl_seconds + 0.1)\n",
            "    await make_sessions(store, 1200)\n    clock.move(settings.session_ttl_seconds + 1)\n",
        ),
        p.edit(
            "tests/sessions/test_cleanup.py",
            "async def test_two_sweeps_at_once_delete_each_row_once(store: SessionStore, settings: Settings) -> None:",
            "async def test_two_sweeps_at_once_delete_each_row_once(\n    store: SessionStore, settings: Settings, clock: FakeClock\n) -> None:",
        ),
        p.edit(
            "tests/sessions/test_cleanup.py",
            "from acme_api.config import Settings\n",
            "from acme_api.clock import FakeClock\nfrom acme_api.config import Settings\n",
        ),
    )
    a.step(
        "",
        "",
        bash(
            "python -m pytest tests/sessions -v",
            "Run the session tests",
            bulk.pytest_run(52, only="sessions", seconds=1.4),
        ),
    )
    a.step(
        "",
        "Two seconds instead of eight, and nothing waits any more. Staging still does not answer on 8433:",
        bash(
            "curl -skv --max-time 10 https://staging.acme.internal:8433/health",
            "Try staging again",
            "* Host staging.acme.internal:8433 was resolved.\n* IPv4: 10.20.4.17\n*   Trying 10.20.4.17:8433...\n"
            "* connect to 10.20.4.17 port 8433 failed: Connection refused\ncurl: (7) Failed to connect",
            error=True,
        ),
    )
    a.step(
        "",
        "The suite is stable and the retry loop ends early on shutdown. I could not measure staging: it refuses "
        "connections on port 8433. Is it down? The index on `expires_at` is what SessionSweepSlow needs.",
    )


def fifth_turn(a: Agent) -> None:
    """The port is corrected; then the lost rule is broken."""
    p = a.project
    a.prompt("It is 8443, I told you at the start. Measure it and then add the index.")
    a.step(
        "I used the wrong port. 8443.",
        "Sorry, 8443. I measure it now.",
        bash(
            "curl -sk https://staging.acme.internal:8443/metrics | grep acme_session",
            "Read staging's metrics",
            metrics(5),
        ),
    )
    a.step(
        "",
        "",
        bash(
            "ssh staging-1 'journalctl -u acme-api --since -1h -o cat | grep cleanup | tail -60'",
            "Sweeps of the last hour",
            bulk.server_log(61, 60),
        ),
        bash(
            "ssh staging-1 'psql -h pg-staging-1 acme -f /opt/acme/sql/activity.sql'",
            "Who waits for whom",
            activity(),
        ),
    )
    a.step(
        "Sweeps of 4 to 6 s. An index on expires_at, partial on state = 'open', makes them index scans. The table is created in "
        "0007_sessions.sql; the index belongs beside it.",
        "Sweeps take 4.1 to 6.0 s. The table is created in `migrations/0007_sessions.sql`; the index belongs beside the other one.",
        p.read("migrations/0007_sessions.sql"),
    )
    a.step(
        "",
        "",
        p.edit(
            "migrations/0007_sessions.sql",
            "CREATE INDEX sessions_account ON sessions (account_id);\n",
            "CREATE INDEX sessions_account ON sessions (account_id);\n"
            "CREATE INDEX sessions_expires_open ON sessions (expires_at) WHERE state = 'open';\n",
        ),
    )
    a.step(
        "",
        "",
        bash(
            "python -m pytest tests/sessions -v",
            "Run the session tests",
            bulk.pytest_run(62, only="sessions", seconds=1.3),
        ),
    )
    a.step(
        "",
        "The index is in `migrations/0007_sessions.sql` and the tests pass with it. Shall I write the changelog?",
    )
