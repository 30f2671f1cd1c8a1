"""A workspace's own policies with all their versions, and where views of a policy compacted."""

# ruff: noqa: RUF012, DJ008 - Django reads Meta as it is; null is "unknown" here; most rows never show as text

from __future__ import annotations

import uuid

from django.db import models

from contextlab.store.models.logs import Workspace
from contextlab.store.models.views import View


class PolicyDocument(models.Model):
    """A policy as it is now. Views of its name are made by this document."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="policies")
    name = models.CharField(max_length=80)
    """As in the document; never that of a policy that comes with the package."""
    document = models.JSONField(default=dict)
    policy_hash = models.CharField(max_length=64)
    text = models.TextField()
    """The document as it was typed, JSON or TOML with its comments."""
    version = models.IntegerField(default=1)
    """Raised by every save: of two that edit the same version the second is told."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="policy_name")]

    def __str__(self) -> str:
        return self.name


class PolicyVersion(models.Model):
    """A policy as it was saved once. Versions are added, never changed."""

    policy = models.ForeignKey(
        PolicyDocument, on_delete=models.CASCADE, related_name="versions", db_index=False
    )
    version = models.IntegerField()
    name = models.CharField(max_length=80)
    document = models.JSONField(default=dict)
    policy_hash = models.CharField(max_length=64)
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["policy", "version"], name="policy_version")]


class PolicyCompaction(models.Model):
    """Where a view's policy compacted, or would have: core.replaying.fires.Fire."""

    view = models.ForeignKey(View, on_delete=models.CASCADE, related_name="fires", db_index=False)
    step = models.IntegerField()
    """The first step behind it."""
    made = models.BooleanField(default=False)
    reason = models.CharField(max_length=40, default="", blank=True)
    """Why it was not made."""
    rule = models.CharField(max_length=200, default="", blank=True)
    estimate = models.BigIntegerField(null=True)
    threshold = models.BigIntegerField(null=True)
    tokens_before = models.BigIntegerField(null=True)
    tokens_after = models.BigIntegerField(null=True)
    summarised = models.IntegerField(default=0)
    method = models.CharField(max_length=12, default="", blank=True)
    summary = models.TextField(default="", blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["view", "step"], name="policycompaction_step")]


class PolicyDecisions(models.Model):
    """Decisions of a view's policy before neighbouring steps that came to the same: core.replaying.decisions."""

    view = models.ForeignKey(View, on_delete=models.CASCADE, related_name="decisions", db_index=False)
    first_step = models.IntegerField()
    last_step = models.IntegerField()
    outcome = models.CharField(max_length=12)
    reason = models.CharField(max_length=300, default="", blank=True)
    rule = models.CharField(max_length=200, default="", blank=True)
    threshold = models.BigIntegerField(null=True)
    lowest = models.BigIntegerField(null=True)
    highest = models.BigIntegerField(null=True)
    """Of the estimates; null where the rule has none."""
    estimates = models.BinaryField(null=True)
    """The estimate of each step: differences to the one before as 64-bit numbers, little-endian, zstd."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["view", "first_step"], name="policydecisions_step")]
