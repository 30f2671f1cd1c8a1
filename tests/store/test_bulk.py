"""Bulk writes store what Django's own insert would store, and nothing that a database refuses."""

import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import IntegrityError, connection, transaction

from contextlab.services.ingest.rows import ITEM_COLUMNS, STEP_COLUMNS
from contextlab.services.sessions import delete_session
from contextlab.services.workspaces import local_workspace
from contextlab.store.bulk import (
    Changes,
    bulk_insert,
    bulk_make,
    bulk_set,
    bulk_update,
    clean_text,
    update_changed,
)
from contextlab.store.models import ItemRecord, Session, StepRecord

pytestmark = [pytest.mark.django_db, pytest.mark.database]

MOMENT = datetime(2026, 3, 1, 10, 0, 1, 233000, tzinfo=timezone(timedelta(hours=5)))


@pytest.fixture
def session():
    return Session.objects.create(
        workspace=local_workspace(), native_id=str(uuid.uuid4()), format="test", sort_at=datetime.now(UTC)
    )


def item(session, position=0, **values):
    plain = dict.fromkeys(ITEM_COLUMNS, 0) | {
        "session_id": session.pk, "revision": 1, "position": position, "native_id": "n", "tool": "", "call_id": "",
        "injected": "", "label": "", "content_hash": b"\x00" * 32, "preview": "", "media": None, "original": None,
        "ts": None, "step": None, "pair": None, "tokens": None, "raw_offset": None, "raw_length": None, "line": None,
    }  # fmt: skip
    return plain | values


def test_rows_equal_those_of_a_plain_insert(session):
    """Times, JSON, bytes, unknown values: all columns, both ways."""
    values = item(
        session, ts=MOMENT, media=[{"type": "image", "mime": None, "size": 5}], original="a/b",
        content_hash=bytes(range(32)), preview="é 🎉 'quoted' \\ \t", tokens=7, raw_offset=2**40,
    )  # fmt: skip
    bulk_insert(ItemRecord, ITEM_COLUMNS, [[values[name] for name in ITEM_COLUMNS]])
    ItemRecord.objects.create(**values | {"position": 1})
    one, other = (ItemRecord.objects.filter(position=place).values().get() for place in (0, 1))
    for row in (one, other):
        del row["id"], row["position"]
        row["content_hash"] = bytes(row["content_hash"])
    assert one == other
    assert ItemRecord.objects.get(position=0).ts == MOMENT


def test_nothing_reaches_the_database_that_it_refuses(session):
    """NUL and lone surrogates are replaced, long texts cut."""
    values = item(session, native_id="i" * 300, preview="a\x00b\ud800c", label="x" * 500)
    bulk_insert(ItemRecord, ITEM_COLUMNS, [[values[name] for name in ITEM_COLUMNS]])
    row = ItemRecord.objects.get()
    assert row.preview == "a\u2400b\ufffdc"
    assert (len(row.native_id), len(row.label)) == (255, 60)


def test_numbers_beyond_their_column_are_unknown(session):
    """Not wrong, not an error."""
    values = dict.fromkeys(STEP_COLUMNS, 0) | {
        "session_id": session.pk, "revision": 1, "number": 1, "native_id": "s", "model": "", "limit_source": "",
        "exact": False, "usage_partial": True, "restart": "", "ts": None,
        "input": 2**63, "output": 2**63 - 1, "limit": None,
    }  # fmt: skip
    bulk_insert(StepRecord, STEP_COLUMNS, [[values[name] for name in STEP_COLUMNS]])
    row = StepRecord.objects.get()
    assert (row.input, row.output, row.exact, row.usage_partial) == (None, 2**63 - 1, False, True)


def test_a_forgotten_column_is_an_error():
    """Not a row with whatever the database makes of it."""
    with pytest.raises(ValueError, match="preview"):
        bulk_insert(ItemRecord, [name for name in ITEM_COLUMNS if name != "preview"], [])


def test_one_column_of_many_rows_is_set_at_once(session):
    """Each row gets its own number."""
    rows = [[item(session, place)[name] for name in ITEM_COLUMNS] for place in range(5)]
    bulk_insert(ItemRecord, ITEM_COLUMNS, rows)
    keys = list(ItemRecord.objects.order_by("position").values_list("pk", flat=True))
    bulk_set(ItemRecord, "tokens", [(place * 10, key) for place, key in enumerate(keys)])
    bulk_set(ItemRecord, "tokens", [])
    assert list(ItemRecord.objects.order_by("position").values_list("tokens", flat=True)) == [
        0,
        10,
        20,
        30,
        40,
    ]


