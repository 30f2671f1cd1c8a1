"""Codex rollouts (`rollout-*.jsonl`, also `.zst`): one session each, with its system prompt and its own token counts.

What the records mean is written down in docs/formats/codex.md.
"""

from __future__ import annotations

from contextlab.core.events import FileReport
from contextlab.importers.base import SessionEvents, Source
from contextlab.importers.codex.items import RESPONSE_TYPES
from contextlab.importers.codex.meta import RECORD_TYPES
from contextlab.importers.codex.reader import Reader
from contextlab.importers.values import head_records, mapping

FORMAT = "codex"
LABEL = "Codex rollout"
CANNOT_CONTAIN = (
    "The schemas of the tools that the model was given.",
    "The text of reasoning: it is encrypted.",
    "The summary of a remote compaction: it is encrypted.",
    "The output of a web search.",
)


def sniff(head: bytes) -> int:
    """95 when a record has Codex's envelope (timestamp, type, payload), 80 for the records of old versions."""
    found = [record for record in head_records(head) if isinstance(record, dict)]
    if any(_enveloped(record) for record in found) or _long_first_line(head):
        return 95
    bare = [record for record in found if record.get("type") in RESPONSE_TYPES or "record_type" in record]
    first = found[0] if found else {}
    return 80 if bare and "instructions" in first and "timestamp" in first else 0


def read(source: Source, report: FileReport) -> SessionEvents:
    """The events of one rollout; never raises on content."""
    return Reader(source, report).events()


def _enveloped(record: dict[str, object]) -> bool:
    return record.get("type") in RECORD_TYPES and bool(mapping(record.get("payload")))


def _long_first_line(head: bytes) -> bool:
    """The first record alone may be longer than the head (a long system prompt)."""
    return b"\n" not in head and b'"payload"' in head[:200] and b'"session_meta"' in head[:200]
