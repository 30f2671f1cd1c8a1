"""Compactions asked for here: what was asked and what came of it, the model's answers, the memories after it.

The run row says how far a compaction is and the job beside it what it is about. A branch is a view that ends in one
memory; its memories are versions that are only ever added.
"""

# ruff: noqa: RUF012, DJ001, DJ008 - Django reads Meta as it is; null is "unknown" here; most rows never show as text

from __future__ import annotations

from django.db import models

from contextlab.store.models.runs import Run
from contextlab.store.models.sessions import Session
from contextlab.store.models.views import View


class CompactionJob(models.Model):
    """One compaction: its request, and its result once there is one. Public id: that of its run."""

    class Trigger(models.TextChoices):
        MANUAL = "manual"
        AUTO = "auto"

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="compaction")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="compaction_jobs")

    # what was asked
    base_view = models.ForeignKey(View, on_delete=models.CASCADE, related_name="+")
    base_version = models.IntegerField(null=True)
    """Version of the branch's memory that was read; None where the base is a view of the log."""
    before_step = models.IntegerField(null=True)
    """As if before this step; None: after the last one."""
    before_compaction = models.IntegerField(null=True)
    """The memory that this compaction of the log found, in the place of `before_step`."""
    policy = models.JSONField(default=dict)
    policy_hash = models.CharField(max_length=64)
    policy_name = models.CharField(max_length=80)
    instructions = models.TextField(default="", blank=True)
    keep_recent = models.IntegerField(null=True)
    pins = models.JSONField(default=list)
    """Native ids of the items that must stay."""
    trigger = models.CharField(max_length=10, choices=Trigger.choices, default=Trigger.MANUAL)
    allow_model = models.BooleanField(default=False)
    """A person said that the model may be asked."""
    model = models.CharField(max_length=200, default="", blank=True)
    key = models.CharField(max_length=120, null=True, unique=True)
    """The caller's idempotency key with the session's id: the same again is this run, also after its end."""
    asked_at = models.DateTimeField(auto_now_add=True)

    # what came of it
    revision = models.IntegerField(null=True)
    """Session revision that positions below belong to. These three are known as soon as memory was read."""
    at_step = models.IntegerField(null=True)
    """The step that the memory stands before; one more than the session had steps: after the last one."""
    upto = models.IntegerField(null=True)
    """Items of the log that had been seen."""
    reason = models.CharField(max_length=40, default="", blank=True)
    """Why nothing was done: nothing_to_summarise, no_gain ..."""
    raw_reply = models.TextField(null=True)
    usage = models.JSONField(null=True)
    prices = models.JSONField(null=True)
    """Unit prices and version of the price list that `cost` was computed with; None = no price known."""
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    """US dollars; None = unknown."""
    payback = models.JSONField(null=True)
    """After how many steps it pays back, with the shares of the input price that this was computed from."""
    method = models.CharField(max_length=12, default="", blank=True)
    result = models.JSONField(null=True)
    """The sections, named as the command line's contract names them."""
    report = models.JSONField(null=True)
    fates = models.JSONField(default=list)
    """Runs of items [first position, last, verdict, reason] of what was read, in order."""
    offloads = models.JSONField(default=list)
    """The originals that it put aside: [{id, reason, items}]."""
    events = models.JSONField(default=list)
    flags = models.JSONField(default=list)
    """What a person should look at: [{section, text, why}] (a confirmation that no user item supports ...)."""
    tokens_before = models.BigIntegerField(null=True)
    tokens_after = models.BigIntegerField(null=True)
    token_source = models.CharField(max_length=10, default="", blank=True)
    """counted or estimated; empty before the end."""
    seconds = models.FloatField(null=True)
    facts = models.JSONField(null=True)
    """Facts of the items that left, by verdict; None: nobody has looked yet, empty: it cannot be told."""

    class Meta:
        indexes = [
            models.Index(fields=["session", "-id"], name="compaction_session"),
            models.Index(fields=["-asked_at", "-id"], name="compaction_asked"),
        ]


class ModelAnswer(models.Model):
    """What a model answered to one request of a run, kept before it is read: a second attempt does not pay again."""

    job = models.ForeignKey(CompactionJob, on_delete=models.CASCADE, related_name="answers", db_index=False)
    request = models.CharField(max_length=64)
    """sha256 (hex) of the request."""
    text = models.TextField()
    usage = models.JSONField(default=dict)
    cut_off = models.BooleanField(default=False)
    """It ends before its end: it cost what it cost, and is no summary."""
    answered_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "request"], name="answer_once")]


class MemoryVersion(models.Model):
    """A memory of a branch. Versions are added, never changed; the highest is the one in force."""

    class Origin(models.TextChoices):
        BASE = "base", "as it stood before"
        COMPACTION = "compaction", "a compaction"
        RESTORE = "restore", "an earlier version again"

    view = models.ForeignKey(View, on_delete=models.CASCADE, related_name="memories", db_index=False)
    version = models.IntegerField()
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="children")
    created_by = models.CharField(max_length=12, choices=Origin.choices)
    compaction = models.ForeignKey(
        CompactionJob, null=True, on_delete=models.SET_NULL, related_name="memories"
    )
    items = models.IntegerField(default=0)
    tokens = models.BigIntegerField(null=True)
    token_source = models.CharField(max_length=10, default="", blank=True)
    """counted or estimated; empty where nobody wrote it down."""
    summary = models.TextField(null=True)
    restored = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    """The version that it is again."""
    payload = models.BinaryField(null=True)
    """Items (zstd, JSON): native ids of those that stand as in the log, others whole. None: as the base view has it."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["view", "version"], name="memory_version")]

    @property
    def same_as(self) -> MemoryVersion:
        """The version whose memory this is: itself, or the one that it is again."""
        return self.restored or self
