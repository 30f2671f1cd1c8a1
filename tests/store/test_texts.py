"""Texts and raw bytes come back from their segments exactly, wherever they lie in them."""

import random

import pytest
from django.db import connection
from django.utils import timezone

from contextlab.importers.base import Source
from contextlab.services.ingest.reading import RAW_COLUMNS
from contextlab.services.ingest.rows import TEXT_COLUMNS
from contextlab.services.ingest.segments import TEXT_SEGMENT, TextPacker
from contextlab.services.ingest.segments import RawPacker as Packer
from contextlab.services.workspaces import local_workspace
from contextlab.store.bulk import bulk_insert
from contextlab.store.models import RAW_SEGMENT, LogFile, RawSegment, Session, TextSegment
from contextlab.store.texts import read_raw, read_texts

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def session():
    return Session.objects.create(
        workspace=local_workspace(), native_id="n", format="test", sort_at=timezone.now()
    )


def pack(session, texts):
    packer, refs = TextPacker(), []
    for position, text in enumerate(texts):
        data = text.encode()
        refs.append((position, *packer.add(data), len(data)))
    bulk_insert(TextSegment, TEXT_COLUMNS, [(session.pk, 1, *packed) for packed in packer.take()])
    return refs


def test_texts_of_any_size_come_back(session):
    """Empty ones, many small ones, and one that is larger than a segment."""
    texts = [
        "",
        "é🎉" * 10,
        "x" * (3 * TEXT_SEGMENT),
        *(f"text {number}\n" * 300 for number in range(200)),
        "",
    ]
    refs = pack(session, texts)
    assert list(read_texts(session.pk, 1, refs).values()) == texts
    assert TextSegment.objects.count() > 3
    assert read_texts(session.pk, 1, refs[5:6]) == {5: texts[5]}


def test_a_text_can_be_read_in_part(session):
    """At most so many bytes, and never half a letter."""
    refs = pack(session, ["🎉" * 300])
    assert read_texts(session.pk, 1, refs, most=11) == {0: "🎉🎉"}


def test_a_text_that_was_just_rewritten_is_left_out(session):
    """A reader that comes between two transactions gets no wrong text."""
    refs = pack(session, ["one", "two"])
    TextSegment.objects.all().delete()
    assert read_texts(session.pk, 1, refs) == {}


def test_raw_bytes_come_back_across_segments(tmp_path):
    """Any stretch of the file, also beyond its end."""
    data = random.Random(3).randbytes(3 * RAW_SEGMENT + 1000).hex().encode()
    path = tmp_path / "log"
    path.write_bytes(data)
    file = LogFile.objects.create(workspace=local_workspace(), name="log", key="k", size=len(data))
    packer = Packer(Source("log", path), 0, {})
    bulk_insert(RawSegment, RAW_COLUMNS, [(file.pk, 1, *row) for row in packer.read_to(None)])
    packer.close()
    assert packer.size == len(data)
    for offset, length in (
        (0, 10),
        (RAW_SEGMENT - 5, 10),
        (100, 2 * RAW_SEGMENT),
        (len(data) - 3, 50),
        (0, len(data)),
    ):
        assert read_raw(file, offset, length) == data[offset : offset + length]
    assert read_raw(file, len(data) + 10, 5) == b""
    assert read_raw(file, 5, 0) == b""


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite stores bytes as they are")
def test_bytes_that_are_compressed_are_not_compressed_again():
    """An import does not pay twice for making its log small."""
    asked = """
        SELECT attrelid::regclass::text, attstorage FROM pg_attribute
        WHERE attname IN ('data', 'payload') AND attrelid IN
            ('store_rawsegment'::regclass, 'store_textsegment'::regclass, 'store_memoryversion'::regclass)
    """
    with connection.cursor() as cursor:
        cursor.execute(asked)
        assert {name: bytes(kind, "ascii") if isinstance(kind, str) else kind for name, kind in cursor} == {
            "store_rawsegment": b"e",
            "store_textsegment": b"e",
            "store_memoryversion": b"e",
        }
