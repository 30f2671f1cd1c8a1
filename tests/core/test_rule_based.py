"""Summaries by rules from the log alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextlab.core.compaction import Deps, Outcome, Snapshot
from contextlab.core.events import FileReport, ItemEvent
from contextlab.core.items import Item, Kind
from contextlab.core.policies.rule_based import HEADLINE, LEAST_CHARS, RuleBased
from contextlab.core.testing import CountingIds
from contextlab.importers import read_file
from contextlab.importers.base import Source

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
LOGS = [
    "claude-code/packmind-context-evaluator/ee-7e610ffc3f-0.jsonl",
    "claude-code/entireio-cli/37-995ebed6e4-2.jsonl",
    "codex/entityprocess-agentv/1f-4427577930-0.jsonl",
    "openai-chat/tau-bench/airline.json",
]


def item(name: str, kind: Kind, text: str, **more: object) -> Item:
    """An item of a made memory."""
    return Item(name, kind, text, **more)  # type: ignore[arg-type]


WORK = (
    item(
        "u1",
        Kind.USER,
        "Fix the login test. Never edit files under migrations/. Staging listens on port 8443.",
    ),
    item("c1", Kind.TOOL_CALL, '{"file_path": "/app/src/login.py"}', tool="Read", call_id="1"),
    item("r1", Kind.TOOL_RESULT, "def login(): ..." * 40, call_id="1"),
    item("c2", Kind.TOOL_CALL, '{"command": "pytest -q tests/login"}', tool="Bash", call_id="2"),
    item(
        "r2", Kind.TOOL_RESULT, "Exit code 1\n==== 2 failed, 7 passed in 1.20s ====", call_id="2", error=True
    ),
    item(
        "c3",
        Kind.TOOL_CALL,
        '{"file_path": "/app/src/login.py", "old_string": "a", "new_string": "b"}',
        tool="Edit",
        call_id="3",
    ),
    item("r3", Kind.TOOL_RESULT, "The file /app/src/login.py has been updated." * 10, call_id="3"),
    item("a1", Kind.ASSISTANT, "I changed the login. Shall I run the whole suite?"),
    item("u2", Kind.USER, "Yes, go ahead"),
    item("a2", Kind.ASSISTANT, "All green."),
    item("u3", Kind.USER, "Now the changelog"),
)


def compacted(items: tuple[Item, ...], keep_recent: int = 1, **snapshot: object) -> Outcome:
    """What the policy makes of the items."""
    memory = Snapshot(items, **snapshot)  # type: ignore[arg-type]
    return RuleBased(keep_recent=keep_recent).compact(memory, Deps(new_id=CountingIds()))


def test_the_text_says_that_no_model_wrote_it() -> None:
    """A reader never takes a summary by rules for a model's."""
    outcome = compacted(WORK)
    assert outcome.result is not None
    assert outcome.result.summary.startswith(HEADLINE)
    assert outcome.result.method == "rules"


def test_rules_of_the_user_stand_word_for_word() -> None:
    """What must never be done is in the summary as the user said it."""
    result = compacted(WORK).result
    assert result is not None
    assert "Never edit files under migrations/" in result.summary
    assert any("migrations/" in line.text and line.items == ("u1",) for line in result.sections.decisions)


def test_sections_are_filled_from_what_the_tools_show() -> None:
    """A failed command, a test's closing line, a changed file and an approval are told with their items."""
    result = compacted(WORK).result
    assert result is not None
    sections = result.sections
    assert any(
        "pytest -q tests/login" in line.text and "c2" in line.items for line in sections.failed_commands
    )
    assert any("2 failed" in line.text and "r2" in line.items for line in sections.test_results)
    assert any("/app/src/login.py" in line.text for line in sections.changed_artifacts)
    assert any("u2" in line.items for line in sections.user_confirmations)
    assert result.modified_files == ["/app/src/login.py"]


def test_an_earlier_summary_by_a_model_costs_no_line_of_this_one() -> None:
    """A long earlier summary goes on as it is, and the lines of what happened since stand beside it."""
    result = compacted(WORK, summary="What a model said before. " * 2_000).result
    assert result is not None
    assert "What a model said before." in result.summary
    assert "pytest -q tests/login" in result.summary


def test_the_same_memory_gives_the_same_summary() -> None:
    """Two people who compact the same memory read the same text."""
    first, second = compacted(WORK).result, compacted(WORK).result
    assert first is not None
    assert second is not None
    assert first.summary == second.summary


def test_nothing_old_enough_is_nothing_done() -> None:
    """A memory of recent items is left alone, and the reason is told."""
    outcome = compacted(WORK, keep_recent=50)
    assert outcome.result is None
    assert outcome.reason


@pytest.mark.parametrize("log", LOGS)
def test_real_sessions_are_summarised_shorter_with_true_references(log: str) -> None:
    """On real logs a summary is shorter than what it stands for, and every line points to items that exist."""
    path = CORPUS / log
    if not path.exists():
        pytest.skip(f"the corpus is not beside the project: {path}")
    events = read_file(Source(path.name, path), FileReport())
    first = None
    items = []
    for key, event in events:
        first = first or key
        if key == first and isinstance(event, ItemEvent) and event.kind not in (Kind.UI, Kind.SUMMARY):
            items.append(
                Item(
                    event.id,
                    event.kind,
                    event.text,
                    event.entry,
                    event.tool,
                    event.call_id,
                    injected=event.injected,
                    error=event.error,
                )
            )
    result = compacted(tuple(items), keep_recent=5).result
    assert result is not None
    known = {one.id for one in items}
    sections = result.sections
    lines = [line for name in sections.__slots__ if name != "goal" for line in getattr(sections, name)]
    assert all(known.issuperset(line.items) for line in lines)
    assert len(result.summary) <= max(LEAST_CHARS, sum(one.chars for one in items))
