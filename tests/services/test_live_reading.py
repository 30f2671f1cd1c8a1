"""The log of a live session is read on from where it was read to: what a request costs is what it sent."""

from __future__ import annotations

import json
import random
import shutil
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from contextlab.adapters.tokens import counter
from contextlab.importers.contextlab_events import reader
from contextlab.services import actions, imports
from contextlab.services.ingest import resuming
from contextlab.services.ingest.reading import Reading
from contextlab.services.ingest.tables import Table
from contextlab.services.live.intake import Taken, take_events
from contextlab.services.live.opening import open_live, read_wish
from contextlab.services.work import Counting
from contextlab.services.workspaces import local_workspace
from contextlab.store.items import items_between
from contextlab.store.models import (
    CompactionRecord,
    ItemRecord,
    MarkRecord,
    Session,
    StepRecord,
    TurnRecord,
    View,
    Workspace,
)

pytestmark = pytest.mark.django_db
Event = dict[str, Any]
TABLES: tuple[Any, ...] = (ItemRecord, StepRecord, TurnRecord, MarkRecord, CompactionRecord)
OTHERWISE = {"id", "session_id", "revision", "text_segment", "text_offset", "items_summarised"}
"""Columns that may differ: whose rows they are, where a text is kept, and what a view has to say of them."""
COUNTERS = (
    "items", "steps", "turns", "entries", "tool_calls", "tool_results", "calls_without_result", "compactions",
    "results_without_call", "text_chars", "input_tokens", "output_tokens", "cache_read_tokens", "title", "model",
)  # fmt: skip


