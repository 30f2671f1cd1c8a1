"""Token counts by content: the table of all that was ever counted, and the tokenizer for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import connection

from contextlab.adapters.tokens import counter
from contextlab.store.bulk import int_array

_KNOWN = "SELECT hash, tokens FROM store_contentcount WHERE hash"
_GIVEN = "SELECT decode(hex, 'hex') FROM unnest(string_to_array(%s, ',')) AS given(hex)"
"""Many hashes as one text: an array of them costs psycopg ten times as much."""

HASH_BYTES = 32
LOOKED_UP = 512
"""Hashes of one look-up on SQLite, which takes 999 parameters in its oldest builds; a power of two."""


def known(hashes: Sequence[bytes]) -> dict[bytes, int]:
    """The counts of these contents (SHA-256) that are in the table."""
    found: dict[bytes, int] = {}
    if not hashes:
        return found
    # Plain SQL: Django's own look-up of thousands of hashes takes longer than the database's.
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"{_KNOWN} = ANY(ARRAY({_GIVEN}))", [_hex(hashes)])
            return {bytes(digest): tokens for digest, tokens in cursor.fetchall()}
        for start in range(0, len(hashes), LOOKED_UP):
            some = list(hashes[start : start + LOOKED_UP])
            # Up to the next power of two: each length is another statement, of which a connection keeps 128.
            some += some[:1] * ((1 << (len(some) - 1).bit_length()) - len(some))
            cursor.execute(f"{_KNOWN} IN ({', '.join(['%s'] * len(some))})", some)
            found |= {bytes(digest): tokens for digest, tokens in cursor.fetchall()}
    return found


def count(texts: Mapping[bytes, str]) -> dict[bytes, int]:
    """Count contents, given by their hashes."""
    if not texts:
        return {}
    return dict(zip(texts, counter().count_many(list(texts.values())), strict=True))


def remember(counts: Mapping[bytes, int]) -> None:
    """Keep counts for other sessions; somebody else may just have done so."""
    if not counts:
        return
    # In order: a tree takes sorted keys faster, and two writers never wait for each other crosswise.
    rows = sorted(counts.items())
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "INSERT INTO store_contentcount (hash, tokens) SELECT decode(hex, 'hex'), tokens "
                "FROM unnest(string_to_array(%s, ','), %s::int[]) AS given(hex, tokens) ON CONFLICT DO NOTHING",
                [_hex([digest for digest, _ in rows]), int_array(tokens for _, tokens in rows)],
            )
        else:
            cursor.executemany(
                "INSERT INTO store_contentcount (hash, tokens) VALUES (%s, %s) ON CONFLICT DO NOTHING", rows
            )


def _hex(hashes: Sequence[bytes]) -> str:
    """The hashes in hexadecimal digits, with commas between them."""
    return b"".join(hashes).hex(",", HASH_BYTES)
