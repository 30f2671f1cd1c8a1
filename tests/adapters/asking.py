"""One call of a model at a scripted endpoint."""

from __future__ import annotations

import pytest

from contextlab.adapters.openai_model import OpenAIModel
from contextlab.core.language_model import ModelError, ModelMessage, ModelReply
from tests.support.fake_openai import (
    FakeOpenAI,
    Way,
)

KEY = "sk-canary-0123456789abcdef0123456789"
ASKED = [ModelMessage("system", "Answer with JSON."), ModelMessage("user", "TRANSCRIPT")]


def complete(*script: Way, key: str | None = KEY, timeout: float = 5, **options: object) -> ModelReply:
    """One answer of an endpoint with this script."""
    with FakeOpenAI(*script) as server:
        return OpenAIModel(server.url, "m", key, timeout=timeout).complete(ASKED, **options)  # type: ignore[arg-type]


def failure(*script: Way, **options: object) -> ModelError:
    """The error of an endpoint with this script."""
    with pytest.raises(ModelError) as caught:
        complete(*script, **options)  # type: ignore[arg-type]
    assert KEY not in str(caught.value)
    assert "TRANSCRIPT" not in str(caught.value)
    return caught.value
