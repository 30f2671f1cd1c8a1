"""Anthropic Messages: recorded requests and responses, streamed or not, and lists of messages with their blocks.

What is decided about compaction blocks, context edits and usage is written down in docs/formats/anthropic-messages.md.
"""

from __future__ import annotations

from contextlab.core.events import FileReport
from contextlab.importers.anthropic_messages.reader import Reader
from contextlab.importers.anthropic_messages.shapes import sureness
from contextlab.importers.base import SessionEvents, Source
from contextlab.importers.documents import prefix
from contextlab.importers.exchanges import first_of, is_agent_log
from contextlab.importers.values import head_records

FORMAT = "anthropic-messages"
LABEL = "Anthropic Messages"
CANNOT_CONTAIN = (
    "The text of the tools as the model gets it: a request's `tools` count as overhead, no items.",
    "Which tool results a context edit cleared: a response says how many; the oldest are taken, as documented.",
    "In lists of messages: token usage, times and the model's name.",
)


def sniff(head: bytes) -> int:
    """From 75 (messages with blocks of this format) to 95 (a recorded exchange); 0 for sister formats."""
    if is_agent_log(head):
        return 0
    start = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n\x00")
    if start[:1] not in ("{", "["):
        return 0
    found = prefix(start)
    listed = sureness(found) if isinstance(found, list) else 0
    return max([listed, *map(sureness, first_of(found)), *map(sureness, head_records(head))])


def read(source: Source, report: FileReport) -> SessionEvents:
    """The events of one file; raises UnreadableFile for a document over the limit, never on content."""
    return Reader(source, report).events()
