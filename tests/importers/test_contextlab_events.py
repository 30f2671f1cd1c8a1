"""contextlab-events: what is written is read again, and what a home-made agent leaves out is filled in."""

from __future__ import annotations

import dataclasses

import pytest

from contextlab.core import events as ev
from contextlab.core.items import Injected, Kind, Media, Reason, Verdict
from contextlab.importers.contextlab_events import write_events, write_sessions
from tests.importers.codex_log import Rollout
from tests.importers.reading import CHECKOUT, CORPUS, comparable, lines, needs_corpus, read

HEAD = {"format": "contextlab-events", "version": 1, "session": {"id": "s1"}}

EVERY_FIELD = [
    ev.SessionStart(
        "s1",
        "T",
        "record",
        "explorer",
        "m",
        "/home/ada/shop",
        "main",
        "1.0",
        "2026-01-01",
        "p",
        "k",
        "f",
        "subagent",
    ),
    ev.TurnStart("t1", "2026-01-01T10:00:00Z", "command"),
    ev.ItemEvent("u1", Kind.USER, "hi", "u1", opens_turn=True, ts="2026-01-01T10:00:00Z"),
    ev.ItemEvent("u2", Kind.USER, "", "u1", media=(Media("image", "image/png", 12), Media("file"))),
    ev.StepEvent("s-1", "gpt-5", "2026-01-01T10:00:01Z", limit=1000, exact=True),
    ev.ItemEvent("r1", Kind.REASONING, "hm", "a1", step="s-1", opaque_chars=99),
    ev.ItemEvent("a1", Kind.ASSISTANT, "of no step", "a1", label="x"),
    ev.ItemEvent(
        "c1", Kind.TOOL_CALL, "{}", "a1", step="s-1", tool="search", call_id="k", needs_result=False
    ),
    ev.ItemEvent("d1", Kind.TOOL_RESULT, "no", "d1", call_id="k", error=False, original="results/1.txt"),
    ev.ItemEvent("i1", Kind.USER, "note", "i1", injected=Injected.META, label="hook"),
    ev.Usage("s-1", 1, 2, 3, 4, 5, partial=True),
    ev.TurnEnd("t1", "2026-01-01T10:00:09Z", "aborted"),
    ev.Compaction(
        "k1",
        "2026-01-01",
        origin="detected",
        tokens_saved=6,
        trigger="auto",
        pre_tokens=9,
        post_tokens=3,
        opaque=True,
        summary="m1",
        keeps=("u1", "u2"),
    ),
    ev.ItemEvent("m1", Kind.SUMMARY, "so far", "m1"),
    ev.Cleared(
        "z1", ("d1",), Verdict.CLEARED, Reason.MICRO_COMPACTED, "2026-01-01", trigger="auto", tokens_saved=-5
    ),
    ev.Cleared("z2", (), Verdict.DROPPED, Reason.CONTEXT_CLEARED, all_before=True),
    ev.Link("child", "k", "explorer"),
    ev.Note("clock", "goes back", ts="2026-01-01", value=-3),
    ev.SessionStart("s1", title="Another title"),
]


def test_every_event_type_comes_back_as_it_was():
    """All fields of all types, defaults and values that reading would otherwise fill in."""
    meta, *rest = EVERY_FIELD
    made = read("\n".join(write_events(meta, rest)))
    assert [event for _, event in comparable(made.events)] == EVERY_FIELD
    assert not made.report.warnings
    assert not made.report.skipped


def test_the_samples_cover_every_type_and_field():
    """A field that is added to events.py must be added to the samples above."""
    for kind in ev.Event.__args__:
        samples = [one for one in EVERY_FIELD if isinstance(one, kind)]
        for field in dataclasses.fields(kind):
            if field.name != "place":
                told = f"{kind.__name__}.{field.name}"
                assert any(getattr(one, field.name) != field.default for one in samples), told


def test_several_sessions_stay_apart():
    """Parallel subagents write in turns: each hangs below its call, the main context has none of their items."""
    made = read(
        lines(
            HEAD,
            {"type": "item", "id": "1", "kind": "tool_call", "tool": "Task", "call_id": "TA", "entry": "1"},
            {"type": "item", "id": "1b", "kind": "tool_call", "tool": "Task", "call_id": "TB", "entry": "1"},
            {"type": "session", "id": "A", "parent": "s1", "parent_call_id": "TA", "role": "subagent"},
            {"type": "session", "id": "B", "parent": "s1", "parent_call_id": "TB", "role": "subagent"},
            {"type": "item", "id": "2", "kind": "assistant", "text": "a1", "session": "A"},
            {"type": "item", "id": "3", "kind": "assistant", "text": "b1", "session": "B"},
            {"type": "item", "id": "4", "kind": "assistant", "text": "a2", "session": "A"},
            {"type": "item", "id": "5", "kind": "tool_result", "call_id": "TA", "text": "done"},
            {"type": "item", "id": "6", "kind": "tool_result", "call_id": "TB", "text": "done"},
        )
    )
    ids = {key: [event.id for name, event in made.events if name == key and isinstance(event, ev.ItemEvent)]
           for key in made.sessions}  # fmt: skip
    assert ids == {"s1": ["1", "1b", "5", "6"], "A": ["2", "4"], "B": ["3"]}
    assert made.sessions["A"].meta.parent_call_id == "TA"


