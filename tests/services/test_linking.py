"""Subagents hang below the calls that started them, forks behind what they share: in any order of arrival."""

import itertools
import json

import pytest

from contextlab.store.models import Session
from tests.importers.claude_log import Log, call, text
from tests.services.doing import import_path

pytestmark = [pytest.mark.django_db, pytest.mark.database]

MAIN = "3f2c9a1e-0000-4000-8000-000000000001"
FORK = "3f2c9a1e-0000-4000-8000-000000000002"
LATER = "3f2c9a1e-0000-4000-8000-000000000003"


def main_log():
    log = Log(MAIN)
    log.user("go")
    log.answer("m1", call("task1", tool="Task", prompt="look"))
    log.result("task1", "found it")
    log.answer("m2", text("done"))
    return log


@pytest.mark.parametrize("parent_first", [True, False])
def test_a_subagent_is_linked_to_its_call(tmp_path, parent_first):
    """Its file and its parent's file come in any order."""
    parent = tmp_path / f"{MAIN}.jsonl"
    parent.write_bytes(main_log().data)
    child = tmp_path / MAIN / "subagents" / "agent-x.jsonl"
    child.parent.mkdir(parents=True)
    side = Log(MAIN)
    side.user("look", side=True, agentId="x")
    side.answer("n1", text("it is here"), side=True, agentId="x")
    child.write_bytes(side.data)
    meta = {"agentType": "Explore", "toolUseId": "task1"}
    child.with_name("agent-x.meta.json").write_text(json.dumps(meta))
    from contextlab.services import imports
    from contextlab.services.actions import perform
    from contextlab.services.workspaces import local_workspace

    for run in sorted(
        imports.queue_paths(local_workspace(), [tmp_path]), key=lambda run: run.pk, reverse=not parent_first
    ):
        perform(run)
    main = Session.objects.get(role="")
    sub = Session.objects.get(role="subagent")
    assert (sub.parent, sub.parent_call_id, sub.agent) == (main, "task1", "Explore")
    assert main.subagents == 1


def forked(tmp_path):
    """A session, and two that were resumed from it at different places: their records were copied."""
    shared = [
        lambda log: log.user("first", uuid="a1"),
        lambda log: log.answer("m1", text("one"), uuid="a2"),
        lambda log: log.user("second", uuid="a3"),
        lambda log: log.answer("m2", text("two"), uuid="a4"),
    ]
    paths = {}
    for name, taken in ((MAIN, 4), (FORK, 2), (LATER, 4)):
        log = Log(name)
        for add in shared[:taken]:
            add(log)
        log._count += {MAIN: 10, FORK: 300, LATER: 600}[name]
        log.user(f"on my own: {name}")
        log.answer(f"own-{name}", text("ok"))
        paths[name] = tmp_path / f"{name}.jsonl"
        paths[name].write_bytes(log.data)
    return paths


@pytest.mark.parametrize("order", list(itertools.permutations([MAIN, FORK, LATER])))
def test_forks_are_linked_and_what_they_share_counts_once(tmp_path, order):
    """Totals of a fork begin behind what it was copied from."""
    paths = forked(tmp_path)
    for name in order:
        assert import_path(paths[name]).state == "done"
    main, fork, later = (Session.objects.get(native_id=name) for name in (MAIN, FORK, LATER))
    assert (main.forked_from, main.shared_steps, main.input_tokens) == (None, 0, 9)
    assert (fork.forked_from, fork.shared_steps, fork.input_tokens) == (main, 1, 3)
    assert (later.forked_from, later.shared_steps, later.input_tokens) == (main, 2, 3)


def test_a_fork_that_grows_keeps_its_totals_apart(tmp_path):
    """Growth adds its own steps only."""
    paths = forked(tmp_path)
    for path in paths.values():
        import_path(path)
    log = Log(FORK)
    log._count, log.last = 900, None
    log.user("more", parent=...)
    log.answer("own-2", text("ok"))
    with paths[FORK].open("ab") as out:
        out.write(log.data)
    import_path(paths[FORK])
    fork = Session.objects.get(native_id=FORK)
    assert (fork.shared_steps, fork.steps, fork.input_tokens) == (1, 3, 6)


def test_sessions_that_begin_with_the_same_title_record_are_no_forks(tmp_path):
    """Such records are copied into many files."""
    for name in (MAIN, FORK):
        log = Log(name)
        log.raw({"type": "summary", "summary": "A title", "leafUuid": "elsewhere"})
        log.user("hello", uuid=f"own-{name}")
        log.answer("m1", text("hi"), uuid=f"too-{name}")
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(log.data)
        import_path(path)
    assert not Session.objects.filter(forked_from__isnull=False).exists()
