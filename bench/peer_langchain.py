"""LangChain at work on messages, timed from inside; runs in an environment of its own, where nothing of ours is.

    python bench/peer_langchain.py MESSAGES.json WHAT      # prints CPU seconds

Messages are made before the clock starts. For `items`, `tokens` and `clear` each model call of the session is given its
context; `plan` and `compact` are done once over all of it (the fastest of some runs counts).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain.agents.middleware import ClearToolUsesEdit, SummarizationMiddleware
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages, trim_messages
from langchain_core.messages.utils import count_tokens_approximately

ITEMS, TOKENS, KEEP = 200, 32_000, 5
RUNS = 5


def replay(messages: list[BaseMessage], one: Callable[[list[BaseMessage]], Any]) -> float:
    """CPU seconds of giving every model call its context."""
    calls = [place for place, message in enumerate(messages) if isinstance(message, AIMessage)]
    started = time.process_time()
    for place in calls:
        one(messages[:place])
    return time.process_time() - started


def fastest(one: Callable[[], Any]) -> float:
    """CPU seconds of the fastest of some runs."""
    best = float("inf")
    for _ in range(RUNS):
        started = time.process_time()
        one()
        best = min(best, time.process_time() - started)
    return best


def by_items(messages: list[BaseMessage]) -> Any:
    """The newest 200 messages."""
    return trim_messages(messages, max_tokens=ITEMS, token_counter=len, strategy="last")


def by_tokens(messages: list[BaseMessage]) -> Any:
    """The newest messages of 32,000 tokens."""
    return trim_messages(
        messages, max_tokens=TOKENS, token_counter=count_tokens_approximately, strategy="last"
    )


def clear(messages: list[BaseMessage]) -> Any:
    """All but five results cleared, above 32,000 tokens."""
    edit = ClearToolUsesEdit(trigger=TOKENS, keep=KEEP)
    edit.apply(messages, count_tokens=count_tokens_approximately)
    return messages


def summarising() -> SummarizationMiddleware:
    """The middleware with a model that takes no time, and everything to be summarised in its prompt."""
    model = FakeListChatModel(responses=["s"])
    return SummarizationMiddleware(
        model, trigger=("tokens", 1), keep=("messages", 20), trim_tokens_to_summarize=None
    )


def plan(messages: list[BaseMessage]) -> float:
    """Counting, deciding, choosing the cut, and the two parts."""
    middleware = summarising()

    def once() -> Any:
        middleware._ensure_message_ids(messages)
        total = middleware.token_counter(messages)
        assert middleware._should_summarize(messages, total)
        cut = middleware._determine_cutoff_index(messages)
        return middleware._partition_messages(messages, cut)

    return fastest(once)


def compact(messages: list[BaseMessage]) -> float:
    """All that happens before a model call that is due: the plan, the prompt, the summary, the new messages."""
    middleware: Any = summarising()
    return fastest(lambda: middleware.before_model({"messages": messages}, None))


WHAT: dict[str, Callable[[list[BaseMessage]], float]] = {
    "items": lambda messages: replay(messages, by_items),
    "tokens": lambda messages: replay(messages, by_tokens),
    "clear": lambda messages: replay(messages, clear),
    "plan": plan,
    "compact": compact,
}


def main() -> None:
    """Measure one thing."""
    messages = convert_to_messages(json.loads(Path(sys.argv[1]).read_text()))
    print(json.dumps(WHAT[sys.argv[2]](messages)))


if __name__ == "__main__":
    main()
