"""Asking the model for a summary of messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from contextlab.core.auto_context.messages import Message
from contextlab.core.auto_context.options import AutoContextOptions
from contextlab.core.auto_context.plan import plan_hint, without_plan_tools
from contextlab.core.auto_context.prompts import END_OF_MATERIAL, PROMPTS, size_requirement
from contextlab.core.auto_context.tags import without_tags
from contextlab.core.compaction import Deps
from contextlab.core.items import Item, Kind
from contextlab.core.language_model import ModelError, ModelMessage, ModelUsage, ask_model
from contextlab.core.projecting.stand_ins import attachment

_ASSISTANT = frozenset({Kind.ASSISTANT, Kind.REASONING, Kind.TOOL_CALL})


@dataclass(slots=True, frozen=True)
class Written:
    """What takes the place of something; of a model with what it took and its answer as it came."""

    text: str
    usage: ModelUsage | None = None
    raw: str = ""


def summary_of(
    messages: Sequence[Message],
    strategy: str,
    options: AutoContextOptions,
    deps: Deps,
    size: tuple[int, int] | None = None,
) -> Written:
    """The model's summary; raises ModelError, in safe mode for an empty answer too."""
    if deps.model is None:
        raise ModelError("no_model", f"the strategy {strategy} needs a model, and none is set")
    if deps.progress is not None:
        deps.progress(strategy)
    asked = request(messages, strategy, options, deps, size)
    reply = ask_model(
        deps.model, asked, max_output_tokens=options.max_output_tokens, timeout=options.timeout_seconds
    )
    text = without_tags(reply.text) if options.safe else reply.text
    if options.safe and not text:
        raise ModelError("empty", "the model answered with nothing")
    return Written(text, reply.usage, reply.text)


def request(
    messages: Sequence[Message],
    strategy: str,
    options: AutoContextOptions,
    deps: Deps,
    size: tuple[int, int] | None = None,
) -> list[ModelMessage]:
    """The messages of a request; `size` is (characters of the material, characters wanted)."""
    prompt = options.custom_prompt.get(strategy) or PROMPTS[strategy]
    asked = [ModelMessage("user", prompt)]
    asked += [shown for message in without_plan_tools(messages) if (shown := material(message)) is not None]
    asked.append(ModelMessage("user", END_OF_MATERIAL))
    if deps.instructions.strip():
        asked.append(ModelMessage("user", f"The person asks for this summary:\n{deps.instructions.strip()}"))
    if size is not None:
        asked.append(ModelMessage("user", size_requirement(*size)))
    if (hint := plan_hint(deps.plan)) is not None:
        asked.append(ModelMessage("user", hint))
    return asked


def material(message: Message) -> ModelMessage | None:
    """A message as the summarising model sees it: a JSON object for each item; None where nothing is to be seen."""
    lines = [
        json.dumps(fields, ensure_ascii=False)
        for item, tool in zip(message.items, message.tools, strict=True)
        for fields in _fields(item, tool)
    ]
    if not lines:
        return None
    role = "assistant" if message.items[0].kind in _ASSISTANT else "user"
    return ModelMessage(role, "\n".join(lines), material=True)


def _fields(item: Item, tool: str) -> Iterator[dict[str, Any]]:
    if item.kind in (Kind.UI, Kind.REASONING):
        return
    fields: dict[str, Any] = {"kind": str(item.kind)}
    if tool:
        fields["tool"] = tool
    if item.call_id:
        fields["call_id"] = item.call_id
    if item.error:
        fields["error"] = True
    media = [attachment(one.type, one.mime) for one in item.media]
    yield fields | {"text": "\n".join([item.text, *media]) if media else item.text}
