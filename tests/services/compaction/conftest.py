"""What the tests of compactions share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextlab.services.compaction import models
from contextlab.store import texts
from contextlab.store.models import Session
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log
from tests.support.fake_openai import FakeOpenAI


@pytest.fixture(autouse=True)
def _no_texts_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments are kept in memory by their keys, which a rolled back test leaves to the next one."""
    monkeypatch.setattr(texts, "_cache", texts._Cache(texts.CACHE_BYTES))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log with enough in it to be compacted."""
    log = tmp_path / "s1.jsonl"
    log.write_bytes(busy_log().data)
    return log


@pytest.fixture
def session(path: Path) -> Session:
    return import_well(path)


@pytest.fixture
def at(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[FakeOpenAI], FakeOpenAI]:
    """Points the settings at a fake endpoint."""
    monkeypatch.setattr(models, "TIMEOUT", 1.0)

    def point(server: FakeOpenAI) -> FakeOpenAI:
        settings.MODEL_BASE_URL, settings.MODEL_NAME, settings.MODEL_KEY = (
            server.url,
            "gpt-4o",
            "sk-canary-1234",
        )
        return server

    return point