def test_only_what_changed_of_a_row_is_written(session, django_assert_num_queries):
    """Counters that stay the same cost nothing."""
    with django_assert_num_queries(0):
        assert not update_changed(session, {"title": "", "items": 0})
    with django_assert_num_queries(1):
        assert update_changed(session, {"title": "new", "items": 0})
    assert Session.objects.get().title == session.title == "new"


def test_many_rows_change_in_few_statements(session, django_assert_num_queries):
    """Each gets its own values, of every kind; rows that change alike share a statement."""
    others = [
        Session.objects.create(
            workspace=session.workspace, native_id=f"n{place}", format="test", sort_at=datetime.now(UTC)
        )
        for place in range(3)
    ]
    changes = Changes()
    with django_assert_num_queries(2):
        for place, one in enumerate(others):
            changes.note(one, {"title": f"é{place}", "sparkline": [[place, 1]], "last_at": MOMENT})
        changes.note(session, {"title": "t\x00" + "x" * 500})
        changes.write()
        changes.write()
    rows = Session.objects.filter(format="test").order_by("pk")
    assert [row.title for row in rows] == ["t\u2400" + "x" * 298, "é0", "é1", "é2"]
    assert [row.sparkline for row in rows] == [[], [[0, 1]], [[1, 1]], [[2, 1]]]
    assert rows.last().last_at == MOMENT


def test_a_condition_tells_how_many_rows_met_it(session):
    """Whoever writes only what nobody else has changed learns that somebody had."""
    assert bulk_update(Session, ["title"], [("new", session.pk, 1)], where=("id", "revision")) == 1
    assert bulk_update(Session, ["title"], [("newer", session.pk, 2)], where=("id", "revision")) == 0
    assert bulk_update(Session, ["title"], [], where=("id", "revision")) == 0
    assert Session.objects.get().title == "new"


def test_clean_text_leaves_good_text_alone():
    """What can be stored is stored as it is."""
    assert clean_text("é 🎉 \t\n") == "é 🎉 \t\n"
    assert clean_text("abc", 2) == "ab"


def test_rows_of_a_session_that_was_deleted_are_refused(session):
    """No constraint looks at each row, so that the writer has to."""
    row = item(session)
    session.delete()
    with pytest.raises(IntegrityError, match="session_id"), transaction.atomic():
        bulk_insert(ItemRecord, ITEM_COLUMNS, [tuple(row.values())])
    assert not ItemRecord.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_whoever_deletes_a_session_waits_for_who_writes_into_it(session):
    """Rows that are written at that moment go with it: none of them is left without a session."""
    writing, deletes = threading.Event(), threading.Event()

    def write():
        with transaction.atomic():
            bulk_insert(ItemRecord, ITEM_COLUMNS, [tuple(item(session).values())])
            writing.set()
            assert deletes.wait(10)
            time.sleep(0.2)  # until it has come to the lock
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(write)
        assert writing.wait(10)
        deletes.set()
        delete_session(session)
        written.result()
    assert not Session.objects.exists()
    assert not ItemRecord.objects.exists()


def test_made_objects_equal_those_that_django_makes():
    """Keys, defaults, times and what is stored are the same, to the last column."""
    values = {"workspace": local_workspace(), "format": "test", "sort_at": MOMENT, "sparkline": [[1, 0]]}
    made = [Session(native_id=f"made {number} \u00e9", fill_percent=1.5, **values) for number in range(3)]
    bulk_make(made)
    plain = Session.objects.create(native_id="plain", fill_percent=1.5, **values)
    assert len({one.pk for one in made}) == 3
    for one in made:
        stored = Session.objects.get(pk=one.pk)
        own = {"id", "uid", "native_id", "created_at"}
        for field in Session._meta.concrete_fields:
            assert getattr(stored, field.attname) == getattr(one, field.attname), field.name
            if field.name not in own:
                assert getattr(stored, field.attname) == getattr(plain, field.attname), field.name
        assert not one._state.adding
    bulk_make([])
