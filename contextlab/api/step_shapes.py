"""What the API answers of turns, steps and items: their reports, verdicts and texts."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from contextlab.api.shapes import Number, Shape, Text, Time, Yes
from contextlab.core.items import KINDS, Kind
from contextlab.queries.step import ReportFigures

COMPOSED = tuple(kind.value for kind in KINDS if kind is not Kind.UI)


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
