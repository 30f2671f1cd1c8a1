"""What the API answers, field by field: the same classes write the answers and describe them in the schema.

Names are those of `contextlab replay`'s JSON (docs/api.md). Unknown is null, never 0.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

Number = serializers.IntegerField
Text = serializers.CharField
Time = serializers.DateTimeField
Yes = serializers.BooleanField
OF_THE_LOG = "those that the log records; GET /api/compactions/?session={id} lists those made here, too"


class Shape(serializers.Serializer[Any]):
    """Fields to write; nothing is ever read with them."""


class TokenTotals(Shape):
    """Sums of what the provider reported; `input` excludes cache reads and writes."""

    input = Number(allow_null=True, source="input_tokens")
    cache_read = Number(allow_null=True, source="cache_read_tokens")
    cache_write = Number(allow_null=True, source="cache_write_tokens")
    output = Number(allow_null=True, source="output_tokens")


class SessionShape(Shape):
    """A session as a row of the list."""

    id = serializers.UUIDField(source="uid")
    title = Text()
    format = Text()
    role = Text(help_text="empty for a main session, else subagent or compaction")
    agent = Text()
    model = Text()
    project = Text(help_text="working directory or repository as the log names it")
    branch = Text()
    sample = Yes()
    turns = Number()
    steps = Number()
    compactions = Number(help_text=OF_THE_LOG)
    micro_compactions = Number()
    subagents = Number()
    peak_tokens = Number(allow_null=True, source="peak")
    peak_source = Text(help_text="reported, counted or estimated")
    limit = Number(allow_null=True, help_text="context window at the last step; null = unknown")
    last_at = Time(allow_null=True)
    file = serializers.UUIDField(allow_null=True)


class ViewShape(Shape):
    """A view of a session: `recorded`, or the session under a policy."""

    name = Text()
    kind = Text()
    steps = Number(help_text="how many steps it has come")
    counted = Yes(help_text="made with exact counts only")
    stale = Yes(help_text="it is going to be made again")


class CompactionShape(Shape):
    """A compaction or micro-compaction that the log records."""

    number = Number()
    micro = Yes()
    at_step = Number(help_text="the first step after it")
    trigger = Text()
    pre_tokens = Number(allow_null=True)
    post_tokens = Number(allow_null=True)
    tokens_saved = Number(allow_null=True)
    opaque = Yes(help_text="the log does not say what the replacement holds")
    summary = Number(allow_null=True, help_text="position of the summary item")
    items_summarised = Number(allow_null=True)
    ts = Time(allow_null=True)


class CompactionLineShape(Shape):
    """A compaction of the workspace: one that a log records, or one that was made here."""

    origin = Text(help_text="log, hand or auto")
    detected = Yes(help_text="the log does not say that it happened: it shows")
    run = serializers.UUIDField(allow_null=True, help_text="of one made here: GET /api/compactions/{run}/")
    number = Number(allow_null=True, help_text="of one of a log: its number in the session")
    session = serializers.UUIDField()
    title = Text()
    project = Text()
    role = Text()
    agent = Text()
    state = Text(
        help_text="queued, running, done, noop, conflict, failed or cancelled; those of logs are done"
    )
    reason = Text(help_text="why nothing was done, or what went wrong")
    at_step = Number(allow_null=True, help_text="the step that the memory stands before")
    trigger = Text()
    policy = Text(help_text="empty for those of logs")
    tokens_before = Number(allow_null=True)
    before_source = Text(help_text="logged, reported, counted or estimated; empty for unknown")
    tokens_after = Number(allow_null=True)
    after_source = Text()
    opaque = Yes(help_text="what the summary says cannot be read")
    facts = serializers.DictField(
        child=Number(),
        allow_null=True,
        help_text="facts of what left, by verdict; null: not looked at yet; empty: unknown",
    )
    branch = Text(allow_null=True)
    version = Number(allow_null=True, help_text="of the branch's memory that it made")
    at = Time(allow_null=True)


class ChildShape(Shape):
    """A session that a tool call of this one started."""

    id = serializers.UUIDField(source="uid")
    title = Text()
    role = Text()
    agent = Text()
    call_id = Text(source="parent_call_id")
    turns = Number()
    steps = Number()


class SessionDetail(Shape):
    """A session with everything that is known about it as a whole."""

    id = serializers.UUIDField(source="uid")
    native_id = Text()
    title = Text()
    title_origin = Text()
    format = Text()
    role = Text()
    agent = Text()
    model = Text()
    project = Text()
    branch = Text()
    version = Text()
    sample = Yes()
    revision = Number()
    turns = Number()
    steps = Number()
    items = Number()
    entries = Number()
    tool_calls = Number()
    tool_results = Number()
    results_without_call = Number()
    calls_without_result = Number()
    compactions = Number(help_text=OF_THE_LOG)
    micro_compactions = Number()
    subagents = Number()
    usage = TokenTotals(source="*")
    peak_tokens = Number(allow_null=True)
    peak_source = Text()
    last_tokens = Number(allow_null=True)
    limit = Number(allow_null=True)
    fill_percent = serializers.FloatField(allow_null=True)
    findings = Number()
    counted = Yes()
    started_at = Time(allow_null=True)
    last_at = Time(allow_null=True)
    file = serializers.UUIDField(allow_null=True, source="file.uid", default=None)
    # DRF takes declared fields out of the class, so that names of its own attributes are free for them.
    parent = serializers.UUIDField(allow_null=True, source="parent.uid", default=None)  # type: ignore[assignment]
    forked_from = serializers.UUIDField(allow_null=True, source="forked_from.uid", default=None)
    shared_steps = Number()
    views = ViewShape(many=True, source="view_rows")
    compaction_list = CompactionShape(many=True)
    children = ChildShape(many=True, source="child_rows")


class RunShape(Shape):
    """Work in the background."""

    id = serializers.UUIDField(source="uid")
    kind = Text()
    state = serializers.ChoiceField(
        choices=["queued", "running", "done", "noop", "conflict", "failed", "cancelled"]
    )
    doing = Text()
    done = Number()
    total = Number(allow_null=True)
    unit = Text()
    file = Text(source="name", help_text="name of the file that it reads")
    sessions = serializers.ListField(child=serializers.UUIDField(), help_text="sessions of that file")
    result = serializers.DictField()
    error = Text(allow_null=True)
    retryable = Yes()
    cancel_requested = Yes()
    finished_at = Time(allow_null=True)


class ErrorBody(Shape):
    """What was wrong, and where."""

    code = Text()
    message = Text()
    place = Text(required=False)


class ErrorShape(Shape):
    """Every error has this shape."""

    error = ErrorBody()
