"""Items come back from their rows whole and in order, on either database, also what only few of them have."""

import pytest
from django.utils import timezone

from contextlab.core.items import KIND_CODE, Injected, Item, Kind, Media
from contextlab.core.timeline import (
    FLAG_ERROR,
    FLAG_INJECTED,
    FLAG_MEDIA,
    FLAG_NO_RESULT_NEEDED,
    FLAG_OPENS_TURN,
)
from contextlab.services.ingest.rows import TEXT_COLUMNS
from contextlab.services.ingest.segments import TextPacker
from contextlab.services.workspaces import local_workspace
from contextlab.store.bulk import bulk_insert
from contextlab.store.items import items_between, load_items
from contextlab.store.models import ItemRecord, Session, TextSegment

pytestmark = [pytest.mark.django_db, pytest.mark.database]
IMAGE = [{"type": "image", "mime": "image/png", "size": 9}]
SAID = [
    ("u", Kind.USER, "first", {"flags": FLAG_OPENS_TURN}),
    ("n", Kind.USER, "néé 🎉" * 3, {"flags": FLAG_INJECTED, "injected": "meta"}),
    ('c"\\,[]', Kind.TOOL_CALL, "{}", {"tool": "read", "call_id": "x", "flags": FLAG_NO_RESULT_NEEDED}),
    (
        "r",
        Kind.TOOL_RESULT,
        "no\n",
        {"call_id": "x", "tokens": 2, "flags": FLAG_ERROR | FLAG_MEDIA, "media": IMAGE},
    ),
    ("e", Kind.ASSISTANT, "", {}),
]


@pytest.fixture
def session():
    made = Session.objects.create(
        workspace=local_workspace(), native_id="n", format="test", sort_at=timezone.now()
    )
    packer = TextPacker()
    rows = [
        _row(made, at, name, kind, (*packer.add(text.encode()), len(text.encode())), len(text), more)
        for at, (name, kind, text, more) in enumerate(SAID)
    ]
    ItemRecord.objects.bulk_create(rows[::-1])
    bulk_insert(TextSegment, TEXT_COLUMNS, [(made.pk, 1, *packed) for packed in packer.take()])
    return made


def _row(session, at, name, kind, place, chars, more):
    segment, offset, length = place
    return ItemRecord(
        session=session, revision=1, position=at, native_id=name, kind=KIND_CODE[kind], entry=at // 2, turn=1,
        first_step=1, chars=chars, estimate=1, content_hash=b"", text_segment=segment, text_offset=offset,
        text_length=length, **more,
    )  # fmt: skip


def test_items_are_what_was_stored(session):
    """Names, texts, flags, places in the window: nothing is lost or changed on the way, and the order is the log's."""
    assert load_items(session, ItemRecord.objects.filter(session=session)) == [
        (0, Item("u", Kind.USER, "first", "0", opens_turn=True)),
        (1, Item("n", Kind.USER, "néé 🎉" * 3, "0", injected=Injected.META)),
        (2, Item('c"\\,[]', Kind.TOOL_CALL, "{}", "1", "read", "x", chars=2, needs_result=False)),
        (3, Item("r", Kind.TOOL_RESULT, "no\n", "1", None, "x", tokens=2, error=True,
                 media=(Media("image", "image/png", 9),))),
        (4, Item("e", Kind.ASSISTANT, "", "2")),
    ]  # fmt: skip


def test_a_stretch_of_items_is_that_stretch(session):
    """Positions are half-open, and a session without items there gives none."""
    assert [at for at, _ in items_between(session, 1, 4)] == [1, 2, 3]
    assert list(items_between(session, 5, 9)) == []


def test_a_text_that_is_gone_is_empty(session):
    """A session that is just being rewritten is read without an error."""
    TextSegment.objects.all().delete()
    assert {item.text for _, item in load_items(session, ItemRecord.objects.filter(session=session))} == {""}
