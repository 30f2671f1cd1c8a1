"""What several pages are looked at with."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextlab.store.models import Session
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A session of 24 steps whose log records a compaction."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    return import_well(path)
