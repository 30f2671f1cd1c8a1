"""An AgentScope memory in work: its settings, messages and calls as the cases write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from contextlab.core.auto_context.hook import before_model_call
from contextlab.core.auto_context.options import AutoContextOptions
from contextlab.core.auto_context.work import Work
from contextlab.core.compaction import CompactEvent, Deps, Snapshot
from contextlab.core.errors import CompactError
from contextlab.core.items import Item, Kind
from contextlab.core.offload import Offload
from contextlab.core.policies.auto_context import AutoContext
from contextlab.core.testing import CountingIds, ScriptedModel
from tests.core.conformance.cases import case_by_id
from tests.core.conformance.given import items_of

NAMES = {
    "min_compression_tokens": "min_compression_token_threshold",
    "large_payload_chars": "large_payload_threshold",
    "preview_chars": "offload_single_preview",
}
"""Ours for options that the cases name otherwise."""
SAME = ("msg_threshold", "last_keep", "min_consecutive_tool_messages")


@dataclass
class Session:
    """A memory that is compressed again and again, as an agent's loop does it."""

    options: AutoContextOptions
    items: tuple[Item, ...]
    model: ScriptedModel = field(default_factory=ScriptedModel)
    plan: object = None
    events: list[CompactEvent] = field(default_factory=list)
    offloads: list[Offload] = field(default_factory=list)
    error: CompactError | None = None
    ids: CountingIds = field(default_factory=CountingIds)

    def __post_init__(self) -> None:
        self.given = Snapshot(self.items)
        self.memory = self.given

    def deps(self) -> Deps:
        return Deps(model=self.model, new_id=self.ids, plan=self.plan)

    def compress(self) -> bool:
        """One call; what an error leaves behind is taken over as it is."""
        policy = AutoContext(self.options)
        if not policy.should_compact(self.memory).due:
            assert not policy.compact(self.memory, self.deps()).compacted
            return False
        if self.options.safe:
            return self._commit(policy)
        work = Work.start(self.memory, self.options, self.deps())
        try:
            policy.run(work)
        finally:
            self.events += work.events
            self.offloads += work.offloads
        self.memory = Snapshot(tuple(work.view.items()))
        return bool(work.events)

    def _commit(self, policy: AutoContext) -> bool:
        outcome = policy.compact(self.memory, self.deps())
        self.memory = outcome.memory or self.memory
        self.events += outcome.events
        self.offloads += outcome.offloads
        return outcome.compacted

    def attempt(self, auto: bool) -> None:
        """One call whose error is kept; on the automatic path safe mode swallows it."""
        try:
            if auto and self.options.safe:
                prepared = before_model_call(self.memory, AutoContext(self.options), self.deps())
                self.memory = prepared.memory
                assert prepared.error is not None
                assert prepared.outcome is None
            else:
                self.compress()
        except CompactError as error:
            self.error = error

    def is_unchanged(self) -> bool:
        return self.memory is self.given and self.given.items == self.items


def message_items(row: Mapping[str, Any]) -> list[Item]:
    """A message; its text, arguments and results are as long as the case says."""
    if row["kind"] == "tool_message":
        results = enumerate(row["results"])
        return [
            Item(f"{row['id']}/{n}", Kind.TOOL_RESULT, "." * size, row["id"], call_id=call_id)
            for n, (call_id, size) in results
        ]
    plain = {key: value for key, value in row.items() if key not in ("text_chars", "args_chars")}
    if row["kind"] == "tool_call" and "args_chars" in row:
        plain["args_text"] = "." * row["args_chars"]
    items = items_of([plain])
    if "text_chars" in row:
        items.insert(0, Item(f"{row['id']}/text", Kind.ASSISTANT, "." * row["text_chars"], row["id"]))
    return items


def settings_of(case_id: str, mode: str) -> AutoContextOptions:
    options = case_by_id(case_id)["options"]
    return AutoContextOptions(**{NAMES.get(key, key): value for key, value in options.items()}, mode=mode)
