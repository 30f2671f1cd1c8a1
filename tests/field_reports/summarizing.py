"""The models and the policy by which reports have memories summarised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contextlab.core.compaction import CompactPolicy, Deps
from contextlab.core.language_model import ModelError, ModelMessage, ModelReply
from contextlab.core.registry import POLICIES
from contextlab.core.session import AgentSession

from .memories import session_of
from .reports import given


@dataclass
class Summarizer:
    """The model that a report describes."""

    report: Mapping[str, Any]
    asked: list[str] = field(default_factory=list)

    def complete(self, messages: Sequence[ModelMessage], **options: Any) -> ModelReply:
        self.asked.append("\n".join(message.content for message in messages))
        if "raises" in self.report:
            raise ModelError("overloaded", self.report["raises"])
        tokens = len(self.asked[-1]) // 4
        if self.report.get("raises_if_over_window") and tokens > self.report["window"]:
            raise ModelError("prompt_too_long", f"{tokens} tokens > {self.report['window']} maximum")
        return ModelReply(self.report["returns"])


def keeping(entries: int, **options: object) -> CompactPolicy:
    """Our model policy that leaves so many of the newest entries."""
    return POLICIES.get("llm_summary").from_options({"max_items": entries, **options}, "safe")


def compacted(name: str, **options: object) -> AgentSession:
    """The session of a report after a compaction by hand with the report's policy."""
    report = given(name)
    session = session_of(name, deps=Deps(model=Summarizer(report["summarizer"])))
    policy = keeping(report["policy"]["keepRecent"], **options)
    assert session.compact(policy, require_gain=False).compacted
    return session
