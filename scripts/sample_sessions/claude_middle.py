"""The third turn and the long one: the middleware, the retry loop, and a context that fills up."""

# ruff: noqa: E501  (what was said stands on one line)

from __future__ import annotations

from scripts.sample_sessions import bulk
from scripts.sample_sessions.agent import Agent
from scripts.sample_sessions.listings import activity, history, metrics
from scripts.sample_sessions.project import bash
from scripts.sample_sessions.texts import text


def third_turn(a: Agent) -> None:
    """The middleware, with a constraint."""
    p = a.project
    a.prompt(
        "No lock in the database. One statement for get and touch would do, but don't change the public API of SessionStore."
    )
    a.step(
        "So: keep the five public methods with their signatures. I can add a private method that touches and returns the "
        "session in one UPDATE ... RETURNING, and let the middleware use... it must be public to be used from the "
        "middleware, though adding is not changing. Better: touch() stays, get() stays, a new module-level function "
        "`resume(store, id)`. Let me look at how the routes use the session.",
        "The five methods keep their signatures. I add a function `resume()` beside the class that does both in one "
        "`UPDATE ... RETURNING`. First a look at the routes that rely on it.",
        p.read("src/acme_api/routes/accounts.py"),
        p.read("src/acme_api/routes/exports.py"),
    )
    a.step("", "", p.read("src/acme_api/routes/invoices.py"), p.read("src/acme_api/routes/teams.py"))
    a.step("", "", p.read("src/acme_api/app.py"), p.read("src/acme_api/config.py"))
    a.step(
        "The exports stream their body; the middleware closes the one-shot session when call_next returns, which is before "
        "the body is sent. close() belongs into a background task of the response or a wrapper of its iterator.",
        "Now the second fault: the middleware closes a one-shot session before the streamed body is sent.",
        p.edit(
            "src/acme_api/sessions/store.py",
            "async def expired_batches(",
            "async def resume(store: SessionStore, session_id: str) -> Session:\n"
            '    """Read and touch a session in one statement; SessionGone when it is closed or expired."""\n'
            "    now = store.clock.now()\n    async with store.pool.acquire() as connection:\n"
            "        row = await connection.fetchrow(RESUME, session_id, now + store.ttl, now)\n"
            "    if row is None:\n        raise SessionGone(session_id)\n    return Session(**dict(row))\n\n\n"
            "async def expired_batches(",
        ),
    )
    a.step(
        "",
        "",
        p.edit(
            "src/acme_api/sessions/store.py",
            'CLOSE = "UPDATE',
            'RESUME = """\n    UPDATE sessions SET expires_at = $2, last_seen_at = $3\n    WHERE id = $1 AND state = '
            "'open' AND expires_at >= $3\n    RETURNING id, account_id, device, state, created_at, expires_at, "
            'last_seen_at\n"""\nCLOSE = "UPDATE',
        ),
    )
    a.step(
        "",
        "",
        p.edit(
            "src/acme_api/middleware.py",
            "            session = await self.store.get(session_id)\n            await self.store.touch(session_id)\n",
            "            session = await resume(self.store, session_id)\n",
        ),
        p.edit(
            "src/acme_api/middleware.py",
            "import SessionGone, SessionStore",
            "import SessionGone, SessionStore, resume",
        ),
    )
    a.step(
        "",
        "The close moves behind the body.",
        p.edit(
            "src/acme_api/middleware.py",
            "            # Exports are streamed: the generator still reads through the session while the body is sent.\n"
            "            await self.store.close(session_id)\n        if isinstance(response, StreamingResponse):\n"
            '            log.debug("streaming %s for %s", request.url.path, session.account_id)\n        return response\n',
            "            # Exports are streamed: the session has to live until the last byte is sent.\n"
            "            response.background = BackgroundTask(self.store.close, session_id)\n        return response\n",
        ),
    )
    a.step(
        "",
        "",
        bash(
            "ruff check src tests && mypy src",
            "Lint and type check",
            "src/acme_api/middleware.py:11:1: F401 `StreamingResponse` imported but unused\n"
            "src/acme_api/middleware.py:44:36: F821 Undefined name `BackgroundTask`\nFound 2 errors.",
            error=True,
        ),
    )
    a.step(
        "",
        "",
        p.edit(
            "src/acme_api/middleware.py",
            "from starlette.requests import Request\nfrom starlette.responses import "
            "JSONResponse, Response, StreamingResponse\n",
            "from starlette.background import BackgroundTask\nfrom starlette.requests import Request\n"
            "from starlette.responses import JSONResponse, Response\n",
        ),
        bash(
            "ruff check src tests && mypy src",
            "Lint and type check again",
            "Success: no issues found in 41 source files",
        ),
    )
    a.step("", "", bash("python -m pytest -v 2>&1", "Run all tests", bulk.pytest_run(9, seconds=44)))
    a.step(
        "All pass. Does StreamingResponse keep a background that the route has set itself? exports sets none. I should check "
        "the API description for responses that carry a background... not needed. Let me check openapi.json for the header.",
        "All green. Is the one-shot header part of the described API?",
        bash(
            "python -m json.tool openapi.json | grep -n -i one-shot; wc -c openapi.json",
            "Look for the header",
            f"{len(p.files['openapi.json'])} openapi.json",
        ),
        bash(
            "head -c 14000 openapi.json",
            "Read the first part of the API description",
            p.files["openapi.json"][:14000],
        ),
    )
    a.micro(12)
    a.step(
        "",
        "It is not described, which is right: acme-batch is its only user. The middleware is done; the tests that use "
        "real time are left, and the loop around the sweep.",
    )


