"""OpenAI chat messages: bare lists, JSON Lines, recorded exchanges, and the trajectories that agents write with them.

One importer for tau-bench, SWE-agent, mini-swe-agent, AgentDojo and the logs of proxies; what the dialects are and
what is decided about them is written down in docs/formats/openai-chat.md.
"""

from __future__ import annotations

from contextlab.core.events import FileReport
from contextlab.importers.base import SessionEvents, Source
from contextlab.importers.documents import prefix
from contextlab.importers.openai_chat.dialects import shape
from contextlab.importers.openai_chat.reader import Reader
from contextlab.importers.values import head_records

FORMAT = "openai-chat"
LABEL = "OpenAI chat messages"
CANNOT_CONTAIN = (
    "In lists of messages: token usage, times, the model's name and the schemas of the tools.",
    "In trajectories: what a history processor left out of a request, unless the request is recorded.",
    "Compactions: a list that was rewritten shows only what remained.",
)


def sniff(head: bytes) -> int:
    """From 60 (a message with a role and content) to 95 (a trajectory with its own keys); 0 for sister formats."""
    start = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n\x00")
    if start[:1] not in ("{", "["):
        return 0
    whole = shape(prefix(start))
    lines = [found for record in head_records(head) if (found := shape(record)) is not None]
    return max([whole.sure if whole else 0, *(found.sure for found in lines)])


def read(source: Source, report: FileReport) -> SessionEvents:
    """The events of one file; raises UnreadableFile for a document over the limit, never on content."""
    return Reader(source, report).events()