def test_a_plain_loop_needs_no_bookkeeping():
    """Ids, entries, turns and the step of an answer are worked out."""
    made = read(
        lines(
            HEAD,
            {"type": "item", "kind": "system", "text": "Be brief."},
            {"type": "item", "kind": "user", "text": "hi"},
            {"type": "step", "model": "gpt-5"},
            {"type": "item", "kind": "assistant", "text": "hello"},
            {"type": "usage", "input": 10, "output": 2},
            {"type": "item", "kind": "user", "text": "hi"},
            {"type": "step"},
            {"type": "item", "kind": "assistant", "text": "hello"},
        )
    )
    session = made.session
    assert [(turn.number, turn.first_step) for turn in session.timeline.turns_list] == [(1, 1), (2, 2)]
    assert [step.prompt_tokens for step in session.timeline.steps] == [10, None]
    assert len({item.id for item in made.items}) == 5
    assert [item.step for item in made.items if item.kind == Kind.ASSISTANT] == ["step", "step#2"]


def test_the_example_of_the_documentation_runs(tmp_path, monkeypatch):
    """The loop in docs/formats/contextlab-events.md writes a session that is read whole."""
    page = (CHECKOUT / "docs" / "formats" / "contextlab-events.md").read_text()
    program = page.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(program, {"__name__": "example"})
    made = read(tmp_path / "run.events.jsonl")
    assert not made.report.skipped
    assert not made.report.warnings
    assert [(step.model, step.prompt_tokens) for step in made.session.timeline.steps] == [
        ("my-model", 40)
    ] * 2
    assert made.context(2) == ["Use the tools.", "What is 2+2?", '{"a": 2, "b": 2}', '{"sum": 4}']
    example = page.split("```json\n")[1].split("```")[0]
    assert len(read(example).session.timeline.steps) == 2


def test_harness_prompts_start_no_turn():
    """A synthetic prompt is marked and opens nothing; the badge is its `injected`."""
    made = read(
        lines(
            HEAD,
            {"type": "item", "id": "e1", "kind": "user", "text": "real"},
            {
                "type": "item",
                "id": "e2",
                "kind": "user",
                "text": "harness: continue",
                "injected": "synthetic",
            },
            {"type": "item", "id": "e3", "kind": "assistant", "text": "ok"},
        )
    )
    assert len(made.of(ev.TurnStart)) == 1
    assert [(item.id, item.injected) for item in made.items if item.injected] == [("e2", Injected.SYNTHETIC)]


def test_structured_text_is_kept_as_json():
    """A result that is an object is serialised, and counted, with all its digits."""
    rows = [{"id": number, "name": f"item {number}"} for number in range(20)]
    made = read(
        lines(
            HEAD,
            {"type": "item", "kind": "tool_result", "call_id": "c", "text": {"structured": {"rows": rows}}},
            {"type": "item", "kind": "tool_result", "call_id": "d", "json": {"order": 107505301260286111}},
        )
    )
    assert made.session.timeline.estimates[0] >= 100
    assert made.items[1].text == '{"order": 107505301260286111}'


def test_unknown_times_stay_unknown_and_a_second_reading_is_the_same():
    """No clock is asked, so importing twice changes nothing."""
    data = lines(HEAD, {"type": "item", "id": "e1", "kind": "user", "text": "x"})
    made = read(data)
    assert made.items[0].ts is None
    assert made.session.meta.started_at is None
    assert read(data).events == made.events


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"type": "item", "kind": "person", "text": "x"}, "kind: person is none of system, user"),
        ({"type": "item", "text": "x"}, "kind: missing"),
        ({"type": "item", "kind": "user", "text": "x", "media": "png"}, "media: must be a list"),
        ({"type": "link", "child": "c"}, "call_id: missing"),
        ({"type": "step", "id": "s", "exact": "yes"}, "exact: must be true or false"),
        ({"type": "cleared", "items": ["a"], "verdict": "gone"}, "verdict: gone is none of"),
        ({"type": "usage", "input": 3}, "step: must be a text"),
        ([1, 2], "not an object"),
        ({"format": "other"}, "format: other is not contextlab-events"),
    ],
)
def test_a_wrong_line_costs_that_line_and_says_what_is_wrong(line, reason):
    """The key is named; the lines around it are read."""
    made = read(lines(HEAD, line, {"type": "item", "kind": "user", "text": "after"}))
    [(number, told)] = made.report.skipped
    assert number == 2
    assert told.startswith(reason)
    assert made.texts("user") == ["after"]


def test_what_is_not_known_is_told():
    """Unknown types are counted, unknown keys and versions are warned about, impossible counts are unknown."""
    made = read(
        lines(
            {**HEAD, "version": 2},
            {"type": "mood", "value": 1},
            {"type": "step", "id": "s", "colour": "red"},
            {"type": "usage", "step": "s", "input": -138_000},
        )
    )
    assert made.report.unknown_types == {"mood": 1}
    assert "version 2" in made.report.warnings[0]
    assert "colour" in made.report.warnings[1]
    assert made.session.timeline.steps[0].prompt_tokens is None


def test_events_of_a_real_importer_come_back():
    """A rollout written as events says the same."""
    log = Rollout()
    log.task("t1")
    log.say("user", "hi \u2400 \U0001f389")
    log.think()
    log.call("c1")
    log.count(10)
    log.compacted("", [{"type": "compaction", "encrypted_content": "x"}])
    log.after(5)
    original = read(log.text())
    again = read("\n".join(write_sessions(iter(original.events))))
    assert list(comparable(again.events)) == list(comparable(original.events))


@needs_corpus
@pytest.mark.slow
def test_real_logs_of_every_format_come_back():
    """Written and read again, no event of the corpus is lost or changed."""
    chosen = [
        "codex/*/1f-*.jsonl",
        "openai-chat/*/*.json",
        "swe-agent/**/*.traj",
        "claude-code/entireio-cli/*.jsonl",
    ]
    for pattern in chosen:
        for path in sorted(CORPUS.glob(pattern))[:12]:
            original = read(path)
            again = read("\n".join(write_sessions(iter(original.events))))
            assert list(comparable(again.events)) == list(comparable(original.events)), path
