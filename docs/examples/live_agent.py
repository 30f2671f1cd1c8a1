"""A small agent that reads files, on any endpoint that speaks OpenAI's chat completions; ContextLab keeps its memory.

    export OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_MODEL=qwen3 OPENAI_API_KEY=...
    python docs/examples/live_agent.py "What is this project?" "Which file is the longest?"

Each argument is a turn; without one, lines are read from standard input, and /compact compacts by hand.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai

from contextlab.adapters.openai_model import OpenAIModel
from contextlab.adapters.tokens import counter
from contextlab.core import (
    AgentSession,
    CompactError,
    Context,
    InMemoryOffloadStore,
    Kind,
    Policy,
    parse_policy,
)
from contextlab.core.agent.reload_tool import ReloadTool
from contextlab.core.compaction import Deps
from contextlab.core.summarising.overflow import is_overflow

SYSTEM = "You answer questions about the files of a folder. Look before you answer."
POLICY = parse_policy(
    {
        "version": 1,
        "name": "live-agent",
        # What each call may see at most, whatever memory holds.
        "projector": {"kind": "default", "max_tokens": 100_000},
        # Memory itself, from 60,000 tokens or 60 messages on: large results of earlier turns are put aside behind a
        # preview, then long rounds are summarised by the model.
        "compaction": {
            "kind": "auto_context", "max_token": 80_000, "msg_threshold": 60, "last_keep": 10,
            "large_payload_threshold": 4_000, "gate_s3": False,
            # What a tool gave back and the model has not answered yet stays as it is.
            "keep_unread_results": True,
        },
    }
)  # fmt: skip
MOST_STEPS = 20
ONE_PATH = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "relative to the folder"}},
    "required": ["path"],
}


class Agent:
    """One conversation."""

    def __init__(
        self, base_url: str, model: str, api_key: str | None, folder: Path, policy: Policy = POLICY
    ) -> None:
        """Nothing is asked yet."""
        self.policy = policy
        self.client = openai.OpenAI(base_url=base_url, api_key=api_key or "none")
        self.model = model
        self.folder = folder.resolve()
        store = InMemoryOffloadStore()
        self.reload = ReloadTool(store)
        self.session = AgentSession(
            policy.projector,
            policy.compaction,
            trigger=policy.trigger,
            deps=Deps(
                model=OpenAIModel(base_url, model, api_key),
                count=counter().count,
                offloads=store,
                new_id=lambda what: f"{what}-{uuid.uuid4().hex[:12]}",
            ),
        )
        self.session.add(Kind.SYSTEM, SYSTEM)

    def turn(self, prompt: str) -> str:
        """Work on a prompt until the model has nothing more to call; its last words."""
        with self.session.turn(prompt):
            for _ in range(MOST_STEPS):
                message = self._asked()
                # The parts of one message share an entry; results are entries of their own.
                entry = f"message-{self.session.steps}"
                if message.content:
                    self.session.add(Kind.ASSISTANT, message.content, entry=entry)
                calls = [
                    (call.id, call.function.name, call.function.arguments)
                    for call in message.tool_calls or ()
                ]
                for call_id, tool, arguments in calls:
                    self.session.add(Kind.TOOL_CALL, arguments, tool=tool, call_id=call_id, entry=entry)
                if not calls:
                    return message.content or ""
                for call_id, tool, arguments in calls:
                    self.session.add(Kind.TOOL_RESULT, self._called(tool, arguments), call_id=call_id)
        return "(stopped: too many steps)"

    def compact(self) -> str:
        """Compact by hand; what came of it, for the person."""
        try:
            done = self.session.compact(self.policy.compaction)
        except CompactError as error:  # memory is as it was
            return f"not compacted: {error}"
        return (
            f"{done.state}: {done.tokens_before} -> {done.tokens_after} tokens"
            if done.compacted
            else done.reason
        )

    def _asked(self) -> Any:
        """The model's next message. Where the prompt is refused for its length, memory is compacted, once."""
        try:
            return self._sent(self.session.next_context("openai_chat"))
        except openai.APIStatusError as error:
            if not is_overflow(str(error)):
                raise
        print(f"  the prompt was too long; {self.compact()}", file=sys.stderr)
        return self._sent(self.session.next_context("openai_chat"))

    def _sent(self, context: Context) -> Any:
        report, compaction = context.report, context.compaction
        print(
            f"  step {self.session.steps}: {report.projected_items} of {report.source_items} items, "
            f"{report.projected_tokens:,} tokens ({report.token_source})"
            + (f"; compaction {compaction.state} {compaction.reason}" if compaction else ""),
            file=sys.stderr,
        )
        request: Any = {"model": self.model, "messages": context.messages, "tools": self._tools()}
        answer: Any = self.client.chat.completions.create(**request)
        return answer.choices[0].message

    def _tools(self) -> list[dict[str, Any]]:
        functions = [
            {"name": "list_files", "description": "Names in a folder", "parameters": ONE_PATH},
            {"name": "read_file", "description": "The text of a file", "parameters": ONE_PATH},
            self.reload.schema,
        ]
        return [{"type": "function", "function": function} for function in functions]

    def _called(self, tool: str, arguments: str) -> str:
        """A tool's answer; what goes wrong is an answer too."""
        if tool == self.reload.name:
            return self.reload.answer(arguments)
        try:
            given: dict[str, str] = json.loads(arguments)
            place = (self.folder / given["path"]).resolve()
            if not place.is_relative_to(self.folder):
                return "Outside of the folder."
            if tool == "list_files":
                return "\n".join(sorted(entry.name for entry in place.iterdir()))
            if tool == "read_file":
                return place.read_text(errors="replace")
        except (ValueError, KeyError, TypeError, OSError) as error:
            return f"{type(error).__name__}: {error}"
        return f"There is no tool {tool}."


def prompts(arguments: list[str]) -> Iterator[str]:
    """The person's prompts."""
    yield from arguments or (line.strip() for line in sys.stdin)


def main() -> None:
    """Run."""
    agent = Agent(
        os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_MODEL"], os.environ.get("OPENAI_API_KEY"), Path()
    )
    for prompt in prompts(sys.argv[1:]):
        print(agent.compact() if prompt == "/compact" else agent.turn(prompt))


if __name__ == "__main__":
    main()
