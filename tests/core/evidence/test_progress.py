"""What is done and what is still to do, from to-do tools, ticked lists, commits and announced steps."""

from __future__ import annotations

import pytest

from contextlab.core.compaction import Line
from contextlab.core.evidence.record import Record
from contextlab.core.evidence.todos import COMMITTED, UNDER_WAY, progress
from tests.core.talk import Talk


def told(
    talk: Talk, completed: list[Line] | None = None, pending: list[Line] | None = None
) -> tuple[list[str], list[str]]:
    """The texts of both lists."""
    done, left = progress(Record(talk.items), completed or [], pending or [])
    return [line.text for line in done], [line.text for line in left]


def todo(**states: str) -> list[dict[str, str]]:
    """Entries of a to-do list by name and state."""
    return [{"content": name, "status": state, "activeForm": name} for name, state in states.items()]


def test_the_last_todo_list_counts() -> None:
    """A to-do tool's last list says what is done, under way and pending."""
    talk = Talk().call("TodoWrite", todos=todo(read="in_progress", write="pending", test="pending"))
    talk.call("TodoWrite", todos=todo(read="completed", write="in_progress", test="pending"))
    assert told(talk) == (["read"], ["write" + UNDER_WAY, "test"])


def test_each_line_names_its_items() -> None:
    """A task names the call that brought it and the one that settled it."""
    talk = Talk().call("TodoWrite", todos=todo(read="pending"))
    talk.call("TodoWrite", todos=todo(read="completed"))
    assert progress(Record(talk.items), [], [])[0] == [Line("read", ("c1", "c2"))]


def test_what_a_new_list_leaves_out_is_no_longer_pending() -> None:
    """A list replaces the one before: what was pending and is gone is gone, what was done stays done."""
    talk = Talk().call("TodoWrite", todos=todo(read="completed", write="pending"))
    talk.call("TodoWrite", todos=todo(test="pending"))
    assert told(talk) == (["read"], ["test"])


def test_plans_of_other_agents() -> None:
    """Codex' update_plan and a tracker with titles are read like to-do lists."""
    plan = [{"step": "look", "status": "completed"}, {"step": "mend", "status": "pending"}]
    talk = Talk().call("update_plan", plan=plan)
    talk.call("task_tracker", command="plan", task_list=[{"title": "ship", "status": "todo"}])
    assert told(talk) == (["look"], ["ship"])


def test_single_tasks_are_followed_by_id() -> None:
    """A task that one call creates is found again by the id that its result names."""
    talk = Talk().call("TaskCreate", "Task #7 created successfully: Add a field", subject="Add a field")
    talk.call("TaskCreate", "Task #8 created successfully: Test it", subject="Test it")
    talk.call("TaskUpdate", "Updated task #7 status", taskId="7", status="completed")
    assert told(talk) == (["Add a field"], ["Test it"])


def test_ticked_lists_in_texts() -> None:
    """Boxes and ticks in a text are tasks; a later tick settles the same line."""
    talk = Talk().says("Plan:\n- [ ] parse\n- [ ] store\n")
    talk.says("So far:\n- [x] parse\n✅ wired the command\n```\n- [x] not this\n```")
    assert told(talk) == (["parse", "wired the command"], ["store"])


def test_commits_are_done() -> None:
    """A commit that succeeded is completed work, by its title."""
    talk = Talk().shell("git commit -m 'Fix the login'", "[main 1a2b3c4] Fix the login\n 1 file changed")
    talk.shell("git commit -m 'No'", "Exit code 1\nnothing to commit", error=True)
    assert told(talk) == ([f"{COMMITTED}Fix the login"], [])


@pytest.mark.parametrize(
    "heading", ["Next steps:", "## Remaining work", "下一步：", "残りの作業", "**TODO**"]
)
def test_announced_steps_are_pending_where_there_is_no_plan(heading: str) -> None:
    """The list under "next steps" of the newest answer is pending."""
    talk = Talk().says(
        f"All well.\n\n{heading}\n- write the docs\n- tag the release\n\nGood luck.\n- no step"
    )
    assert told(talk) == ([], ["write the docs", "tag the release"])


def test_an_earlier_summary_goes_on() -> None:
    """What an earlier summary had as pending moves to completed when a list says so; the rest stays."""
    talk = Talk().call("TodoWrite", todos=todo(write="completed", test="pending"))
    done, left = told(talk, [Line("read", ("x",))], [Line("write" + UNDER_WAY, ("x",)), Line("test", ("x",))])
    assert (done, left) == (["read", "write"], ["test"])


def test_lists_that_are_no_plans_are_left_alone() -> None:
    """Items without a state, and arguments that are no JSON, are no plan."""
    talk = Talk().call("order", items=[{"name": "pear"}]).raw("TodoWrite", "{broken").raw("x", '"text"')
    assert told(talk) == ([], [])
