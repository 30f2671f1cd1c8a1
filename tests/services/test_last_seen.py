"""The search index follows its sessions: made behind imports, grown with them, gone with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.db import connection

from contextlab.core.audit.search_words import query
from contextlab.core.items import Kind
from contextlab.queries.last_seen import search_session
from contextlab.services import last_seen, sessions
from contextlab.services.actions import perform
from contextlab.services.periodic import EVERY, Periodic
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import ItemRecord, Run, SearchPiece, Session, TextSegment
from contextlab.store.search import find
from tests.importers.reading import LOGS
from tests.services.doing import import_well
from tests.web.made import Log

pytestmark = pytest.mark.django_db


def index() -> Run:
    """Do what is missing, as a worker would."""
    (run,) = last_seen.missing()
    perform(run)
    run.refresh_from_db()
    return run


def words_stored() -> int:
    """Rows of the table of words."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM store_searchwords")
        return int(cursor.fetchone()[0])


def positions(session: Session, text: str) -> list[int]:
    """Where the index says that a text may stand."""
    return [one.position for one in find(query(text), session.pk)[0]]


def test_an_import_is_searchable_after_its_run() -> None:
    """Before it, items are read one by one; after it, the index tells; then nothing is missing."""
    session = import_well(LOGS / "anthropic-messages" / "compaction.json")
    before = search_session(session, query("quick brown fox"), None)
    assert before.hits
    assert before.complete
    assert index().state == "done"
    assert positions(session, "quick brown fox")
    assert [hit.position for hit in search_session(session, query("quick brown fox"), None).hits] == [
        hit.position for hit in before.hits
    ]
    assert last_seen.missing() == []


def test_a_session_that_grows_is_extended(tmp_path: Path) -> None:
    """Only what is new is indexed; between two runs the new items are read one by one."""
    path = tmp_path / "grows.jsonl"
    lines = (LOGS / "openai-chat" / "messages.jsonl").read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:2]))
    import_well(path)
    index()
    first = set(SearchPiece.objects.values_list("pk", flat=True))
    path.write_text("".join(lines) + json.dumps({"role": "user", "content": "zanzibar"}) + "\n")
    session = import_well(path)
    for _ in range(2):
        found = search_session(session, query("zanzibar"), None)
        assert (len(found.hits), found.complete, found.unindexed) == (1, True, 0)
        if last_seen.missing():
            index()
    assert first < set(SearchPiece.objects.values_list("pk", flat=True))


def test_a_new_revision_is_indexed_anew() -> None:
    """The pieces of the old one go."""
    made = Log().ask("alpha beta").step().say("gamma").save()
    index()
    for rows in (Session, ItemRecord, TextSegment):
        rows.objects.update(revision=2)
    index()
    assert positions(made.session, "beta") == [0]
    assert SearchPiece.objects.count() == words_stored() == 2


def test_what_is_deleted_leaves_nothing_in_the_index() -> None:
    """One session, then everything: no words stay behind."""
    kept = Log().ask("alpha stays").step().say("one").save()
    gone = Log().ask("alpha goes").step().say("two").save()
    index()
    assert len(find(query("alpha"))[0]) == 2
    sessions.delete_session(gone.session)
    assert [one.session_id for one in find(query("alpha"))[0]] == [kept.session.pk]
    assert words_stored() == SearchPiece.objects.count() == 2
    sessions.delete_everything(local_workspace())
    assert words_stored() == 0


def test_sessions_do_not_see_each_others_words() -> None:
    """The same text in two sessions: each finds its own."""
    one = Log().ask("shared words here").step().save()
    other = Log().ask("shared words here").step().save()
    index()
    for made in (one, other):
        found, _ = find(query("shared words"), made.session.pk)
        assert [hit.session_id for hit in found] == [made.session.pk]


def test_calls_are_found_by_tool_and_by_what_their_arguments_say() -> None:
    """Arguments are JSON: its escapes hide nothing."""
    made = Log().ask("go").step().call("write_file", '{"text": "line one\\nline two \\u7aef\\u53e3"}').save()
    index()
    for text in ("write_file", "line two", "端口"):
        assert [hit.kind for hit in search_session(made.session, query(text), None).hits] == [
            Kind.TOOL_CALL
        ], text


def test_a_text_that_stands_everywhere_promises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """More items than are looked at: the first and the last, and complete is false."""
    monkeypatch.setattr("contextlab.queries.last_seen.HITS", 5)
    log = Log().ask("go").step()
    log.repeat(30, lambda to, number: to.say(f"common word {number}"))
    made = log.save()
    index()
    found = search_session(made.session, query("common word"), None)
    assert not found.complete
    assert len(found.hits) == 5


def test_the_periodic_work_asks_for_it() -> None:
    """Imports know nothing of the index; within seconds a run is asked for."""
    Log().ask("alpha").step().save()
    assert "index" in EVERY
    due = Periodic("me").tick()
    assert [run.kind for run in due.runs if run.kind == Run.Kind.INDEX] == [Run.Kind.INDEX]
