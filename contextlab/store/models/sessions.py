"""Sessions and what they consist of: items, turns, steps, the log's own marks and compactions, texts."""

# ruff: noqa: RUF012, DJ001, DJ008 - Django reads Meta as it is; null is "unknown" here; most rows never show as text

from __future__ import annotations

import uuid

from django.db import models

from contextlab.store.models.logs import LogFile, Workspace


class Session(models.Model):
    """One recorded run of an agent, with its counters: no page aggregates over rows."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="sessions", db_index=False
    )
    file = models.ForeignKey(LogFile, null=True, on_delete=models.SET_NULL, related_name="sessions")
    native_id = models.CharField(max_length=255)
    format = models.CharField(max_length=40)
    revision = models.IntegerField(default=1)
    role = models.CharField(max_length=20, default="", blank=True)
    """Empty for a main session, `subagent`, `compaction`."""
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="children")
    parent_native_id = models.CharField(max_length=255, default="", blank=True)
    parent_call_id = models.CharField(max_length=255, default="", blank=True)
    forked_from = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="forks")
    forked_native_id = models.CharField(max_length=255, default="", blank=True)
    shared_steps = models.IntegerField(default=0)
    """Leading steps that belong to the session it was forked from; their usage counts there."""
    title = models.CharField(max_length=300, default="", blank=True)
    title_origin = models.CharField(max_length=10, default="", blank=True)
    agent = models.CharField(max_length=120, default="", blank=True)
    model = models.CharField(max_length=120, default="", blank=True)
    project = models.CharField(max_length=400, default="", blank=True)
    branch = models.CharField(max_length=200, default="", blank=True)
    version = models.CharField(max_length=60, default="", blank=True)
    sample = models.BooleanField(default=False)
    first_item = models.CharField(max_length=255, default="", blank=True)
    """native_id of the first item in memory: sessions that begin with the same one are forks of each other."""

    # counters
    turns = models.IntegerField(default=0)
    steps = models.IntegerField(default=0)
    items = models.IntegerField(default=0)
    entries = models.IntegerField(default=0)
    tool_calls = models.IntegerField(default=0)
    tool_results = models.IntegerField(default=0)
    results_without_call = models.IntegerField(default=0)
    calls_without_result = models.IntegerField(default=0)
    compactions = models.IntegerField(default=0)
    micro_compactions = models.IntegerField(default=0)
    subagents = models.IntegerField(default=0)
    text_chars = models.BigIntegerField(default=0)
    input_tokens = models.BigIntegerField(null=True)
    cache_read_tokens = models.BigIntegerField(null=True)
    cache_write_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    peak_tokens = models.BigIntegerField(null=True)
    """Largest context of a step: reported where the log reports it, else counted or estimated (peak_source)."""
    peak_source = models.CharField(max_length=10, default="", blank=True)
    last_tokens = models.BigIntegerField(null=True)
    limit = models.BigIntegerField(null=True)
    """Context window at the last step, None = unknown."""
    fill_percent = models.FloatField(null=True)
    """Peak against the limit that applied there."""
    sparkline = models.JSONField(default=list)
    """At most 45 bars: [largest context of the bucket, 1 if a compaction lies in it]."""
    findings = models.IntegerField(default=0)
    counted = models.BooleanField(default=False)
    """True when every item has an exact count."""
    started_at = models.DateTimeField(null=True)
    last_at = models.DateTimeField(null=True)
    """Time of the last event in the log; None when the log has no times."""
    sort_at = models.DateTimeField()
    """last_at, else when it was imported."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "format", "native_id"], name="session_native")
        ]
        indexes = [
            models.Index(fields=["workspace", "role", "-sort_at"], name="session_sort"),
            models.Index(fields=["workspace", "project", "branch"], name="session_project"),
            models.Index(fields=["parent_native_id"], name="session_parent_native"),
            models.Index(fields=["first_item"], name="session_first_item"),
        ]

    def __str__(self) -> str:
        return self.title or self.native_id


