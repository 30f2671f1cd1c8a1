"""User memories in the database: owned, versioned, undone; never another user's."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from contextlab.services.actions import perform
from contextlab.services.memories import BadRequest, change_settings, users
from contextlab.services.work import execute
from contextlab.services.workspaces import local_workspace
from contextlab.store import user_memories
from contextlab.store.models import UserMemoryRecord
from contextlab.store.user_memories import DjangoUserMemories
from tests.support.fake_openai import FakeOpenAI, says

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def workspace():
    return local_workspace()


@pytest.fixture
def at(settings, workspace):
    def point(server):
        settings.MODEL_BASE_URL, settings.MODEL_NAME = server.url, "gpt-4o"
        change_settings(workspace, {"allow_model": True})
        return server

    return point


def texts(workspace, user="me"):
    return [memory.memory for memory in DjangoUserMemories(workspace).of(user)]


def row(memory) -> UserMemoryRecord:
    return UserMemoryRecord.objects.get(uid=UUID(memory.id))


def test_an_edit_and_a_deletion_are_undone(workspace):
    """What was changed or taken away comes back, and the history tells all of it."""
    one = row(users.add(workspace, "me", "likes tea", ["food"]))
    users.edit(one, "likes coffee")
    users.delete(one)
    assert texts(workspace) == []
    users.undo(one)
    assert texts(workspace) == ["likes coffee"]
    users.edit(one, "likes water", ["drink"])
    users.undo(one)
    assert (texts(workspace), one.topics) == (["likes coffee"], ["food"])
    events = list(one.versions.order_by("version").values_list("event", flat=True))
    assert events == ["added", "updated", "deleted", "restored", "updated", "restored"]


def test_many_become_one_and_back(workspace, at):
    """The model makes one of a user's memories, another user's stay; undo brings the old ones back."""
    users.add(workspace, "me", "likes tea", ["food"])
    users.add(workspace, "me", "lives in Bonn", ["place"])
    users.add(workspace, "other", "likes milk")
    with at(FakeOpenAI(says("Likes tea and lives in Bonn."))):
        run, _ = users.request_optimising(workspace, "me", confirm=True)
        perform(run)
    run.refresh_from_db()
    assert (run.state, run.error) == ("done", "")
    (made,) = DjangoUserMemories(workspace).of("me")
    assert (made.memory, made.topics) == ("Likes tea and lives in Bonn.", ("food", "place"))
    assert texts(workspace, "other") == ["likes milk"]
    users.undo(row(made))
    assert texts(workspace) == ["likes tea", "lives in Bonn"]


def test_merged_by_hand(workspace):
    """Without a model the chosen ones are joined with their topics; another user's id among them is left alone."""
    one = users.add(workspace, "me", "likes tea", ["food"])
    two = users.add(workspace, "me", "lives in Bonn", ["place"])
    other = users.add(workspace, "other", "likes milk")
    made = users.merge(workspace, "me", [one.id, two.id, other.id])
    assert (made.memory, made.topics) == ("likes tea lives in Bonn", ("food", "place"))
    assert (texts(workspace), texts(workspace, "other")) == ([made.memory], ["likes milk"])
    users.undo(row(made))
    assert texts(workspace) == ["likes tea", "lives in Bonn"]
    with pytest.raises(BadRequest, match="at least two"):
        users.merge(workspace, "me", [one.id, other.id])


def test_a_merge_that_fails_leaves_all(workspace, at, monkeypatch):
    """Who dies while the old ones are put away leaves them: new rows and old ones change in one transaction."""
    users.add(workspace, "me", "likes tea")
    users.add(workspace, "me", "lives in Bonn")

    def dies(*args, **values):
        raise KeyboardInterrupt

    with at(FakeOpenAI(says("Both."))):
        run, _ = users.request_optimising(workspace, "me", confirm=True)
        monkeypatch.setattr(user_memories, "change", dies)
        with pytest.raises(KeyboardInterrupt):
            perform(run)
    assert texts(workspace) == ["likes tea", "lives in Bonn"]


def test_the_model_keeps_what_was_said(workspace, at):
    """Its calls go through the workspace's switches; clearing touches this user alone, and only where allowed."""
    users.add(workspace, "other", "likes milk")
    calls = {
        "calls": [{"tool": "add_memory", "memory": "Prefers short answers."}, {"tool": "clear_memories"}]
    }
    with at(FakeOpenAI(says(json.dumps(calls)))):
        run, _ = users.request_remembering(workspace, "me", "Keep it short.", confirm=True)
        perform(run)
        assert texts(workspace) == ["Prefers short answers."]
        change_settings(workspace, {"clear_memories": True})
        run, _ = users.request_remembering(workspace, "me", "Keep it short.", confirm=True)
        perform(run)
    assert (texts(workspace), texts(workspace, "other")) == ([], ["likes milk"])


class Killed(BaseException):
    """A worker that is killed."""


@pytest.mark.parametrize("request_it", ["remembering", "optimising"])
def test_a_worker_that_dies_right_behind_it_keeps_nothing_twice(workspace, at, request_it):
    """What is kept ends the run with it; nobody asks the model again."""
    users.add(workspace, "me", "likes tea")
    users.add(workspace, "me", "lives in Bonn")
    answer = {"calls": [{"tool": "add_memory", "memory": "Prefers short answers."}]}
    remembers = request_it == "remembering"
    with at(FakeOpenAI(says(json.dumps(answer) if remembers else "Likes tea, lives in Bonn."))) as server:
        if remembers:
            run, _ = users.request_remembering(workspace, "me", "Keep it short.", confirm=True)
        else:
            run, _ = users.request_optimising(workspace, "me", confirm=True)

        def dies(work):
            users.perform(work)
            raise Killed

        with pytest.raises(Killed):
            execute(run.uid, dies)
        perform(run)
        assert len(server.requests) == 1
    run.refresh_from_db()
    kept = (
        ["likes tea", "lives in Bonn", "Prefers short answers."]
        if remembers
        else ["Likes tea, lives in Bonn."]
    )
    assert (run.state, run.attempts, texts(workspace)) == ("done", 1, kept)


def test_nothing_is_asked_without_leave(workspace):
    """Without a model, or without a confirmation, the request is refused with the reason."""
    with pytest.raises(BadRequest, match="No model is set"):
        users.request_optimising(workspace, "me", confirm=True)
    for text in ("", " \0 ", "x" * 20_001):
        with pytest.raises(BadRequest):
            users.add(workspace, "me", text)
