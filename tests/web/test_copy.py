"""A context that is copied can be sent: reasoning goes back with what its provider demands, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from contextlab.core.items import KIND_CODE, Kind
from contextlab.core.protocol import faults_of
from contextlab.store.models import ItemRecord, Session, StepRecord
from tests.importers.claude_log import Log, call, text
from tests.importers.codex_log import Rollout, message
from tests.services.doing import CORPUS, import_well, needs_corpus

pytestmark = [pytest.mark.django_db, pytest.mark.database]

SIGNED = "ErUB" + "a+/9" * 60
EMPTY = "EpwC" + "b+/8" * 50
DATA = "EmwK" + "c+/7" * 40


def copied(client: Client, session: Session, format: str, step: int | None = None) -> Any:
    """The answer of the copy of a step, the last one if none is named."""
    number = step or session.steps
    return client.get(f"/sessions/{session.uid}/steps/{number}/copy/{format}")


def claude(path: Path) -> Session:
    """A turn with three kinds of thinking, one record with two blocks of equal length among them."""
    log = Log()
    log.user("Fix the test")
    log.answer("m1", {"type": "thinking", "thinking": "I look first é.", "signature": SIGNED})
    log.answer("m1", call("c1"))
    log.result("c1")
    log.answer("m2", {"type": "thinking", "thinking": "", "signature": EMPTY}, call("c2"))
    log.result("c2")
    log.answer(
        "m3",
        {"type": "redacted_thinking", "data": DATA},
        {"type": "redacted_thinking", "data": DATA[::-1]},
        call("c3"),
    )
    log.result("c3")
    log.answer("m4", text("Done."))
    path.write_bytes(log.data)
    return import_well(path)


def test_thinking_goes_back_with_its_signature(client: Client, tmp_path: Path) -> None:
    """Signed thinking as it was, empty texts too, redacted blocks as such; each before the call that it led to."""
    answer = copied(client, claude(tmp_path / "s1.jsonl"), "anthropic")
    document = answer.json()
    blocks = [block for one in document["messages"] if one["role"] == "assistant" for block in one["content"]]
    assert [block for block in blocks if block["type"] != "tool_use"] == [
        {"type": "thinking", "thinking": "I look first é.", "signature": SIGNED},
        {"type": "thinking", "thinking": "", "signature": EMPTY},
        {"type": "redacted_thinking", "data": DATA},
        {"type": "redacted_thinking", "data": DATA[::-1]},
    ]
    assert [block["type"] for block in blocks][:2] == ["thinking", "tool_use"]
    assert (answer["X-Repairs"], faults_of(document, "anthropic")) == ("0", [])


def test_reasoning_goes_back_to_its_own_provider_only(client: Client, tmp_path: Path) -> None:
    """Another one would refuse it: it is left out, and that is said."""
    answer = copied(client, claude(tmp_path / "s1.jsonl"), "openai_responses")
    assert "reasoning" not in {item["type"] for item in answer.json()["input"]}
    assert answer["X-Repairs-Said"] == "left out 4 pieces of reasoning that this provider has not signed"


def rollout() -> Rollout:
    """A turn with encrypted reasoning, with an id and without."""
    log = Rollout()
    log.task("t1")
    log.say("user", "Fix the test")
    log.item("reasoning", id="rs_1", summary=[], encrypted_content="gAAAA-one")
    log.call("c1")
    log.count(900)
    log.think("gAAAA-two")
    log.call("c2")
    log.count(1000)
    log.say("assistant", "Done.")
    log.count(1100)
    return log


def test_encrypted_reasoning_goes_back_with_its_id(client: Client, tmp_path: Path) -> None:
    """Responses items whole, each directly before its call."""
    path = tmp_path / "rollout-1.jsonl"
    path.write_text(rollout().text(), encoding="utf-8")
    answer = copied(client, import_well(path), "openai_responses")
    document = answer.json()
    thoughts = [item for item in document["input"] if item["type"] == "reasoning"]
    assert thoughts == [
        {"type": "reasoning", "summary": [], "id": "rs_1", "encrypted_content": "gAAAA-one"},
        {"type": "reasoning", "summary": [], "encrypted_content": "gAAAA-two"},
    ]
    assert faults_of(document, "openai_responses") == []


def test_in_a_quoted_history_no_item_gets_the_secret_of_another(client: Client, tmp_path: Path) -> None:
    """Where a record quotes two of one length and one of them is new, the new one goes without."""
    sealed = {"type": "reasoning", "summary": [], "encrypted_content": "gAAAA-one"}
    other = {"type": "reasoning", "summary": [], "encrypted_content": "gAAAA-two"}
    words = message("assistant", "I go on.")
    log = Rollout()
    log.task("t1")
    log.say("user", "Fix the test")
    log.add("response_item", sealed)
    log.item("message", role="assistant", content=words["content"])
    log.count(900)
    log.compacted("so far", [message("user", "Fix the test"), sealed, words, other, words])
    log.call("c1")
    log.count(950)
    path = tmp_path / "rollout-1.jsonl"
    path.write_text(log.text(), encoding="utf-8")
    document = copied(client, import_well(path), "openai_responses").json()
    found = [one.get("encrypted_content") for one in document["input"] if one["type"] == "reasoning"]
    assert found == ["gAAAA-one"]


@needs_corpus
@pytest.mark.parametrize(
    ("log", "format", "key"),
    [
        ("claude-code/entireio-cli/ba-59c426c910-0.jsonl", "anthropic", "signature"),
        ("claude-code/entireio-cli/7d-66f047ac98-0.jsonl", "anthropic", "signature"),
    ],
)
def test_every_kept_reasoning_of_a_real_log_has_its_own_secret(
    client: Client, log: str, format: str, key: str
) -> None:
    """Its length is the one that the importer saw, and its bytes stand in the log."""
    path = CORPUS / log
    session = import_well(path)
    raw = path.read_text(encoding="utf-8")
    thoughts = ItemRecord.objects.filter(session=session, kind=KIND_CODE[Kind.REASONING], opaque_chars__gt=0)
    assert thoughts.exists()
    step = StepRecord.objects.filter(session=session, upto__gt=thoughts.last().position).first()
    document = copied(client, session, format, step.number if step else None).json()
    secrets = [
        block[key]
        for one in document["messages"]
        for block in one["content"]
        if block["type"] in ("thinking", "redacted_thinking")
    ]
    assert secrets
    assert all(json.dumps(one)[1:-1] in raw for one in secrets)
    assert len(set(secrets)) == len(secrets)
