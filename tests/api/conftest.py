"""A client that reads JSON, and a small session with every kind of verdict."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from contextlab.core.items import Reason, Verdict
from contextlab.core.spans import Span
from contextlab.store import texts
from tests.web.made import Log, Made


class Api:
    """Asks the API and checks that what comes back is JSON in one of its two shapes."""

    def __init__(self) -> None:
        self.client = Client(raise_request_exception=False)

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        return self.read(self.client.get("/api/" + path, query), status)

    def post(self, path: str, body: Any = None, status: int = 200, **more: Any) -> Any:
        return self.read(self.client.post("/api/" + path, body, **more), status)

    def error(self, path: str, status: int, **query: Any) -> dict[str, Any]:
        return self.get(path, status, **query)["error"]

    @staticmethod
    def read(response: Any, status: int) -> Any:
        assert response.status_code == status, response.content[:400]
        assert response["Content-Type"].startswith("application/json")
        found = response.json()
        if status >= 400:
            assert set(found) == {"error"}
            assert set(found["error"]) <= {"code", "message", "place"}
            assert found["error"]["message"]
        return found


@pytest.fixture(autouse=True)
def _no_texts_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments are kept in memory by their keys, which a rolled back test leaves to the next one."""
    monkeypatch.setattr(texts, "_cache", texts._Cache(texts.CACHE_BYTES))


@pytest.fixture
def api(db: None) -> Api:
    return Api()


@pytest.fixture
def made(db: None) -> Made:
    """Two turns, four steps, a compaction before the last: items 0 to 8, of which 3 is cleared and 0-5 summarised."""
    log = Log()
    log.ask("why does it fail?").step(input=900, output=20).think("let me see").call("bash", "pytest -q")
    log.result("1 failed").step(input=10, cache_read=1500, output=30).call("read", "a.py").result(
        "def a(): ..."
    )
    log.step(input=2400, output=9).say("fixed")
    log.compaction("they fixed it", pre_tokens=2500, trigger="auto")
    log.ask("thanks").step(input=700, output=3).say("you are welcome")
    made = log.save()
    made.view(
        [
            Span(3, 3, Verdict.CLEARED, Reason.MICRO_COMPACTED, 3, 4),
            Span(1, 1, Verdict.REASONING_CLEARED, Reason.PROVIDER_STRIPS, 2, 4),
            Span(0, 6, Verdict.SUMMARISED, Reason.COMPACTED, 4),
        ]
    )
    return made


@pytest.fixture
def base(made: Made) -> str:
    """Where the session's addresses begin."""
    return f"sessions/{made.session.uid}/"
