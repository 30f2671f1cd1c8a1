"""What a file seems to be that no importer reads: a name for the message, never a decision."""

from __future__ import annotations

import re

from contextlab.importers.base import Source

_SIGNS: tuple[tuple[str, tuple[bytes, ...]], ...] = (
    ("an OTLP export (OpenTelemetry spans or logs)", (rb'"resource(Spans|Logs)"\s*:',)),
    ("a Gemini CLI session", (rb'"projectHash"\s*:', rb'"(messages|sessionId|kind)"\s*:')),
    ("a Langfuse export", (rb'"trace"\s*:', rb'"observations"\s*:')),
    ("an opencode export", (rb'"info"\s*:', rb'"parts"\s*:', rb'"messages"\s*:')),
    ("a Copilot CLI session", (rb'"type"\s*:\s*"(session\.start|user\.message|assistant\.turn_start)"',)),
    ("OpenHands SDK events", (rb'"kind"\s*:\s*"(SystemPrompt|Message|Action|Observation)Event"',)),
    (
        "an OpenHands trajectory",
        (rb'"(observation|action)"\s*:', rb'"source"\s*:\s*"(agent|user|environment)"'),
    ),
    ("an Inspect log", (rb'"eval"\s*:', rb'"(task|run_id|eval_id)"\s*:', rb'"status"\s*:')),
    ("a pi session", (rb'"type"\s*:\s*"session"', rb'"cwd"\s*:')),
    ("a Phoenix (OpenInference) export", (rb'openinference\.span\.kind|"span_kind"\s*:',)),
    ("an ATIF trajectory", (rb'"schema_version"\s*:\s*"ATIF-',)),
    ("a pydantic-ai message dump", (rb'"part_kind"\s*:',)),
    ("an OpenAI Agents SDK run state", (rb'"\$schemaVersion"\s*:',)),
    ("an AI4J event log", (rb'"recordedAtEpochMs"\s*:|"turnEventId"\s*:',)),
    ("a LangChain dump", (rb'"lc"\s*:\s*1\b', rb'"kwargs"\s*:')),
)
_COMPILED = tuple((name, tuple(re.compile(sign) for sign in signs)) for name, signs in _SIGNS)


def guess(head: bytes) -> str | None:
    """The format that the first bytes look like, among those that have no importer; None when nothing fits."""
    for name, signs in _COMPILED:
        if all(sign.search(head) for sign in signs):
            return name
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n\x00")[:200]
    if start[:1] in (b"{", b"["):
        return None
    if start[:1] == b"<":
        return "a web page or XML"
    return "plain text"


def guess_binary(source: Source) -> str | None:
    """What a file is that is no text at all, where it is an agent's log nevertheless (Inspect's `.eval` archives)."""
    if source.data is not None:
        start = source.data[:65536]
    elif source.path is not None and source.path.is_file():
        with source.path.open("rb") as stream:
            start = stream.read(65536)
    else:
        return None
    inside = (b"_journal/", b"header.json", b"samples/", b"summaries.json")
    if start[:4] == b"PK\x03\x04" and any(name in start for name in inside):
        return "an Inspect .eval archive"
    return None
