"""Sizes of memories: the same figures wherever a compaction stands, each with where it is from."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from contextlab.store.models import CompactionRecord, MemoryVersion
from tests.services.compaction.doing import asked, done
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log
from tests.web.made import Log
from tests.web.pages import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.mark.parametrize(
    ("logged", "input_tokens", "exact", "short", "source"),
    [
        ((167_500, 29_400), (90_000, 31_000), "167,500 → 29,400", "167.5k → 29.4k", "logged"),
        ((167_500, None), (90_000, 31_000), "167,500 → 31,000", "167.5k → 31k", "logged → reported"),
        ((None, None), (90_000, 31_000), "90,000 → 31,000", "90k → 31k", "reported"),
        ((167_500, None), (None, None), "167,500 → unknown", "167.5k → unknown", "logged"),
        ((None, None), (None, None), "1 → 4", "1 → 4", "estimated"),
    ],
)
def test_a_compaction_of_a_log_has_one_size_everywhere(
    client: Client,
    logged: tuple[int | None, int | None],
    input_tokens: tuple[int | None, int | None],
    exact: str,
    short: str,
    source: str,
) -> None:
    """Its page, the comparison, the lineage and the list of all say the same tokens with the same source."""
    usage = [{} if one is None else {"input": one} for one in input_tokens]
    made = Log().ask("a").step(**usage[0]).say("b").compaction("s").ask("c").step(**usage[1]).say("d")
    saved = made.compaction("s").save()
    saved.view([])
    CompactionRecord.objects.filter(session=saved.session, number=1).update(
        pre_tokens=logged[0], post_tokens=logged[1]
    )
    at = saved.url("/compactions")
    assert f"{short} {source}" in read(client.get(f"{at}/1")).text
    assert f"{exact} {source}" in read(client.get(f"{at}/compare?left=log-1&right=log-2")).text
    assert f"{short} {source}" in read(client.get(at)).text
    assert f"{short} {source}" in read(client.get("/compactions")).text


def test_every_version_of_a_memory_says_where_its_size_is_from(client: Client, tmp_path: Any) -> None:
    """The memory before, the compacted one and one restored: in the lineage as on the version's own page."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    session = import_well(path)
    done(asked(session, before_step=12, policy="rule-based", keep_recent=4))
    at = f"/sessions/{session.uid}"
    client.post(f"{at}/branches/branch-1/restore", {"version": "1"})
    lineage = read(client.get(f"{at}/compactions")).text
    for version in MemoryVersion.objects.all():
        size = f"{version.tokens:,} {version.token_source}"
        assert version.token_source in ("counted", "estimated")
        assert size in lineage
        assert size in read(client.get(f"{at}/memory?branch=branch-1&version={version.version}")).text
    MemoryVersion.objects.update(token_source="estimated")
    assert f"{version.tokens:,} estimated" in read(client.get(f"{at}/compactions")).text


def test_a_preview_says_where_each_of_its_tokens_is_from(
    client: Client, settings: Any, tmp_path: Any
) -> None:
    """By rules all are counted alike; what a model would write is a guess, and so is what that saves."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    at = f"/sessions/{import_well(path).uid}/compact/preview"
    settings.MODEL_BASE_URL, settings.MODEL_NAME, settings.MODEL_KEY = (
        "http://127.0.0.1:9/v1",
        "small",
        "sk-x",
    )
    told = read(client.post(at, {"policy": "rule-based", "before_step": "12", "keep_recent": "4"})).text
    asks = read(client.post(at, {"policy": "llm-summary", "before_step": "12", "keep_recent": "4"})).text
    for figure in ("tokens before", "tokens after", "tokens saved at each later step"):
        assert re.search(rf"{figure} (counted|estimated) \d", told)
    assert re.search(r"saved at each later step estimated \d", asks)
    assert "tokens after a guess" in asks
