"""The model of a replay: there is none, and who asks it is found out."""

from __future__ import annotations

from collections.abc import Sequence

from contextlab.core.language_model import ModelError, ModelMessage, ModelReply


class NoModel:
    """Refuses, and remembers that it was asked: what a policy did without it, it would have done with any model."""

    def __init__(self) -> None:
        """Nobody asked yet."""
        self.asked = False

    def complete(
        self,
        messages: Sequence[ModelMessage],  # noqa: ARG002 - the protocol's
        *,
        json_mode: bool = False,  # noqa: ARG002
        max_output_tokens: int | None = None,  # noqa: ARG002
        timeout: float | None = None,  # noqa: ARG002
    ) -> ModelReply:
        """Raise ModelError."""
        self.asked = True
        raise ModelError("no_model", "a replay asks no model")
