"""How the core reaches a model: messages in, text and usage out, with a time limit. Nothing else is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from contextlab.core.errors import CompactError, ContextLabError, Interrupt

CUT_OFF = (
    "the model's answer was cut off before its end (its limit of tokens was reached, or a filter stopped it)"
)


@dataclass(slots=True, frozen=True)
class ModelMessage:
    """One message of a request: role `system`, `user` or `assistant`."""

    role: str
    content: str
    material: bool = False
    """It is what shall be summarised: a request that is too long has it shortened or is made in parts of its lines."""


@dataclass(slots=True, frozen=True)
class ModelUsage:
    """What a call took, as the provider reports it; None = not reported. Times in seconds."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    seconds: float | None = None
    model: str | None = None


@dataclass(slots=True, frozen=True)
class ModelReply:
    """A model's answer."""

    text: str
    usage: ModelUsage = ModelUsage()
    cut_off: bool = False
    """It ends before its end: at a limit of tokens, or where a filter stopped it."""


class LanguageModel(Protocol):
    """A model that writes summaries."""

    def complete(
        self,
        messages: Sequence[ModelMessage],
        *,
        json_mode: bool = False,
        max_output_tokens: int | None = None,
        timeout: float | None = None,
    ) -> ModelReply:
        """Answer; raises ModelError. `json_mode` asks for JSON where the endpoint supports it (plain otherwise)."""
        ...


class ModelError(CompactError):
    """A model did not answer. `kind` says why; the message is fit for people and holds no secrets.

    Kinds: no_model, auth, rate_limited, overloaded, timeout, prompt_too_long, refused, empty, cut_off, bad_answer,
    not_allowed, unreachable.
    """

    def __init__(
        self, kind: str, message: str, retry_after: float | None = None, limit: int | None = None
    ) -> None:
        """`retry_after` in seconds where the provider asked for it; `limit` in tokens where it told the prompt's."""
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after
        self.limit = limit

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.kind in ("rate_limited", "overloaded", "timeout", "unreachable", "empty")


def ask_model(
    model: LanguageModel,
    messages: Sequence[ModelMessage],
    *,
    json_mode: bool = False,
    max_output_tokens: int | None = None,
    timeout: float | None = None,
) -> ModelReply:
    """The model's whole answer; raises ModelError, also where it was cut off, and for whatever a model raises."""
    try:
        reply = model.complete(
            messages, json_mode=json_mode, max_output_tokens=max_output_tokens, timeout=timeout
        )
    except (ContextLabError, Interrupt):
        raise
    except Exception as error:  # a model is anything that has this method
        raise ModelError("unreachable", f"the model could not be asked: {error}") from error
    return whole(reply)


def whole(reply: ModelReply) -> ModelReply:
    """The reply; raises ModelError where it was cut off."""
    if reply.cut_off:
        raise ModelError("cut_off", CUT_OFF)
    return reply
