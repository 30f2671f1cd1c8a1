"""What real Claude Code logs do that no format description promises (docs/formats/claude-code.md lists them)."""

from __future__ import annotations

from typing import Any

from contextlab.core.events import Cleared, Compaction, TurnEnd
from contextlab.core.items import Kind, Media
from contextlab.importers import claude_code
from tests.importers.claude_log import (
    CORPUS,
    LOGS,
    Log,
    Note,
    Read,
    StepEvent,
    TurnStart,
    needs_corpus,
    read_path,
)


def log(name: str, **source: Any) -> Read:
    """One of the logs of this folder."""
    return read_path(next(LOGS.glob(f"{name}-*.jsonl")), **source)


def order(got: Read) -> list[str]:
    """Steps and items in the order in which they are given out."""
    return [
        f"step {event.id}" if isinstance(event, StepEvent) else event.id
        for _, event in got.events
        if isinstance(event, StepEvent) or hasattr(event, "kind")
    ]


def test_two_records_on_one_line_are_both_read() -> None:
    """A lost newline costs nothing: both records are read, each with its own offset."""
    got = log("01")
    path = next(LOGS.glob("01-*"))
    assert [item.text for item in got.items()][1] == "I look at the loader first."
    assert got.main.meta.title == "Renaming the config loader"
    assert (got.report.lines, got.report.records, got.report.skipped) == (4, 5, [])
    places = [item.place for item in got.items() if item.place]
    assert all(path.read_bytes()[place.offset :][: place.length].endswith(b"}") for place in places)


def test_one_answer_on_three_lines_is_one_step_with_its_last_usage() -> None:
    """Output figures 1, 1, 2873 on the three lines of an answer mean 2873, once; the input counts once."""
    got = log("02")
    (step,) = got.main.timeline.steps
    assert (step.input, step.cache_read, step.cache_write, step.output) == (3, 5000, 100, 2873)
    assert not step.usage_partial
    assert [item.kind for item in got.items()] == [
        "user",
        "reasoning",
        "assistant",
        "tool_call",
        "tool_result",
    ]
    assert len({item.entry for item in got.items() if item.step}) == 1
    assert got.report.merged == 2


def test_chunks_around_a_result_stand_together() -> None:
    """A result between two chunks of one answer stands behind both, for it came after them in the conversation."""
    assert order(log("03")) == ["u1", "step m1", "u2", "u4", "u3", "u5", "step m2", "u6"]


def test_output_that_was_never_written_is_marked_partial() -> None:
    """A log that ends before the stop reason reports 8 tokens for a long text: the figure is marked, not believed."""
    (step,) = log("04").main.timeline.steps
    assert step.output == 8
    assert step.usage_partial


def test_logical_parent_that_is_missing_is_no_fault() -> None:
    """A compaction whose logical parent is in no file is a compaction like any other."""
    got = log("05")
    (row,) = got.main.compactions
    assert (row.event.pre_tokens, row.event.trigger, row.event.summary) == (155000, "auto", "u4")
    assert got.contexts()["m2"] == ["u4"]


def test_file_that_starts_in_the_middle_is_kept() -> None:
    """A first record whose call and parent are in another file is read, and both gaps are told."""
    got = log("06")
    assert got.main.results_without_call == 1
    assert [note.code for note in got.of(Note)] == ["missing_parent", "orphan_result"]
    assert len(got.report.warnings) == 2
    assert got.contexts()["m1"] == ["u1"]


def test_call_without_result_does_not_stop_the_session() -> None:
    """An interrupted call stays without a result; the turn is told as aborted and the next one begins."""
    got = log("07")
    assert got.main.calls_without_result == 1
    assert [end.status for end in got.of(TurnEnd)] == ["aborted"]
    assert [turn.id for turn in got.of(TurnStart)] == ["u1", "u4"]
    assert [item.injected for item in got.items()] == [None, None, "synthetic", None, None]