@pytest.fixture
def view(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> View:
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(resuming, "_known", OrderedDict())
    counter().count("the vocabulary takes a while to load")
    workspace = local_workspace()
    return open_live(workspace, read_wish({"id": "here"}, workspace.pk))[0]


def send(view: View, events: list[Event]) -> Taken:
    mine = View.objects.select_related("session__file", "live").get(pk=view.pk)
    return take_events(mine, "\n".join(map(json.dumps, events)).encode())


def turn(number: int) -> list[Event]:
    words = f"words of turn {number} " * 9
    return [
        {"type": "item", "id": f"u{number}", "kind": "user", "text": words},
        {"type": "step", "id": f"s{number}", "model": "gpt-4o"},
        {"type": "usage", "step": f"s{number}", "input": 100 + number, "output": 7},
        {"type": "item", "id": f"a{number}", "kind": "assistant", "text": words + "!"},
    ]


def story(seed: int) -> list[Event]:
    """A session with calls whose results come later, usage that comes late, nameless items and compactions."""
    draw, events, kept = random.Random(seed), list[Event](), list[str]()
    for number in range(1, 40):
        events += turn(number)
        kept += [f"u{number}", f"a{number}"]
        if draw.random() < 0.4:
            call = {"kind": "tool_call", "tool": "shell", "call_id": f"c{number % 7}", "text": "ls"}
            events.append(
                {"type": "item", "id": f"call{number}", "ts": f"2026-01-02T03:{number:02}:00Z", **call}
            )
            late = [{"type": "item", "kind": "tool_result", "call_id": f"c{number % 7}", "text": "a.py"}]
            events += late if draw.random() < 0.8 else []
        if draw.random() < 0.3:
            events.append(
                {"type": "usage", "step": f"s{draw.randint(1, number)}", "input": 150_000, "output": 9}
            )
        if draw.random() < 0.1:
            events.append({"type": "item", "id": f"sum{number}", "kind": "summary", "text": "what was"})
            events.append(
                {"type": "compaction", "id": f"k{number}", "summary": f"sum{number}", "keeps": kept[-3:]}
            )
        if draw.random() < 0.1:
            events.append({"type": "cleared", "id": f"x{number}", "items": kept[-4:-2], "verdict": "dropped",
                           "reason": "abandoned_branch"})  # fmt: skip
    return events


def pieces(events: list[Event], seed: int) -> list[list[Event]]:
    draw, found = random.Random(seed), list[list[Event]]()
    while events:
        size = draw.randint(1, 12)
        found, events = [*found, events[:size]], events[size:]
    return found


def in_one_go(view: View, tmp_path: Path) -> Session:
    """The same log, imported as any other by somebody else."""
    copy = tmp_path / "copy.jsonl"
    shutil.copy(Session.objects.select_related("file").get(pk=view.session_id).file.path, copy)
    (run,) = imports.queue_paths(Workspace.objects.create(name="other"), [copy])
    actions.perform(run, counting=Counting.ALL)
    return Session.objects.exclude(pk=view.session_id).get(native_id="here")


def stored(session: Session) -> dict[str, Any]:
    """All that is in rows of a session's log."""
    found: dict[str, Any] = {name: getattr(session, name) for name in COUNTERS}
    for model in TABLES:
        rows = model.objects.filter(session=session, revision=session.revision).order_by("pk").values()
        plain = [{name: value for name, value in row.items() if name not in OTHERWISE} for row in rows]
        found[model.__name__] = sorted(plain, key=lambda row: str(row.get("position", row.get("number"))))
    found["texts"] = [item.text for _, item in items_between(session, 0, session.items)]
    file = session.file
    assert file is not None
    return found | {"log": (file.size, file.sha256, file.report)}


def same(view: View, tmp_path: Path) -> None:
    one, other = stored(Session.objects.get(pk=view.session_id)), stored(in_one_go(view, tmp_path))
    assert one.keys() == other.keys()
    for name in one:
        assert one[name] == other[name], name


def test_a_request_costs_what_it_sent(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the session is: as many lines are decoded as were sent, and rows hardly more are looked at."""
    decoded, digested = [0], [0]
    records, digest = reader.records, Table._digest

    def counted(*args: Any, **more: Any) -> Any:
        for record in records(*args, **more):
            decoded[0] += 1
            yield record

    def looked_at(self: Table, row: Any) -> int:
        digested[0] += 1
        return digest(self, row)

    monkeypatch.setattr(reader, "records", counted)
    monkeypatch.setattr(Table, "_digest", looked_at)
    seen = []
    for number in range(4):
        send(view, [event for at in range(50) for event in turn(1000 * number + at)])
        decoded[0] = digested[0] = 0
        send(view, turn(1000 * number + 500))
        seen.append((decoded[0], digested[0]))
    assert Session.objects.get(pk=view.session_id).steps == 204
    assert seen == [(4, 6)] * 4


def test_a_log_read_in_pieces_is_the_log(view: View, tmp_path: Path) -> None:
    """Rows are those that one reading of all of it would make, whatever came late."""
    for piece in pieces(story(7), 7):
        assert send(view, piece).read
    same(view, tmp_path)


def test_servers_take_turns(view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests go to one process or the other, and one of them is started again now and then."""
    memories, draw = [OrderedDict[str, Any](), OrderedDict[str, Any]()], random.Random(3)
    for piece in pieces(story(3), 4):
        monkeypatch.setattr(resuming, "_known", draw.choice(memories))
        if draw.random() < 0.1:
            memories[0].clear()
        send(view, piece)
    same(view, tmp_path)


@pytest.mark.parametrize("place", ["_flush", "_finish"])
def test_a_reading_that_breaks_off_is_made_again(
    view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A process that dies between two steps leaves what was there; the next one reads what it left, once."""
    todo = pieces(story(11), 12)
    for piece in todo[:20]:
        send(view, piece)
    before = stored(Session.objects.get(pk=view.session_id))
    with monkeypatch.context() as dying:
        dying.setattr(Reading, place, lambda *_, **__: 1 / 0)
        dying.setattr("contextlab.services.live.intake.PATIENCE", -1)
        assert not send(view, todo[20]).read
    assert stored(Session.objects.get(pk=view.session_id)) == before
    Session.objects.get(pk=view.session_id).workspace.run_set.update(not_before=None)
    again = send(view, todo[20])
    assert (again.lines.taken <= sum("id" not in event for event in todo[20]), again.read) == (True, True)
    for piece in todo[21:]:
        send(view, piece)
    same(view, tmp_path)


def test_batches_of_a_reading_that_died_are_not_doubled(
    view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of what was sent is in rows already, though the log counts as unread there; the server lives on."""
    send(view, turn(1))
    known = OrderedDict(resuming._known)
    finish = Reading._finish
    monkeypatch.setattr("contextlab.services.ingest.reading.FIRST_BATCH", 5)
    monkeypatch.setattr(Reading, "_finish", lambda *_: 1 / 0)
    monkeypatch.setattr("contextlab.services.live.intake.PATIENCE", -1)
    monkeypatch.setattr(resuming, "_known", OrderedDict())
    send(view, [event for at in range(2, 9) for event in turn(at)])
    assert Session.objects.get(pk=view.session_id).items > 2
    monkeypatch.setattr(Reading, "_finish", finish)
    monkeypatch.setattr(resuming, "_known", known)
    Session.objects.get(pk=view.session_id).workspace.run_set.update(not_before=None)
    assert send(view, turn(9)).read
    same(view, tmp_path)


def test_a_log_that_was_changed_is_read_from_its_start(view: View, tmp_path: Path) -> None:
    """Somebody put another file in its place: that one is the session now."""
    for number in range(1, 4):
        send(view, turn(number))
    path = Path(Session.objects.get(pk=view.session_id).file.path)
    other = tmp_path / "other.jsonl"
    other.write_text(path.read_text().replace("turn 2", "turn B"))
    other.replace(path)
    send(view, turn(4))
    session = Session.objects.get(pk=view.session_id)
    assert "turn B" in dict(items_between(session, 0, 4))[2].text
    same(view, tmp_path)


def test_secrets_are_taken_out_of_pieces_as_of_the_whole(view: View, tmp_path: Path, settings: Any) -> None:
    """With REDACT_AT_INGEST a log is read on as well, and no secret is stored."""
    settings.REDACT_AT_INGEST = True
    for number in range(1, 6):
        events = turn(number)
        events[0]["text"] = f"my key is sk-proj-{'Ab1' * 14}{number}, use it"
        send(view, events)
    assert not any("Ab1Ab1" in row.preview for row in ItemRecord.objects.all())
    assert len(resuming._known) == 1
    same(view, tmp_path)


def test_what_is_remembered_is_bounded(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log that was read longest ago is forgotten first."""
    other = open_live(view.session.workspace, read_wish({"id": "there"}, view.session.workspace_id))[0]
    monkeypatch.setattr(resuming, "MOST_ITEMS", 3)
    for number in (1, 2):
        send(view, turn(number))
        send(other, turn(number))
    assert list(resuming._known) == [other.session.file.path]
