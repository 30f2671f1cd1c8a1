"""Runs: work in the background. The row is the truth, the queue only rings (reliability rules in the docs)."""

# ruff: noqa: RUF012, DJ001, DJ008 - Django reads Meta as it is; null is "unknown" here; most rows never show as text

from __future__ import annotations

import uuid

from django.db import models

from contextlab.store.models.logs import Workspace


class RunState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    NOOP = "noop"
    CONFLICT = "conflict"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINISHED = (RunState.DONE, RunState.NOOP, RunState.CONFLICT, RunState.FAILED, RunState.CANCELLED)


class Run(models.Model):
    """One piece of background work: claimed by conditional update, committed only while the token is still ours."""

    class Kind(models.TextChoices):
        IMPORT = "import", "import a file"
        SCAN = "scan", "scan this machine's logs"
        COUNT = "count", "count tokens"
        PROJECT = "project", "project a view"
        COMPACT = "compact", "compact a memory"
        AUDIT = "audit", "audit a session"
        OBSERVE = "observe", "note what a session brought to light"
        CALIBRATE = "calibrate", "calibrate models"
        INDEX = "index", "make sessions searchable"
        REMEMBER = "remember", "keep user memories"

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    kind = models.CharField(max_length=20, choices=Kind.choices)
    target = models.CharField(max_length=64, default="", blank=True)
    """Uid (hex) of the file, session or view that the run works on."""
    params = models.JSONField(default=dict)
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="children")
    idempotency_key = models.CharField(max_length=120, null=True, unique=True)
    """Set while the run is queued or running, cleared when it ends: asking twice gives one run."""
    state = models.CharField(max_length=10, choices=RunState.choices, default=RunState.QUEUED)
    priority = models.SmallIntegerField(default=0)
    """Lower goes first: 0 somebody waits for it, 1 a log grew, 2 found by a scan, 3 counting after a scan."""
    retryable = models.BooleanField(default=False)
    attempts = models.IntegerField(default=0)
    token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    """A running row without a lease waits for its children."""
    not_before = models.DateTimeField(null=True)
    cancel_requested = models.BooleanField(default=False)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    unit = models.CharField(max_length=20, default="", blank=True)
    doing = models.CharField(max_length=200, default="", blank=True)
    """What it is doing now, for people."""
    result = models.JSONField(default=dict)
    error = models.TextField(default="", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    rung_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["state", "priority", "id"], name="run_state"),
            models.Index(fields=["workspace", "kind", "-created_at"], name="run_kind"),
            models.Index(fields=["target", "kind", "-id"], name="run_target"),
        ]


class Lease(models.Model):
    """A named, leased row: who holds `periodic` does all periodic ringing; a worker's heartbeat is kept likewise."""

    name = models.CharField(max_length=80, primary_key=True)
    holder = models.CharField(max_length=120, default="", blank=True)
    until = models.DateTimeField(null=True)
    beat_at = models.DateTimeField(null=True)