def test_parallel_branches_all_belong_to_the_context() -> None:
    """Results of parallel calls hang on different chunks: the next step had them all, in file order."""
    assert log("08").contexts()["m2"] == ["u1", "u2", "u3", "u4", "u5", "u6", "u8"]


def test_lines_decide_where_clocks_disagree() -> None:
    """A timestamp that goes back changes no order; a note says by how much."""
    got = log("09")
    assert order(got) == ["u1", "step m1", "u2", "u3", "step m2", "u4"]
    (note,) = got.notes("clock")
    assert note.value == 46


def test_lines_that_are_no_objects_cost_themselves_only() -> None:
    """Numbers, lists and strings are skipped with their places, a repeated uuid counts once, the rest is read."""
    got = log("10")
    assert [item.text for item in got.items()] == ["Hello", "Hello.", "Go on"]
    assert [line for line, _ in got.report.skipped] == [2, 3, 4, 8, 9]
    assert got.report.duplicates == 1
    assert got.report.unknown_types == {"(no type)": 1}


def test_file_without_any_message_is_an_empty_session() -> None:
    """Snapshots and a title of another session are a session without steps, not an error."""
    got = log("11")
    assert len(got.keys) == 1
    assert got.main.meta.title is None
    assert (len(got.items()), got.report.skipped) == (0, [])
    assert got.report.ignored_types == {"file-history-snapshot": 4, "summary": 1}


def test_format_is_told_by_content() -> None:
    """Every log here is recognised from its bytes; its name plays no part."""
    for path in LOGS.glob("*.jsonl"):
        assert claude_code.sniff(path.read_bytes()[:262144]) >= 80, path.name
    for other in (
        b'{"type":"session_meta","payload":{}}',
        b'[{"role":"user","content":"x"}]',
        b"",
        b"hello",
        b"\x00" * 99,
    ):
        assert claude_code.sniff(other) == 0


def test_replies_made_by_the_client_are_no_steps() -> None:
    """Synthetic answers and API errors are shown to the person only: no step, no usage, never in a context."""
    got = log("13")
    assert [step.id for step in got.of(StepEvent)] == ["m1", "m2"]
    shown = [(item.label, item.text) for item in got.items() if item.kind == Kind.UI]
    assert shown[0] == ("api_error", "529 Overloaded")
    assert shown[1:] == [
        ("api_error", "API Error: Request timed out."),
        ("synthetic", "No response requested."),
    ]
    assert got.contexts()["m2"] == ["u1", "u4", "u5", "u7"]


def test_results_of_every_shape_are_read() -> None:
    """A result may be an error text, empty, or a picture; toolUseResult may be a text or an object."""
    first, second, third = [item for item in log("14").items() if item.kind == Kind.TOOL_RESULT]
    assert (first.text, first.error, second.text, second.error) == ("Exit code 1", True, "", None)
    assert third.text == "a screenshot"
    assert third.media == (Media("image", "image/png", 160),)


def corpus(name: str) -> Read:
    """A real log."""
    return read_path(CORPUS / "claude-code" / f"{name}.jsonl")


@needs_corpus
def test_real_duplicate_call_chunks_between_results() -> None:
    """entireio-cli/b0 has an answer of three lines with outputs 1, 1 and 2873: one step, 2873 tokens."""
    got = corpus("entireio-cli/b0-2936744f3b-0")
    outputs = [step.output for step in got.main.timeline.steps]
    assert 2873 in outputs
    assert got.report.merged > 200


@needs_corpus
def test_real_two_records_on_a_line() -> None:
    """entireio-cli/7d:172 and 5a:115 hold two records each: nothing of them is skipped."""
    for name, line in (("7d-66f047ac98-0", 172), ("5a-c45bc32212-0", 115)):
        got = corpus(f"entireio-cli/{name}")
        assert got.report.skipped == []
        assert got.report.records > got.report.lines
        assert any(item.place and item.place.line == line for item in got.items())


