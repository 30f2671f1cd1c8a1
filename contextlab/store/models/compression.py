"""What live agents keep: how far a conversation is summarised, and originals that were put aside."""

# ruff: noqa: RUF012, DJ008 - Django reads Meta as it is; most rows never show as text

from __future__ import annotations

from django.db import models

from contextlab.store.models.logs import Workspace
from contextlab.store.models.sessions import Session


class CompressionStateRecord(models.Model):
    """The state of one conversation (core.state.CompressionState); written by compare-and-set only."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey(Session, null=True, on_delete=models.CASCADE, related_name="+")
    """The session that the conversation is shown as; the state goes with it."""
    conversation = models.CharField(max_length=255)
    version = models.BigIntegerField()
    payload = models.TextField()
    """JSON, ASCII only (core.state.dump_state)."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "conversation"], name="compression_conversation")
        ]


class OffloadRecord(models.Model):
    """Originals under an id (core.offload.Offload)."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey(Session, null=True, on_delete=models.CASCADE, related_name="+")
    offload = models.CharField(max_length=255)
    reason = models.CharField(max_length=200, default="", blank=True)
    payload = models.BinaryField()
    """The items as JSON (core.codec.dump_items), compressed (zstd)."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "offload"], name="offload_id")]
