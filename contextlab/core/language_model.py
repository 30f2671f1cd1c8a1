"""How the core reaches a model: messages in, text and usage out, with a time limit. Nothing else is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from contextlab.core.errors import CompactError


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

    Kinds: no_model, auth, rate_limited, overloaded, timeout, prompt_too_long, refused, empty, bad_answer,
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
