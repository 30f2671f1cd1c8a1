"""Counts over all real Claude Code logs, against counts made by another parser."""

from __future__ import annotations

import csv
from collections import Counter

import pytest

from contextlab.core.events import Compaction
from contextlab.core.items import Kind
from tests.importers.claude_log import CORPUS, ItemEvent, needs_corpus, read_path

NAMES = ("tool_calls", "results", "results_without_call", "calls_without_result", "compactions")


def rows() -> list[dict[str, str]]:
    """The counts of the corpus for this format."""
    path = CORPUS / "counts.csv"
    if not path.is_file():
        return []
    with path.open() as stream:
        return [row for row in csv.DictReader(stream) if row["file"].startswith("claude-code/")]


@needs_corpus
@pytest.mark.parametrize("folder", sorted({row["file"].split("/")[1] for row in rows()}))
def test_counts_agree(folder: str) -> None:
    """Calls, results, broken pairs and compactions are what the other parser counted; nothing is skipped."""
    for row in rows():
        if row["file"].split("/")[1] != folder:
            continue
        got = read_path(CORPUS / row["file"])
        kinds = Counter(event.kind for _, event in got.events if isinstance(event, ItemEvent))
        counted = (
            kinds[Kind.TOOL_CALL],
            kinds[Kind.TOOL_RESULT],
            sum(session.results_without_call for session in got.sessions.values()),
            sum(session.calls_without_result for session in got.sessions.values()),
            len(got.of(Compaction)),
        )
        if folder == "daaain-claude-code-log" and row["tool_calls"] == "":
            continue
        assert counted == tuple(int(row[name]) for name in NAMES), row["file"]
        assert got.report.skipped_total == 0, row["file"]
        assert sum(session.duplicates for session in got.sessions.values()) == 0


@needs_corpus
def test_hand_made_edge_cases_are_read_as_far_as_they_can_be() -> None:
    """The one hand-made file of the corpus: what is no record is skipped with its line."""
    got = read_path(CORPUS / "claude-code" / "daaain-claude-code-log" / "edge_cases.jsonl")
    assert [line for line, _ in got.report.skipped] == [10, 11, 13, 15, 16, 18]
    assert got.report.unknown_types == {"(no type)": 1}
