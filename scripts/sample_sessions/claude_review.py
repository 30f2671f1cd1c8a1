"""The last turn: a colleague has reviewed the pull request."""

# ruff: noqa: E501  (what was said stands on one line)

from __future__ import annotations

from scripts.sample_sessions import bulk
from scripts.sample_sessions.agent import Agent
from scripts.sample_sessions.project import bash, todo
from scripts.sample_sessions.texts import text


def review_turn(a: Agent) -> None:
    """One comment after the other."""
    p = a.project
    a.prompt("Ines has reviewed the pull request, go through her comments.")
    a.step("", "", bash("gh pr view 412 --comments", "Read the review", text("comments")))
    a.step(
        "Six comments: a name, a comment, a question on the API, the clock, disconnects, and one that needs nothing.",
        "Five things to do; I start with the names.",
        todo(
            ("in_progress", "pause -> wait"),
            ("pending", "Say why SKIP LOCKED"),
            ("pending", "Answer: resume() and the public API"),
            ("pending", "A test for SystemClock"),
            ("pending", "Client disconnects during an export"),
        ),
    )
    a.step(
        "",
        "",
        p.edit(
            "src/acme_api/sessions/retry.py",
            "    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,\n",
            "    wait: Callable[[float], Awaitable[object]] = asyncio.sleep,\n",
        ),
        p.edit(
            "src/acme_api/sessions/retry.py",
            "await pause(backoff.wait(attempt))",
            "await wait(backoff.wait(attempt))",
        ),
        p.edit("src/acme_api/sessions/cleanup.py", "pause=self._wait", "wait=self._wait"),
    )
    a.step(
        "",
        "",
        p.edit(
            "src/acme_api/sessions/store.py",
            'DELETE_EXPIRED = """\n',
            "# SKIP LOCKED: a row that touch() or another sweep holds is not waited for, it is somebody else's.\n"
            'DELETE_EXPIRED = """\n',
        ),
    )
    a.step("", "", p.grep("SystemClock", "tests/"), p.glob("tests/", "tests/**/*.py"))
    a.step(
        "Nothing tests SystemClock now. One small test: it has a zone and does not go backwards.",
        "",
        p.write(
            "tests/test_clock.py",
            '"""The machine\'s clock."""\n\nfrom acme_api.clock import SystemClock\n\n\n'
            'def test_has_a_zone_and_goes_forward() -> None:\n    """Times carry their zone and never go back."""\n'
            "    clock = SystemClock()\n    first, second = clock.now(), clock.now()\n"
            "    assert first.tzinfo is not None\n    assert second >= first\n",
        ),
    )
    a.step(
        "Starlette runs response.background only after the body was sent without an exception. On disconnect the send raises or the "
        "task is cancelled, depending on the server: the session stays open then. Test it.",
        "Disconnects: Starlette runs a background task only when the body went out whole. I write the test before I believe anything.",
        p.edit(
            "tests/test_middleware.py",
            "    assert not await is_open(store, session.id)\n",
            "    assert not await is_open(store, session.id)\n" + text("disconnect"),
        ),
    )
    a.step(
        "",
        "",
        bash(
            "python -m pytest tests/test_middleware.py -q",
            "Run the middleware tests",
            "E   AssertionError: assert not True\n1 failed, 17 passed in 3.0s",
            error=True,
        ),
    )
    a.step(
        "Ines is right. Close in a finally around the body iterator instead of a background task.",
        "She is right, the session stays open. The close belongs into a `finally` around the body.",
        p.read("src/acme_api/middleware.py", 30, 30),
    )
    a.step(
        "",
        "",
        p.edit(
            "src/acme_api/middleware.py",
            "            response.background = BackgroundTask(self.store.close, session_id)\n",
            "            # In a finally, not in a background task: that is skipped when the client goes away.\n"
            "            response.body_iterator = closing(response.body_iterator, self.store, session_id)\n",
        ),
        p.edit(
            "src/acme_api/middleware.py",
            "def unauthorised(reason: str)",
            "async def closing(body: AsyncIterator[bytes], store: SessionStore, session_id: str) -> AsyncIterator[bytes]:\n"
            '    """The body, and the session closed at its end, whatever the end is."""\n    try:\n        async for chunk in body:\n'
            "            yield chunk\n    finally:\n        with anyio.CancelScope(shield=True):\n"
            "            await store.close(session_id)\n\n\ndef unauthorised(reason: str)",
        ),
    )
    a.step(
        "",
        "",
        p.edit("src/acme_api/middleware.py", "from starlette.background import BackgroundTask\n", ""),
        p.edit(
            "src/acme_api/middleware.py",
            "from collections.abc import Awaitable, Callable\n\n",
            "from collections.abc import AsyncIterator, Awaitable, Callable\n\nimport anyio\n",
        ),
    )
    a.step(
        "",
        "",
        bash(
            "python -m pytest tests/test_middleware.py tests/test_clock.py -q",
            "Run the tests of both",
            "...................                 [100%]\n19 passed in 2.9s",
        ),
    )
    a.step(
        "",
        "",
        bash("python -m pytest -v 2>&1", "Run all tests", bulk.pytest_run(91, seconds=36)),
        bash(
            "ruff check src tests && mypy src tests",
            "Lint and type check",
            "Success: no issues found in 65 source files",
        ),
    )
    a.step(
        "",
        "",
        bash(
            "git add -A && git commit -q -m 'Review: close in a finally, name the wait, say why SKIP LOCKED' && git push -q && "
            "git diff --stat origin/main -- migrations/",
            "Push, and see what changed under migrations/",
            " migrations/0012_sessions_expires_index.sql | 2 ++\n 1 file changed, 2 insertions(+)",
        ),
    )
    a.step(
        "",
        "All six are answered. The one that mattered: when a client left in the middle of an export, the one-shot session stayed "
        "open; it is closed in a `finally` now, with a test. `resume()` is an addition beside the class: the five methods and their "
        "signatures are untouched, which is what acme-admin and acme-batch rely on. Under migrations/ there is one new file and no "
        "change of an old one.",
    )
