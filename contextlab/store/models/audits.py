"""Audits of sessions: what each compaction lost or changed, and what a person should look at.

An audit is made whole and replaced whole; findings keep their rows by key, so that what a person put aside stays aside.
"""

# ruff: noqa: RUF012, DJ008 - Django reads Meta as it is; null is "unknown" here; most rows never show as text

from __future__ import annotations

from django.db import models

from contextlab.store.models.sessions import Session


class SessionAudit(models.Model):
    """The audit of a session as it was read: pages compare `revision` and `items` with the session's."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, related_name="audit")
    revision = models.IntegerField()
    items = models.IntegerField()
    compactions = models.IntegerField(default=0)
    changed = models.IntegerField(default=0)
    """Values that a summary changed, over all compactions."""
    lost_rules = models.IntegerField(default=0)
    counts = models.JSONField(default=dict)
    """Facts by verdict of each compaction that is not micro, by its number (as text): what lists read."""
    payload = models.BinaryField()
    """zstd, JSON: core.audit.answers.audit_answer with positions in the place of ids."""
    made_at = models.DateTimeField(auto_now=True)


class FindingRecord(models.Model):
    """One line of the short list."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="found", db_index=False)
    key = models.CharField(max_length=40)
    """By what it is the same finding after the session grew: its kind and the item that it is about."""
    kind = models.CharField(max_length=30)
    severity = models.CharField(max_length=8)
    title = models.TextField()
    compaction = models.IntegerField(null=True)
    micro = models.BooleanField(default=False)
    step = models.IntegerField(null=True)
    positions = models.JSONField(default=list)
    """Items that show it."""
    weight = models.FloatField(default=0)
    dismissed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="finding_once")]