class LinkRecord(models.Model):
    """A tool call of the session started another session, which may not have been imported yet."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="links", db_index=False)
    child_native_id = models.CharField(max_length=255)
    call_id = models.CharField(max_length=255)
    agent = models.CharField(max_length=120, default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "child_native_id", "call_id"], name="link_once")
        ]
        indexes = [models.Index(fields=["child_native_id"], name="link_child")]


class SessionRow(models.Model):
    """What every row of a session has. No index on the session alone: each table's unique key begins with it.

    There are many of them, so bulk_insert looks their session up, not a constraint.
    """

    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    revision = models.IntegerField(default=1)

    class Meta:
        abstract = True


class TextSegment(SessionRow):
    """About 128 KB of item texts (UTF-8), compressed (zstd). Items point into it by byte offset and length."""

    number = models.IntegerField()
    length = models.IntegerField()
    sha256 = models.CharField(max_length=64)
    data = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "revision", "number"], name="textsegment_number")
        ]


class ItemRecord(SessionRow):
    """One item: typed columns for pages, the text by reference."""

    position = models.IntegerField()
    native_id = models.CharField(max_length=255)
    kind = models.SmallIntegerField()
    """Index into core.items.KINDS."""
    entry = models.IntegerField()
    turn = models.IntegerField()
    step = models.IntegerField(null=True)
    """Number of the step that produced it."""
    first_step = models.IntegerField()
    pair = models.IntegerField(null=True)
    """For a result the position of its call."""
    tool = models.CharField(max_length=200, default="", blank=True)
    call_id = models.CharField(max_length=255, default="", blank=True)
    flags = models.SmallIntegerField(default=0)
    injected = models.CharField(max_length=20, default="", blank=True)
    label = models.CharField(max_length=60, default="", blank=True)
    chars = models.IntegerField()
    tokens = models.IntegerField(null=True)
    """Counted with o200k_base; None until then."""
    estimate = models.IntegerField()
    opaque_chars = models.IntegerField(default=0)
    content_hash = models.BinaryField(max_length=32)
    """sha256 of what is counted: the text, for a call its name with its arguments behind it."""
    preview = models.CharField(max_length=240, default="", blank=True)
    text_segment = models.IntegerField()
    text_offset = models.IntegerField()
    text_length = models.IntegerField()
    raw_offset = models.BigIntegerField(null=True)
    raw_length = models.IntegerField(null=True)
    line = models.IntegerField(null=True)
    media = models.JSONField(null=True)
    original = models.TextField(null=True)
    """Where the agent itself put the original (relative path), None when it did not offload it."""
    ts = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "revision", "position"], name="item_position")
        ]
        indexes = [models.Index(fields=["session", "native_id"], name="item_native")]


class TurnRecord(SessionRow):
    """A turn: what was asked, which steps it took."""

    number = models.IntegerField()
    native_id = models.CharField(max_length=255)
    trigger = models.CharField(max_length=20, default="prompt")
    status = models.CharField(max_length=20, default="", blank=True)
    title = models.CharField(max_length=240, default="", blank=True)
    first_position = models.IntegerField()
    first_step = models.IntegerField(null=True)
    last_step = models.IntegerField(null=True)
    ts = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "revision", "number"], name="turn_number")]


class StepRecord(SessionRow):
    """A model call, with what the provider reported for it."""

    number = models.IntegerField()
    native_id = models.CharField(max_length=255)
    turn = models.IntegerField()
    upto = models.IntegerField()
    """Items at positions below it stood before the call."""
    model = models.CharField(max_length=120, default="", blank=True)
    limit = models.BigIntegerField(null=True)
    limit_source = models.CharField(max_length=10, default="", blank=True)
    """logged, table, or empty for unknown."""
    exact = models.BooleanField(default=False)
    input = models.BigIntegerField(null=True)
    cache_read = models.BigIntegerField(null=True)
    cache_write = models.BigIntegerField(null=True)
    output = models.BigIntegerField(null=True)
    reasoning = models.BigIntegerField(null=True)
    usage_partial = models.BooleanField(default=False)
    restart = models.CharField(max_length=120, default="", blank=True)
    """What the log says began anew before it; empty where nothing did."""
    ts = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "revision", "number"], name="step_number")]
        indexes = [models.Index(fields=["session", "revision", "turn", "number"], name="step_turn")]


class MarkRecord(SessionRow):
    """A change of fate that the log records (core.timeline.Mark)."""

    number = models.IntegerField()
    at_step = models.IntegerField()
    upto = models.IntegerField()
    verdict = models.SmallIntegerField()
    reason = models.CharField(max_length=30)
    positions = models.JSONField(default=list)
    all_before = models.BooleanField(default=False)
    compaction = models.IntegerField(null=True)
    summary = models.IntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "revision", "number"], name="mark_number")]


class CompactionRecord(SessionRow):
    """A compaction (or micro-compaction) that the log records."""

    number = models.IntegerField()
    micro = models.BooleanField(default=False)
    native_id = models.CharField(max_length=255)
    at_step = models.IntegerField()
    upto = models.IntegerField()
    origin = models.CharField(max_length=10, default="recorded")
    trigger = models.CharField(max_length=30, default="", blank=True)
    pre_tokens = models.BigIntegerField(null=True)
    post_tokens = models.BigIntegerField(null=True)
    tokens_saved = models.BigIntegerField(null=True)
    opaque = models.BooleanField(default=False)
    summary = models.IntegerField(null=True)
    items_summarised = models.IntegerField(null=True)
    ts = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "revision", "micro", "number"], name="compaction_number"
            )
        ]
        indexes = [
            models.Index(fields=["-ts", "-id"], name="compaction_newest", condition=models.Q(micro=False))
        ]


class ContentCount(models.Model):
    """Token counts once per content: the cache is the table."""

    hash = models.BinaryField(max_length=32, primary_key=True)
    tokens = models.IntegerField()
    """o200k_base."""