def fourth_turn(a: Agent) -> None:
    """The whole suite, the retry loop, and a context that fills up."""
    p = a.project
    a.prompt(
        "Good. Run the whole suite a few times and look at the retry loop as well, SessionSweepSlow fired again this morning."
    )
    a.step(
        "",
        "",
        bash(
            "python -m pytest -v -p no:randomly 2>&1", "First of three runs", bulk.pytest_run(11, seconds=43)
        ),
    )
    a.step(
        "",
        "",
        bash(
            "python -m pytest -v --count 3 tests/sessions 2>&1",
            "Session tests three times over",
            "\n".join(bulk.pytest_run(20 + n, only="sessions", seconds=8) for n in range(3)),
        ),
    )
    a.step(
        "No failure. Now the retry loop: retrying() retries sweep up to 5 times with back-off up to 60 s, and sweep itself "
        "loops over batches. A deadlock in batch 7 repeats from the start, that is fine as deletes are idempotent. But a "
        "slow sweep: SessionSweepSlow. Let me see what staging's database says.",
        "Nothing fails. Now the slow sweeps: what does the database do during one?",
        bash(
            "ssh staging-1 'psql -h pg-staging-1 acme -c \"explain (analyze, buffers) delete from sessions where id in "
            "(select id from sessions where expires_at < now() and state = $$open$$ order by expires_at limit 500 for update "
            "skip locked)\"'",
            "Explain the delete on staging",
            text("explain"),
        ),
    )
    a.step(
        "Seq Scan over 1.9 million rows for each batch: there is no index on expires_at. That is what SessionSweepSlow is "
        "about. An index needs a migration: a new file, never an edit of an applied one.",
        "Every batch reads the whole table: there is no index on `expires_at`. That explains the alert. I look at what else "
        "waits.",
        bash(
            "ssh staging-1 'psql -h pg-staging-1 acme -f /opt/acme/sql/activity.sql'",
            "Who waits for whom",
            activity(),
        ),
        p.glob("migrations/", "migrations/*.sql"),
    )
    a.step(
        "",
        "",
        bash(
            "ssh staging-1 'journalctl -u acme-api --since -3h -o cat | tail -230'",
            "More of staging's log",
            bulk.server_log(13, 130),
        ),
        bash(
            "curl -sk https://staging.acme.internal:8443/metrics | grep acme_session",
            "Read staging's metrics",
            metrics(1),
        ),
    )
    a.step(
        "",
        "The sweeps take 4 to 6 seconds on staging. CI shows the same pattern; I compare with last week's job.",
        bash(
            "gh run view 9121177035 --job 25903 --log | tail -400",
            "Read last week's job",
            bulk.ci_log(17, 215),
        ),
    )
    a.step("", "", p.read("src/acme_api/routes/webhooks.py"), p.read("src/acme_api/sessions/retry.py"))
    a.step(
        "retrying() catches TimeoutError, which asyncio raises as well when the pool is exhausted. With five attempts and "
        "back-off the loop can sleep a minute while _stopping is set: stop() waits for it. So shutdown hangs up to 60 s. The "
        "back-off should wait on the stopping event.",
        "One more fault: while `retrying()` sleeps, `stop()` waits, up to a minute. I let the back-off end early when the "
        "loop is asked to stop.",
        p.edit(
            "src/acme_api/sessions/retry.py",
            "async def retrying(call: Callable[[], Awaitable[T]], backoff: Backoff, attempts: int) -> T:\n",
            "async def retrying(\n    call: Callable[[], Awaitable[T]],\n    backoff: Backoff,\n    attempts: int,\n"
            "    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,\n) -> T:\n",
        ),
        p.edit(
            "src/acme_api/sessions/retry.py",
            "await asyncio.sleep(backoff.wait(attempt))",
            "await pause(backoff.wait(attempt))",
        ),
    )
    a.step(
        "",
        "",
        p.edit(
            "src/acme_api/sessions/cleanup.py",
            "await retrying(self.sweep, backoff, attempts=5)",
            "await retrying(self.sweep, backoff, attempts=5, pause=self._wait)",
        ),
        p.edit(
            "src/acme_api/sessions/cleanup.py",
            "    async def _pause(self) -> None:\n        try:\n            await asyncio.wait_for(self._stopping.wait(), "
            "self.settings.cleanup_interval_seconds)\n",
            "    async def _pause(self) -> None:\n        await self._wait(self.settings.cleanup_interval_seconds)\n\n"
            "    async def _wait(self, seconds: float) -> None:\n        try:\n"
            "            await asyncio.wait_for(self._stopping.wait(), seconds)\n",
        ),
    )
    a.step(
        "",
        "",
        bash(
            "python -m pytest -v 2>&1",
            "Run all tests",
            bulk.pytest_run(23, failing=("goes_on",), seconds=45),
            error=True,
        ),
    )
    a.step(
        "test_goes_on_after_an_error fails with calls == 0: the loop did not get to its first sweep within 0.2 s. Is that my "
        "change? The first wait comes after the first error, so calls should be 1 at least. Let me run it alone.",
        "",
        bash(
            "python -m pytest tests/sessions/test_cleanup.py -v -k goes_on",
            "Run that test alone",
            bulk.pytest_run(24, only="test_cleanup", seconds=5),
        ),
    )
    for seed in (31, 32, 33):
        a.step(
            "",
            "It passes alone. Once more, all of it." if seed == 31 else "",
            bash(
                f"python -m pytest -v -p randomly -p 'randomly_seed={seed}' 2>&1",
                "Run all tests in random order",
                bulk.pytest_run(seed, failing=("goes_on",) if seed == 32 else (), seconds=46),
                error=seed == 32,
            ),
        )
    a.step(
        "It depends on the order: a test before it leaves the metrics' timer open? No, the pool: goes_on patches "
        "delete_expired on the class; pytest-randomly runs it after two_sweeps with 1,200 rows, and the machine is slow. "
        "asyncio.sleep(0.2) is real time again. A fake clock would remove all of these.",
        "It fails only when the machine is slow: `asyncio.sleep(0.2)` is real time again. The tests need a clock of their own.",
        p.grep("asyncio.sleep|SystemClock|make_clock", around=2),
    )
    a.step(
        "",
        "",
        bash(
            "git log --stat -18 -- src/acme_api/sessions tests/sessions src/acme_api/clock.py",
            "History of the session code",
            history(),
        ),
    )
    a.step(
        "",
        "",
        bash(
            "ssh staging-1 'journalctl -u acme-api --since -5h -o cat | grep -v uvicorn | tail -170'",
            "Sweeps of the last hours",
            bulk.server_log(37, 90),
        ),
    )
    a.step(
        "",
        "",
        bash(
            "gh run view 9188120441 --job 26533 --log | tail -420", "This morning's job", bulk.ci_log(41, 140)
        ),
    )
