"""A model summarises everything before a turn; the newest entries stay as they are.

| step      | rule                                                                                                  |
|-----------|-------------------------------------------------------------------------------------------------------|
| due       | more entries than `max_items`, the summary not counted                                                |
| cut       | `max_items` from the end, back to a turn's start; pairs stay whole, what is open stays (see cut.py)    |
| pins      | system items and a person's pins stay where they are, with the other one of their pair                 |
| nothing   | nothing before the cut: no call, no result, memory as it is                                           |
| ui        | what only the person saw is not counted, not summarised, and stays                                    |
| carried   | the earlier summary goes into the request, the lists of files grow from result to result              |
| too long  | a prompt that the model cannot take is tried once more with less of what tools gave back              |
| failure   | an error or a blank answer is raised; `fallback: mechanical` writes a summary without the model instead |

Reference mode is the original: the cut may split a pair, an empty request is sent, a failure becomes a stub.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.budget import Mode
from contextlab.core.committing.claims import marked, words_of_user
from contextlab.core.compaction import CompactResult, Decision, Deps, Outcome, Snapshot
from contextlab.core.documents.options import Options, read_mode
from contextlab.core.errors import CompactError
from contextlab.core.items import Item
from contextlab.core.language_model import ModelError, ModelMessage, ModelReply
from contextlab.core.measuring.figures import Figures
from contextlab.core.measuring.memory_size import context_items, snapshot_starts
from contextlab.core.policies.structured_summary import by_entries, more_entries
from contextlab.core.sections import is_empty, keep_known_items, read_reply
from contextlab.core.summarising.asking import SHORT, ask, is_too_long, summary_request
from contextlab.core.summarising.cut import Entries, safe_cut, turn_boundary
from contextlab.core.summarising.file_tracking import Files, cumulative, files_of
from contextlab.core.summarising.local_summary import local_summary
from contextlab.core.summarising.outcomes import NOTHING, nothing_done, pinned_ids, replaced_by_summary

OPTIONS = ("max_items", "max_output_tokens", "timeout_seconds", "fallback")
PROSE = "the model's answer was no JSON object: all of its text is the summary"
NO_SECTION = "the model's answer has none of the sections that were asked for: its text is the summary"
STUB = "Compaction summary unavailable (LLM summarization failed). {} items were summarized."
"""Reference mode only: what the original writes over memory when its model fails."""


@dataclass(slots=True, frozen=True)
class LlmSummary:
    """Summarises by a model, cut at a turn's start."""

    kind: ClassVar[str] = "llm_summary"
    needs_model: ClassVar[bool] = True
    max_items: int | None = None
    max_output_tokens: int | None = None
    timeout_seconds: int | None = None
    fallback: str = "fail"
    mode: Mode = "safe"

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Read the options; raises PolicyError."""
        given = Options(options, OPTIONS, "compaction")
        max_items = given.limit("max_items")
        return cls(
            max_items if max_items is None or max_items >= 0 else None,
            given.limit("max_output_tokens"),
            given.limit("timeout_seconds"),
            given.choice("fallback", "fail", ("fail", "mechanical")),
            read_mode(mode),
        )

    def should_compact(self, snapshot: Snapshot) -> Decision:
        """Due when there are more entries than max_items."""
        return more_entries(snapshot, self.max_items)

    def judge(self, figures: Figures) -> Decision:
        """The same by figures alone."""
        return by_entries(figures.entries, self.max_items)

    def compact(self, snapshot: Snapshot, deps: Deps) -> Outcome:
        """Summarise what stands before the cut; raises ModelError."""
        items = context_items(snapshot)
        if not items:
            return nothing_done(NOTHING, snapshot, deps)
        entries = Entries(items, snapshot_starts(snapshot))
        before = items[: entries.start(self.cut(entries))]
        if self.mode == "reference":
            return self._as_the_original(snapshot, before, deps)
        pins = pinned_ids(items, deps)
        covered = [item for item in before if item.id not in pins] if pins else before
        if not covered:
            return nothing_done(NOTHING, snapshot, deps)
        files = cumulative(snapshot.last_result, files_of(covered))
        return self._covering(snapshot, covered, self._result(snapshot, covered, files, deps), deps)

    def cut(self, entries: Entries) -> int:
        """The entry at which memory is cut."""
        wanted = len(entries) - min(len(entries) if self.max_items is None else self.max_items, len(entries))
        if self.mode == "reference":
            return turn_boundary(entries, wanted, any_user=True)
        cut = turn_boundary(entries, wanted)
        return cut if self.max_items == 0 else safe_cut(entries, cut)

    def _result(self, snapshot: Snapshot, covered: Sequence[Item], files: Files, deps: Deps) -> CompactResult:
        try:
            reply = self._ask(snapshot, covered, files, deps)
        except CompactError as error:
            if self.fallback != "mechanical":
                raise
            result = local_summary(snapshot, covered, files, "mechanical_fallback")
            result.notes.append(f"no model wrote this summary: {error}")
            return result
        return read_result(reply, covered, files)

    def _ask(self, snapshot: Snapshot, covered: Sequence[Item], files: Files, deps: Deps) -> ModelReply:
        messages = summary_request(covered, snapshot.summary, files, deps)
        try:
            return self._asked(messages, deps)
        except CompactError as error:
            shorter = summary_request(covered, snapshot.summary, files, deps, SHORT)
            if self.mode == "reference" or not is_too_long(error) or shorter == messages:
                raise
        return self._asked(shorter, deps)

    def _asked(self, messages: Sequence[ModelMessage], deps: Deps) -> ModelReply:
        return ask(messages, deps, max_output_tokens=self.max_output_tokens, timeout=self.timeout_seconds)

    def _as_the_original(self, snapshot: Snapshot, covered: Sequence[Item], deps: Deps) -> Outcome:
        files = files_of(covered, "reference")
        try:
            result = read_result(self._ask(snapshot, covered, files, deps), covered, files)
        except CompactError:
            result = CompactResult(summary=STUB.format(len(covered)), strategy=self.kind)
        outcome = self._covering(snapshot, covered, result, deps)
        outcome.reason = "" if covered else NOTHING
        return outcome

    def _covering(
        self, snapshot: Snapshot, covered: Sequence[Item], result: CompactResult, deps: Deps
    ) -> Outcome:
        return replaced_by_summary(snapshot, {item.id for item in covered}, result, deps)


POLICY = LlmSummary


def read_result(reply: ModelReply, covered: Sequence[Item], files: Files) -> CompactResult:
    """A model's answer as a result; raises ModelError for one that says nothing."""
    reading = read_reply(reply.text)
    if not reading.summary.strip():
        raise ModelError("bad_answer", "the model's answer says nothing")
    keep_known_items(reading.sections, frozenset([item.id for item in covered]))
    if reading.sections.user_confirmations:
        reading.summary = marked(reading.sections, words_of_user(covered))
    return CompactResult(
        reading.sections,
        reading.summary,
        files.read,
        files.modified,
        method="model",
        strategy=LlmSummary.kind,
        usage=reply.usage,
        raw_reply=reply.text,
        notes=[PROSE] if reading.degraded else [NO_SECTION] if is_empty(reading.sections) else [],
    )
