"""The offload store of the database: originals compressed, written by one statement."""

from __future__ import annotations

import zstandard

from contextlab.core.codec import dump_items, load_items
from contextlab.core.items import Item
from contextlab.core.offload import Offload
from contextlab.store.models import OffloadRecord, Session, Workspace


class DjangoOffloadStore:
    """Keeps the originals of one workspace; inside a caller's transaction a `put` is part of that."""

    def __init__(self, workspace: Workspace, session: Session | None = None) -> None:
        """Originals that are put here go with the session when it is deleted."""
        self._workspace = workspace
        self._session = session

    def put(self, offload: Offload) -> None:
        """Store; the same id again replaces."""
        packed = zstandard.ZstdCompressor().compress(dump_items(offload.items).encode("ascii"))
        row = OffloadRecord(
            workspace=self._workspace,
            session=self._session,
            offload=offload.id,
            reason=offload.reason,
            payload=packed,
        )
        OffloadRecord.objects.bulk_create(
            [row],
            update_conflicts=True,
            unique_fields=["workspace", "offload"],
            update_fields=["session", "reason", "payload"],
        )

    def get(self, offload_id: str) -> tuple[Item, ...]:
        """The originals, empty for an id that is not known."""
        rows = OffloadRecord.objects.filter(workspace=self._workspace, offload=offload_id)
        packed = rows.values_list("payload", flat=True).first()
        if packed is None:
            return ()
        return unpack_originals(bytes(packed))

    def clear(self, offload_id: str) -> None:
        """Forget; an unknown id is no error."""
        OffloadRecord.objects.filter(workspace=self._workspace, offload=offload_id).delete()


def unpack_originals(packed: bytes) -> tuple[Item, ...]:
    """The items of a row."""
    return load_items(zstandard.ZstdDecompressor().decompress(packed).decode("ascii"))
