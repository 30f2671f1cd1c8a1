"""Reading what a model says: forgiving, and never a reason to fail."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core.compaction import Line, Sections
from contextlab.core.sections import keep_known_items, read_reply, render_sections
from tests.core.plugins import examples


def texts(lines: list[Line]) -> list[str]:
    """The texts of lines."""
    return [line.text for line in lines]


def test_fences_scalars_and_unknown_keys_are_forgiven() -> None:
    """A fenced object between prose, a text where a list belongs and a key nobody knows read as what they mean."""
    reply = 'Sure!\n```json\n{"goal":"ship","completed":"login","pending":["logout","logout"],"weird":1}\n```\nBye'
    reading = read_reply(reply)
    assert (reading.sections.goal, reading.degraded) == ("ship", False)
    assert texts(reading.sections.completed) == ["login"]
    assert texts(reading.sections.pending) == ["logout", "logout"]


def test_nothing_is_left_of_null_and_blank_entries() -> None:
    """Entries that say nothing are left out, numbers and objects become text."""
    reading = read_reply(
        '{"completed": [null, " ", "", "a", 7, {"file": "x"}], "pending": null, "goal": ["b", "c"]}'
    )
    assert texts(reading.sections.completed) == ["a", "7", '{"file":"x"}']
    assert reading.sections.pending == []
    assert reading.sections.goal == "b; c"


@pytest.mark.parametrize(
    "reply", ["only prose", "{broken", "} backwards {", "[1, 2]", "{" * 5000 + "}" * 5000]
)
def test_what_is_no_object_is_the_summary(reply: str) -> None:
    """An answer in prose is a summary without sections, and marked as such."""
    reading = read_reply(reply)
    assert reading.summary == reply
    assert reading.degraded
    assert reading.sections == Sections()


@pytest.mark.parametrize("around", ["{0}", "In {{braces}}: {0}", "{0} (see {{x}})", "{{}} {0} {{"])
def test_an_object_is_found_among_braces(around: str) -> None:
    """Braces in the prose around a model's object do not hide it."""
    reading = read_reply(around.format('{"goal":"ship","completed":["a {b} c"]}'))
    assert (reading.sections.goal, texts(reading.sections.completed)) == ("ship", ["a {b} c"])


@pytest.mark.parametrize("reply", ["{}", '{"goal": null, "completed": []}', '```json\n{"goal": " "}\n```'])
def test_an_object_that_says_nothing_is_no_summary(reply: str) -> None:
    """Empty fields alone do not become the text that stands for a memory."""
    assert read_reply(reply).summary == ""


@pytest.mark.parametrize("half", ["\\ud83d", "\\u0000", "\ud83d", "\x00"])
@pytest.mark.parametrize(
    "reply",
    [
        '{{"goal": "see {0}", "completed": ["{0}", {{"text": "{0}", "items": ["{0}"]}}]}}',
        "see {0}",
        '{{"x": ["{0}"]}}',
    ],
)
def test_a_summary_can_be_stored_whatever_its_model_wrote(reply: str, half: str) -> None:
    """NUL and half a pair of surrogates, as themselves or as escapes, become characters that every database takes."""
    reading = read_reply(reply.format(half))
    told = [reading.summary, reading.sections.goal or "", *texts(reading.sections.completed)]
    assert not any("\x00" in text or text.encode("utf-8", "replace").decode() != text for text in told)
    assert any(text.strip("se ") for text in told)


def test_an_entry_may_name_its_items() -> None:
    """A line keeps the items that support it, but none that a model made up."""
    reading = read_reply('{"decisions": [{"text": "use sqlite", "items": ["i1", "i99", 3]}]}')
    keep_known_items(reading.sections, frozenset({"i1"}))
    assert reading.sections.decisions == [Line("use sqlite", ("i1",))]


def test_an_entry_cannot_forge_a_heading() -> None:
    """Further lines of an entry are indented under it."""
    assert render_sections(read_reply(json.dumps({"pending": "a\n## Goal\nb"})).sections) == (
        "## Pending\n- a\n  ## Goal\n  b"
    )


@pytest.mark.parametrize("goal", ["Fix it\n\n## Pending\n- b", "## Pending\n- b", "Fix it\r## Pending"])
def test_a_goal_cannot_forge_a_heading(goal: str) -> None:
    """A section that a goal brings along is no section of the summary."""
    lines = render_sections(Sections(goal=goal, completed=[Line("x")])).splitlines()
    assert [line for line in lines if line.startswith("#")] == ["## Goal", "## Progress"]


def test_what_a_model_cannot_know_is_not_read_from_it() -> None:
    """Files and sandbox come from the log alone; a confirmation is read as a claim, for others to flag."""
    reading = read_reply('{"sandbox_state": ["up"], "changed_artifacts": ["x"], "goal": "g"}')
    assert reading.sections == Sections(goal="g")
    claimed = read_reply('{"user_confirmations": ["yes"]}').sections
    assert claimed == Sections(user_confirmations=[Line("yes")])


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=20,
)
KEYS = st.sampled_from(
    ["goal", "completed", "pending", "decisions", "errors", "testResults", "openQuestions"]
)


def says(value: object) -> bool:
    """Whether a value is more than blanks and empty lists."""
    if isinstance(value, list):
        return any(map(says, value))
    return bool(value.strip()) if isinstance(value, str) else value is not None


@examples(100)
@given(st.one_of(st.text(), st.dictionaries(KEYS, JSON).map(lambda value: f"note {json.dumps(value)} end")))
def test_reading_never_raises(reply: str) -> None:
    """Whatever a model writes becomes a summary if it says anything, and lists of texts that are not blank."""
    reading = read_reply(reply)
    if not reading.summary and reply.strip():
        assert not any(map(says, json.loads(reply[reply.find("{") : reply.rfind("}") + 1]).values()))
    assert all(line.text.strip() for line in reading.sections.completed)


@pytest.mark.parametrize("piece", ["{", "[", '{"a":', "\\", '"', "}", '{"completed":["x"],', "\ud800"])
def test_a_megabyte_is_read(piece: str) -> None:
    """A megabyte of anything is read within the test's time limit."""
    for text in (piece * (1_000_000 // len(piece)), "{" + piece * (999_998 // len(piece)) + "}"):
        assert read_reply(text).summary
