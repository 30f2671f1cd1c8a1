"""What the API answers, field by field: the same classes write the answers and describe them in the schema.

Names are those of `contextlab replay`'s JSON (docs/api.md). Unknown is null, never 0.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from contextlab.core.items import KINDS, Kind
from contextlab.queries.step import ReportFigures

Number = serializers.IntegerField
Text = serializers.CharField
Time = serializers.DateTimeField
Yes = serializers.BooleanField
COMPOSED = tuple(kind.value for kind in KINDS if kind is not Kind.UI)


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
    compactions = Number()
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
    compactions = Number()
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


class TurnShape(Shape):
    """A turn: what was asked, and which steps it took."""

    turn = Number(source="number")
    id = Text(source="native_id")
    title = Text()
    trigger = Text(help_text="prompt, command, queued or task")
    status = Text(help_text="what the log says about its end; empty when it says nothing")
    first_position = Number()
    first_step = Number(allow_null=True)
    last_step = Number(allow_null=True)
    ts = Time(allow_null=True)


class ReportShape(Shape):
    """The ContextReport of a step."""

    source_items = Number()
    projected_items = Number()
    dropped_items = Number()
    pinned_items = Number()
    cleared_items = Number()
    reasoning_cleared_items = Number()
    offloaded_items = Number()
    summarised_items = Number()
    source_entries = Number()
    projected_entries = Number()
    dropped_entries = Number()
    source_chars = Number()
    projected_chars = Number()
    source_tokens = Number(allow_null=True)
    projected_tokens = Number(allow_null=True)
    token_source = serializers.ChoiceField(choices=["counted", "estimated"])
    calibrated_tokens = Number(allow_null=True)
    band = serializers.FloatField(allow_null=True, help_text="0.06 = plus or minus 6 %")
    reported_input_tokens = Number(allow_null=True)
    hidden_tokens = Number(allow_null=True, help_text="reported minus what the log shows, calibrated")
    item_limit_applied = Yes()
    character_limit_applied = Yes()
    token_limit_applied = Yes()
    over_budget = Yes()
    composition = serializers.DictField(child=Number(), help_text="projected tokens by kind")
    finding = Text(allow_null=True)
    source_faults = serializers.ListField(child=Text())
    notes = serializers.ListField(child=Text())


class UsageShape(Shape):
    """What the provider reported for a step; input + cache_read + cache_write = prompt."""

    input = Number(allow_null=True)
    cache_read = Number(allow_null=True)
    cache_write = Number(allow_null=True)
    output = Number(allow_null=True)
    reasoning = Number(allow_null=True)
    partial = Yes(source="usage_partial")  # type: ignore[assignment]


class StepShape(Shape):
    """A model call with its report in a view; `report` is null while the view has not come so far."""

    session = serializers.UUIDField()
    view = Text()
    step = Number(source="number")
    turn = Number()
    step_id = Text(source="native_id")
    model = Text(allow_null=True)
    limit = Number(allow_null=True)
    limit_source = Text(help_text="logged, table, or empty for unknown")
    exact = Yes(help_text="the request itself was captured, not reconstructed")
    restart = Text(
        allow_null=True,
        help_text="what the log says began anew before the step: new version 2.1.3, session start, ...",
    )
    ts = Time(allow_null=True)
    usage = UsageShape(source="*")
    report = ReportShape(allow_null=True)


class ItemShape(Shape):
    """An item of the session, as its log has it."""

    id = Text(source="native_id")
    position = Number()
    entry = Number()
    kind = Text()
    turn = Number()
    step = Number(allow_null=True, help_text="the step that produced it")
    first_step = Number(help_text="the first step whose context it can stand in")
    tool = Text(allow_null=True)
    call_id = Text(allow_null=True)
    pair = Number(allow_null=True, help_text="for a result the position of its call")
    chars = Number()
    tokens = Number(allow_null=True, help_text="counted with o200k_base; null until then")
    estimate = Number()
    error = Yes(source="is_error")
    injected = Text(allow_null=True)
    label = Text(allow_null=True)  # type: ignore[assignment]
    media = serializers.ListField(child=serializers.DictField())
    preview = Text()
    ts = Time(allow_null=True)


class ItemDetail(ItemShape):
    """An item with its text; `text` is cut at `text_limit` characters, and `truncated` says so."""

    text = Text()
    truncated = Yes()


class SeenItem(Shape):
    """An item and its fate at a step, as in `contextlab replay --step N`."""

    id = Text()
    position = Number()
    entry = Number()
    kind = Text()
    tool = Text(allow_null=True)
    call_id = Text(allow_null=True)
    verdict = Text()
    reason = Text(allow_null=True)
    tokens = Number(allow_null=True)
    chars = Number()
    in_context = Number(
        allow_null=True, help_text="its place in what was sent, from 0; null = nothing of it was sent"
    )
    replaced_by = Text(allow_null=True, help_text="id of the summary that stands for it")


class SpanShape(Shape):
    """A verdict as a rectangle: positions inclusive, steps half-open; what no span covers is kept."""

    first_item = Number()
    last_item = Number()
    verdict = Text()
    reason = Text(allow_null=True)
    first_step = Number()
    end_step = Number(allow_null=True)


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


def report_values(figures: ReportFigures, reported: int | None) -> dict[str, Any]:
    """A stored report as ReportShape writes it."""
    own = ("composition", "finding", "reported_input_tokens")
    values = {name: getattr(figures, name) for name in map(str, ReportShape().fields) if name not in own}
    composition = dict(zip(COMPOSED, figures.composition, strict=False))
    return values | {
        "composition": composition,
        "finding": figures.finding or None,
        "reported_input_tokens": reported,
    }
