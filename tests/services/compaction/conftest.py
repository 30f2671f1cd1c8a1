"""What the tests of compactions share."""

from __future__ import annotations

import pytest

from contextlab.store import texts


@pytest.fixture(autouse=True)
def _no_texts_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments are kept in memory by their keys, which a rolled back test leaves to the next one."""
    monkeypatch.setattr(texts, "_cache", texts._Cache(texts.CACHE_BYTES))
