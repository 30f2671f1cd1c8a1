"""The tree of a thread gives its ids back as they came."""

from __future__ import annotations

import uuid

import pytest

from contextlab.importers.claude_code.tree import NONE, PACKED, Tree

NO_UUIDS = (
    "u1",
    "",
    "x" * 36,
    "é" * 36,
    "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D",
    "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d ",
    "0a1b2c3d4-e5f-4a6b-8c7d-9e0f1a2b3c4d",
    "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4\n",
    "00000000-0000-0000-0000-000000000000",
)
"""Ids that logs do not write, and the one that stands for them."""


@pytest.mark.parametrize("every", [0, 1, 7])
def test_every_id_comes_back_as_it_was_given(every: int) -> None:
    """Long logs and logs whose ids are no uuids name their items as the log does."""
    tree = Tree()
    names = []
    for number in range(2 * PACKED + 3):
        odd = every and number % every == 0
        name = NO_UUIDS[number % len(NO_UUIDS)] if odd else str(uuid.UUID(int=number << 90 | number))
        names.append(name)
        tree.add(name, NONE)
    assert [tree.uuid(node) for node in range(len(tree))] == names
