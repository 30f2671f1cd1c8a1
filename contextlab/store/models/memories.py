"""Memories: what turns brought to light, what sessions came to, what is known of users.

A batch is one reading of a turn (or, as turn 0, of a session): rows of it are written in one transaction with it. A
session holds each content once, whoever writes it.
"""

# ruff: noqa: RUF012, DJ001, DJ008 - Django reads Meta as it is; null is "unknown" here; most rows never show as text

from __future__ import annotations

import uuid

from django.db import models

from contextlab.store.models.logs import Workspace
from contextlab.store.models.sessions import Session

WHOLE_SESSION = 0
"""The turn of a batch that read the whole session."""


class ObservationBatch(models.Model):
    """One turn as it was read once, by rules or by a model, and what became of the answer."""

    class Fate(models.TextChoices):
        ANSWERED = "answered", "a model answered; not read yet"
        STORED = "stored"
        SKIPPED = "skipped"
        DISCARDED = "discarded"
        PENDING = "pending", "the provider refused; asked again when a person goes on"

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="observation_batches", db_index=False
    )
    turn = models.IntegerField()
    method = models.CharField(max_length=10)
    """rules or model."""
    digest = models.CharField(max_length=64)
    """sha256 (hex) of what was read, so that a turn that grew is read again."""
    fate = models.CharField(max_length=10, choices=Fate.choices)
    answer = models.TextField(null=True)
    """The model's answer, kept before it is read: a second attempt does not pay again."""
    answer_class = models.CharField(max_length=10, default="", blank=True)
    preview = models.CharField(max_length=200, default="", blank=True)
    """Of an answer that was discarded or put back."""
    skip_reason = models.CharField(max_length=400, default="", blank=True)
    raw_tokens = models.BigIntegerField(null=True)
    """Of the items that were read."""
    raw_source = models.CharField(max_length=10, default="", blank=True)
    """counted or estimated."""
    discovery_tokens = models.BigIntegerField(null=True)
    """What writing took, as reported by the provider: 0 by rules; None = not reported."""
    model = models.CharField(max_length=200, default="", blank=True)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    """US dollars; None = unknown."""
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "turn", "method"], name="batch_once")]


class ObservationRecord(models.Model):
    """One observation."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="observations", db_index=False
    )
    batch = models.ForeignKey(ObservationBatch, on_delete=models.CASCADE, related_name="observations")
    turn = models.IntegerField()
    content_hash = models.CharField(max_length=16)
    type = models.CharField(max_length=60)
    title = models.TextField(null=True)
    subtitle = models.TextField(null=True)
    narrative = models.TextField(null=True)
    facts = models.JSONField(default=list)
    concepts = models.JSONField(default=list)
    files_read = models.JSONField(default=list)
    files_modified = models.JSONField(default=list)
    items = models.JSONField(default=list)
    """Native ids of the items that it comes from."""
    words = models.TextField(default="", blank=True)
    """All its text in lower case, for the search."""
    read_tokens = models.IntegerField()
    """What reading it costs, estimated."""
    happened_at = models.DateTimeField(null=True)
    """When its turn began, as the log says."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "content_hash"], name="observation_once")]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="observation_newest"),
            models.Index(fields=["workspace", "type", "-id"], name="observation_type"),
            models.Index(fields=["session", "turn"], name="observation_turn"),
        ]


class ObservationTag(models.Model):
    """A file or a concept of an observation, for filters."""

    class Kind(models.TextChoices):
        FILE = "file"
        CONCEPT = "concept"

    observation = models.ForeignKey(
        ObservationRecord, on_delete=models.CASCADE, related_name="tags", db_index=False
    )
    kind = models.CharField(max_length=8, choices=Kind.choices)
    value = models.CharField(max_length=400)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["observation", "kind", "value"], name="tag_once")]
        indexes = [models.Index(fields=["kind", "value"], name="tag_value")]


class SessionSummaryRecord(models.Model):
    """What a session came to; one for each method."""

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="session_summaries", db_index=False
    )
    batch = models.OneToOneField(ObservationBatch, on_delete=models.CASCADE, related_name="summary")
    request = models.TextField(null=True)
    investigated = models.TextField(null=True)
    learned = models.TextField(null=True)
    completed = models.TextField(null=True)
    next_steps = models.TextField(null=True)
    notes = models.TextField(null=True)
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["session"], name="summary_session")]


class MemorySettings(models.Model):
    """What a workspace lets memory work do. No row: the defaults; no model is asked."""

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, related_name="memory_settings")
    allow_model = models.BooleanField(default=False)
    """A person said once that models may be asked here; each run is confirmed besides, with its tokens and cost."""
    add_memory = models.BooleanField(default=True)
    update_memory = models.BooleanField(default=True)
    delete_memory = models.BooleanField(default=False)
    clear_memories = models.BooleanField(default=False)
    capture_instructions = models.TextField(default="", blank=True)
    additional_instructions = models.TextField(default="", blank=True)


class ObservationPrompts(models.Model):
    """A project's own prompts; empty texts: ours."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    project = models.CharField(max_length=400, default="", blank=True)
    """Empty: for projects without prompts of their own."""
    observe = models.TextField(default="", blank=True)
    summarise = models.TextField(default="", blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "project"], name="prompts_project")]


class UserMemoryRecord(models.Model):
    """One thing known of a user. It stands while nothing replaced it and nobody took it away."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    user_id = models.CharField(max_length=200)
    agent_id = models.CharField(max_length=200, default="", blank=True)
    team_id = models.CharField(max_length=200, default="", blank=True)
    memory = models.TextField()
    topics = models.JSONField(null=True)
    input = models.TextField(null=True)
    """What it was taken from."""
    replaced_by = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="replaces")
    deleted_at = models.DateTimeField(null=True)
    version = models.IntegerField(default=1)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["workspace", "user_id", "id"], name="usermemory_owner")]


class UserMemoryVersion(models.Model):
    """What happened to a memory. Versions are added, never changed."""

    class Event(models.TextChoices):
        ADDED = "added"
        UPDATED = "updated"
        MERGED = "merged", "made of several"
        REPLACED = "replaced", "made part of another"
        DELETED = "deleted"
        RESTORED = "restored"

    memory = models.ForeignKey(
        UserMemoryRecord, on_delete=models.CASCADE, related_name="versions", db_index=False
    )
    version = models.IntegerField()
    event = models.CharField(max_length=10, choices=Event.choices)
    text = models.TextField()
    topics = models.JSONField(null=True)
    happened_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["memory", "version"], name="usermemory_version")]
