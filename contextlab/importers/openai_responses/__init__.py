"""OpenAI Responses: recorded requests and responses, streamed or not, compact calls, and lists of items.

What is decided about sealed compactions, histories at the server and usage is written down in
docs/formats/openai-responses.md.
"""

from __future__ import annotations

from contextlab.core.events import FileReport
from contextlab.importers.base import SessionEvents, Source
from contextlab.importers.documents import prefix
from contextlab.importers.exchanges import first_of, is_agent_log
from contextlab.importers.openai_responses.reader import Reader
from contextlab.importers.openai_responses.shapes import sureness
from contextlab.importers.values import head_records

FORMAT = "openai-responses"
LABEL = "OpenAI Responses"
CANNOT_CONTAIN = (
    "What a compaction says: its item is encrypted, so the summary is sealed.",
    "Reasoning as text, where it is encrypted: its size is known, not its words.",
    "The text of the tools as the model gets it: a request's `tools` count as overhead, no items.",
    "What stands in a conversation at the server from before the file begins.",
)


def sniff(head: bytes) -> int:
    """From 75 (a list of items) to 95 (a recorded exchange); 0 for sister formats."""
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
