"""Observations without a model: what tools did and what people decided, with the items that show it."""

from __future__ import annotations

from contextlab.core import Item, Kind
from contextlab.core.memory_keeping.by_rules import observations, session_summary

FIX = [
    Item("u", Kind.USER, "Fix the login: it fails on port 8443. Never edit config.py.", opens_turn=True),
    Item("c", Kind.TOOL_CALL, '{"file_path": "/src/login.py", "old_string": "a", "new_string": "b"}', tool="Edit",
         call_id="1"),
    Item("r", Kind.TOOL_RESULT, "done", call_id="1"),
    Item("c2", Kind.TOOL_CALL, '{"command": "pytest -q"}', tool="Bash", call_id="2"),
    Item("r2", Kind.TOOL_RESULT, "FAILED tests/test_login.py::test_it\\n1 failed, 3 passed in 1.2s", call_id="2",
         error=True),
    Item("a", Kind.ASSISTANT, "The login works again; one test still fails."),
]  # fmt: skip


def test_a_turn_that_changed_a_file() -> None:
    """A fix becomes an observation with the changed file, what failed, the agent's closing words, and its rule."""
    work, rule = observations(FIX, 3)
    assert (work.type, work.turn) == ("bugfix", 3)
    assert work.files_modified == ["/src/login.py"]
    assert work.narrative == "The login works again; one test still fails."
    assert "gotcha" in work.concepts
    assert {"c", "c2"} <= set(work.items)
    assert (rule.type, rule.title, rule.items) == ("decision", "Never edit config.py.", ("u",))


def test_a_turn_without_work_says_nothing() -> None:
    """Small talk brings no observation and no summary, and that is no error."""
    talk = [Item("u", Kind.USER, "hello there"), Item("a", Kind.ASSISTANT, "Hello!")]
    assert observations(talk) == []
    assert session_summary(talk) is None


def test_reading_is_a_discovery() -> None:
    """A turn that only looks changes nothing, and does not claim to."""
    look = [
        Item("u", Kind.USER, "Where is the port set?"),
        Item("c", Kind.TOOL_CALL, '{"path": "src/settings.py"}', tool="read_file", call_id="1"),
        Item("r", Kind.TOOL_RESULT, "PORT = 8443", call_id="1"),
        Item("a", Kind.ASSISTANT, "In src/settings.py: 8443."),
    ]
    (found,) = observations(look)
    assert (found.type, found.files_read, found.files_modified) == ("discovery", ["src/settings.py"], [])


def test_a_session_is_summed_up() -> None:
    """The summary says what was asked, what was changed and what the person ruled, and that no model wrote it."""
    found = session_summary(FIX)
    assert found is not None
    assert found.request is not None
    assert found.request.startswith("Fix the login")
    assert "/src/login.py" in (found.completed or "")
    assert "Never edit config.py." in (found.learned or "")
    assert "no model" in (found.notes or "")