@needs_corpus
def test_real_partial_usage_of_summarisers() -> None:
    """In every agent-acompact file of the corpus the last output figure was never written."""
    paths = list((CORPUS / "claude-code").rglob("agent-acompact-*.jsonl"))
    assert len(paths) == 3
    for path in paths:
        got = read_path(path)
        assert got.main.timeline.steps[-1].usage_partial
        assert got.main.meta.role == "compaction"


@needs_corpus
def test_real_boundary_with_its_figures() -> None:
    """packmind c8:331 is a compaction; what stood before it is in no later context."""
    got = corpus("packmind-context-evaluator/c8-946606a339-0")
    (row,) = got.main.compactions
    assert row.event.place is not None
    assert row.event.place.line == 331
    assert row.event.pre_tokens
    first = got.contexts()[got.main.timeline.steps[row.at_step - 1].id]
    assert first[0] == row.event.summary


@needs_corpus
def test_real_file_that_starts_in_the_middle() -> None:
    """entireio-cli/89 begins with a record whose parent is in another file."""
    got = corpus("entireio-cli/89-e8867f9092-0")
    assert [note.place.line for note in got.notes("missing_parent") if note.place] == [1]


@needs_corpus
def test_real_call_without_result() -> None:
    """entireio-cli/76 has one call that was never answered."""
    assert corpus("entireio-cli/76-74489fb0a9-0").main.calls_without_result == 1


@needs_corpus
def test_real_clock_and_client_replies() -> None:
    """entireio-cli/54:486 was made by the client, and 76 has a clock that goes back."""
    shown = [
        item for item in corpus("entireio-cli/54-bb2ec87cc8-2").items() if item.kind == Kind.UI and item.place
    ]
    assert 486 in [item.place.line for item in shown if item.place]
    assert len(corpus("entireio-cli/76-74489fb0a9-0").notes("clock")) == 1


@needs_corpus
def test_real_text_result_of_an_error() -> None:
    """entireio-cli/37:67 has a toolUseResult that is a text: the result is read, and marked as failed."""
    (item,) = [
        item
        for item in corpus("entireio-cli/37-995ebed6e4-2").items()
        if item.place and item.place.line == 67
    ]
    assert item.error is True


@needs_corpus
def test_real_micro_compactions_clear_results_of_their_epoch() -> None:
    """Micro-compactions clear the results they name; one names results of an earlier file and clears nothing."""
    found = []
    for path in sorted((CORPUS / "claude-code").rglob("*.jsonl")):
        got = read_path(path)
        results = {item.id for item in got.items() if item.kind == Kind.TOOL_RESULT}
        micro = [mark for mark in got.of(Cleared) if mark.reason == "micro_compacted"]
        assert all(set(mark.items) <= results and mark.tokens_saved for mark in micro)
        found += micro
    assert sorted(len(mark.items) for mark in found) == [0, 5, 9, 18]


@needs_corpus
def test_real_compactions_are_followed_by_their_summary() -> None:
    """All ten boundaries of the corpus have figures and a summary, which follows directly."""
    count = 0
    for path in sorted((CORPUS / "claude-code").rglob("*.jsonl")):
        events = [event for _, event in read_path(path).events]
        for at, event in enumerate(events):
            if isinstance(event, Compaction):
                count += 1
                following = events[at + 1]
                assert getattr(following, "id", None) == event.summary
                assert getattr(following, "kind", None) == Kind.SUMMARY
                assert event.pre_tokens
    assert count == 10


def test_crashed_append_costs_its_line_only() -> None:
    """A line of NUL bytes between two records is skipped with its number; both records are read."""
    built = Log()
    built.user("one", parent=None)
    built.raw("\x00" * 512)
    built.answer("m1", {"type": "text", "text": "two"})
    got = built.read()
    assert [item.text for item in got.items()] == ["one", "two"]
    assert [line for line, _ in got.report.skipped] == [2]
    assert [note.text for note in got.notes("skipped")] == ["line 2: NUL bytes (an interrupted write)"]
