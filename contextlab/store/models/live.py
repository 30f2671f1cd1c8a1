"""Live sessions: what their `live` view has besides a policy, and where versions of their memory came into force."""

# ruff: noqa: DJ008 - these rows never show as text

from __future__ import annotations

from django.db import models

from contextlab.store.models.compactions import MemoryVersion
from contextlab.store.models.views import View


class LiveSession(models.Model):
    """The session behind a view of kind `live`: an agent sends what happens and asks for its memory."""

    view = models.OneToOneField(View, on_delete=models.CASCADE, related_name="live")
    allow_model = models.BooleanField(default=False)
    """Whoever opened it said that automatic compactions may ask the model."""
    taken_step = models.IntegerField(default=0)
    """The step whose memory the agent asked for last: a version made since is that of a later one."""
    log_compactions = models.IntegerField(default=0)
    """Compactions that the agent itself made and told of, as far as they are versions."""


class PolicyChange(models.Model):
    """A live session got another policy. Changes are added, never taken back: what came before stays as it was."""

    view = models.ForeignKey(View, on_delete=models.CASCADE, related_name="policy_changes")
    step = models.IntegerField()
    """The first step under the new one; of two for one step the later one counts."""
    at = models.DateTimeField(auto_now_add=True)
    before = models.JSONField(default=dict)
    """The document that it took the place of."""
    policy = models.JSONField(default=dict)
    """The new document."""


class LiveVersion(models.Model):
    """Where a memory of a live view stands. Steps of versions never go back."""

    memory = models.OneToOneField(
        MemoryVersion, primary_key=True, on_delete=models.CASCADE, related_name="live"
    )
    step = models.IntegerField()
    """The first step that had it."""
    upto = models.IntegerField()
    """It stands for the items below; what the session got from there on follows it."""
    log_compaction = models.IntegerField(null=True)
    """Of one that the agent made: its number among the compactions of the log."""
