"""The state store of the database: one conditional UPDATE, an INSERT for the first version, never read-then-write."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from contextlab.core.state import CompressionState, check_id, check_save, dump_state, load_state
from contextlab.store.models import CompressionStateRecord, Session, Workspace


class DjangoStateStore:
    """Keeps the states of one workspace's conversations; the contract stands in core/state.py."""

    def __init__(self, workspace: Workspace, session: Session | None = None) -> None:
        """States that are first saved here go with the session when it is deleted."""
        self._workspace = workspace
        self._session = session

    def load(self, conversation_id: str) -> CompressionState | None:
        """The stored state, None where there is none."""
        check_id(conversation_id)
        rows = CompressionStateRecord.objects.filter(workspace=self._workspace, conversation=conversation_id)
        payload = rows.values_list("payload", flat=True).first()
        return None if payload is None else load_state(payload)

    def save(self, conversation_id: str, state: CompressionState, expected_version: int) -> bool:
        """Compare and set. Inside a caller's transaction it is part of that; a refusal leaves that one usable."""
        check_save(conversation_id, state, expected_version)
        rows = CompressionStateRecord.objects.filter(
            workspace=self._workspace, conversation=conversation_id, version=expected_version
        )
        payload = dump_state(state)
        if rows.update(version=state.version, payload=payload):
            return True
        return expected_version == 0 and self._insert(conversation_id, state.version, payload)

    def _insert(self, conversation_id: str, version: int, payload: str) -> bool:
        try:
            with transaction.atomic():
                CompressionStateRecord.objects.create(
                    workspace=self._workspace,
                    session=self._session,
                    conversation=conversation_id,
                    version=version,
                    payload=payload,
                )
        except IntegrityError:
            return False
        return True
