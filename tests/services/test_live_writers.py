"""Two that send to one live session at the same time, while its memory compacts itself."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from contextlab.adapters.tokens import counter
from contextlab.services.actions import perform
from contextlab.services.live.intake import take_events, unread
from contextlab.services.live.memory import read_live
from contextlab.services.live.opening import open_live, read_wish
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import FINISHED, ItemRecord, LiveVersion, MemoryVersion, Run, Session, View

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
WRITERS, EACH = 3, 4
POLICY = {
    "version": 1, "name": "small", "compaction": {"kind": "rule_based", "keep_recent": 2},
    "trigger": {"kind": "items", "max_items": 6},
}  # fmt: skip


@pytest.fixture
def view(settings: Any, tmp_path: Path) -> View:
    settings.DATA_DIR = tmp_path
    counter().count("the vocabulary takes a while to load")
    workspace = local_workspace()
    return open_live(workspace, read_wish({"policy": POLICY}, workspace.pk))[0]


def lines(writer: int, number: int) -> bytes:
    text = f"writer {writer} says {number} " * 20
    events = [
        {"type": "item", "id": f"u{writer}-{number}", "kind": "user", "text": text},
        {"type": "step", "id": f"s{writer}-{number}"},
        {"type": "item", "id": f"a{writer}-{number}", "kind": "assistant", "text": text},
    ]
    return "\n".join(map(json.dumps, events)).encode()


def test_nothing_is_lost_or_doubled(view: View) -> None:
    """Each line stands in the log and in rows once, though everyone sends everything twice."""

    def write(writer: int) -> list[bool]:
        try:
            mine = View.objects.select_related("session__file", "live").get(pk=view.pk)
            return [take_events(mine, lines(writer, number // 2)).read for number in range(2 * EACH)]
        finally:
            connection.close()

    def compact() -> None:
        try:
            for _ in range(2):
                for run in list(Run.objects.filter(kind="compact").exclude(state__in=FINISHED)):
                    perform(run)
        finally:
            connection.close()

    with ThreadPoolExecutor(WRITERS + 1) as pool:
        answers = [pool.submit(write, writer) for writer in range(WRITERS)]
        worker = pool.submit(compact)
        assert all(all(answer.result()) for answer in answers)
        worker.result()
    session = Session.objects.get(pk=view.session_id)
    assert (session.items, session.steps) == (2 * WRITERS * EACH, WRITERS * EACH)
    names = list(ItemRecord.objects.filter(session=session).values_list("native_id", flat=True))
    assert len(set(names)) == len(names) == session.items
    text = Path(session.file.path).read_text()
    assert text.count('"type": "item"') == session.items
    while run := Run.objects.filter(kind="compact").exclude(state__in=FINISHED).first():
        perform(run)
    versions = list(
        MemoryVersion.objects.filter(view=view).order_by("version").values_list("version", "parent__version")
    )
    assert versions == [(1, None), *((number, number - 1) for number in range(2, len(versions) + 1))]
    steps = list(
        LiveVersion.objects.filter(memory__view=view).order_by("memory").values_list("step", flat=True)
    )
    assert steps == sorted(steps)
    held = read_live(View.objects.get(pk=view.pk))
    assert held.upto == session.items
    assert len({item.id for item in held.snapshot.items}) == len(held.snapshot.items)


def test_what_a_server_left_unread_is_read_by_a_worker(view: View, monkeypatch: pytest.MonkeyPatch) -> None:
    """It died between appending and reading: the next look finds the log longer than what was read of it."""
    mine = View.objects.select_related("session__file", "live").get(pk=view.pk)
    monkeypatch.setattr("contextlab.services.live.intake.read_up_to", lambda *_: False)
    taken = take_events(mine, lines(1, 1))
    assert (taken.lines.taken, taken.read, taken.decision) == (3, False, None)
    (run,) = unread()
    perform(run)
    assert Session.objects.get(pk=view.session_id).steps == 1
    assert unread() == []
