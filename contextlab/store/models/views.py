"""Views of a session: `recorded`, under a policy, or as its agent lived it; their spans and step reports."""

# ruff: noqa: RUF012, DJ008 - Django reads Meta as it is; null is "unknown" here; most rows never show as text

from __future__ import annotations

import uuid

from django.db import models

from contextlab.store.models.sessions import Session


class View(models.Model):
    """A session seen one way. It is complete for `revision` and `steps` of the session, or being made."""

    class Kind(models.TextChoices):
        RECORDED = "recorded"
        POLICY = "policy"
        BRANCH = "branch"
        LIVE = "live"

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="views", db_index=False)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    name = models.CharField(max_length=120)
    """`recorded`, the policy's name, `branch-1`, `branch-1:policy` or `live`: the view's name in URLs."""
    policy = models.JSONField(null=True)
    policy_hash = models.CharField(max_length=64, default="", blank=True)
    revision = models.IntegerField(default=0)
    """Session revision it was projected from; 0 = not yet projected."""
    steps = models.IntegerField(default=0)
    counted = models.BooleanField(default=False)
    """Projected with exact counts only."""
    stale = models.BooleanField(default=True)
    chart = models.JSONField(default=dict)
    """At most 1,200 buckets for the context-window chart (services.chart documents the shape)."""
    digests = models.JSONField(default=list)
    """Digest of each block of step reports as they are stored: a block that stays equal is not written again."""
    calibrations = models.JSONField(null=True)
    """What its figures are calibrated with, by model (core.measuring.calibrations); None: made before that was kept."""
    recalibrate = models.BooleanField(default=False)
    """What is in force has changed since: it is made anew, by and by."""
    version = models.IntegerField(default=0)
    """Raised by every write of a projection: of two at a time the one that comes second stops."""
    base = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="branches")
    """Of a branch: the view that it left, whose steps before `base_step` are its own as well; of the rest of the log
    on top of a branch: that branch."""
    base_step = models.IntegerField(null=True)
    base_upto = models.IntegerField(null=True)
    """Of a branch: its first memory had seen the items below, in its revision."""
    promoted_at = models.DateTimeField(null=True)
    """Of the branch whose memory is the one to go on with."""
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "name"], name="view_name")]
        indexes = [
            models.Index(
                fields=["recalibrate"], name="view_recalibrate", condition=models.Q(recalibrate=True)
            )
        ]

    @property
    def keeps_memory(self) -> bool:
        """Whether it has a memory of its own, in versions: a compaction of it is one more of them."""
        return self.kind in (self.Kind.BRANCH, self.Kind.LIVE)


class SpanRecord(models.Model):
    """A verdict as a rectangle (core.spans.Span)."""

    view = models.ForeignKey(
        View, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    first_item = models.IntegerField()
    last_item = models.IntegerField()
    verdict = models.SmallIntegerField()
    reason = models.CharField(max_length=30, default="", blank=True)
    first_step = models.IntegerField()
    end_step = models.IntegerField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["view", "first_item"], name="span_item"),
            models.Index(fields=["view", "first_step"], name="span_step"),
            models.Index(
                fields=["view", "end_step"], name="span_end", condition=models.Q(end_step__isnull=False)
            ),
        ]


class StepReport(models.Model):
    """The ContextReport of one step in one view (core.report.Report)."""

    view = models.ForeignKey(
        View, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    step = models.IntegerField()
    source_items = models.IntegerField()
    projected_items = models.IntegerField()
    dropped_items = models.IntegerField()
    pinned_items = models.IntegerField()
    cleared_items = models.IntegerField()
    reasoning_cleared_items = models.IntegerField(default=0)
    offloaded_items = models.IntegerField()
    summarised_items = models.IntegerField()
    source_entries = models.IntegerField()
    projected_entries = models.IntegerField()
    dropped_entries = models.IntegerField()
    source_chars = models.BigIntegerField()
    projected_chars = models.BigIntegerField()
    source_tokens = models.BigIntegerField(null=True)
    projected_tokens = models.BigIntegerField(null=True)
    counted = models.BooleanField(default=False)
    calibrated_tokens = models.BigIntegerField(null=True)
    reasoning_tokens = models.BigIntegerField(null=True)
    """Of it, hidden reasoning; None in reports that were made before the two were told apart."""
    blocks = models.IntegerField(null=True)
    band = models.FloatField(null=True)
    hidden_tokens = models.BigIntegerField(null=True)
    limits_hit = models.SmallIntegerField(default=0)
    """Bits: 1 item limit, 2 character limit, 4 token limit, 8 over budget."""
    head_end = models.IntegerField(null=True)
    tail_start = models.IntegerField(null=True)
    composition = models.JSONField(default=list)
    finding = models.CharField(max_length=40, default="", blank=True)
    notes = models.JSONField(default=list)
    source_faults = models.JSONField(default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["view", "step"], name="stepreport_step")]
