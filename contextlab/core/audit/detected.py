"""Messages that say of themselves that they are a summary of the conversation so far, where no log says so.

Chat lists have no boundary record: a client that compacts writes the summary as a message. Such a message is
*detected*, with the words that gave it away, and never called recorded. What stands before it counts as what it
replaced; system messages stay. Only the first HEAD characters are looked at, and quoted words do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contextlab.core.audit.source import Source
from contextlab.core.items import KINDS, Kind

HEAD = 600
LEAST = 80
"""A summary has at least this many characters."""
_KINDS = tuple(KINDS.index(kind) for kind in (Kind.USER, Kind.ASSISTANT, Kind.SYSTEM))
_SIGNS = (
    re.compile(
        r"(?:this|the) (?:session|conversation|chat) is (?:being )?continued from (?:a|"
        r"the) previous (?:conversation|session)",
        re.I,
    ),
    re.compile(
        r"\A\W{0,6}(?:here is |here's |this is |below is |the following is )?(?:a |an |the )?(?:concise |"
        r"brief |detailed |running )?"
        r"summary of (?:the |our |this |all )?(?:\w+ )?(?:conversation|chat|session|discussion|messages|"
        r"history|work|context|dialogue)",
        re.I,
    ),
    re.compile(
        r"\A\W{0,6}(?:previous|prior|earlier|past) (?:conversation|chat|context|messages|"
        r"session)(?:'s)? (?:history )?"
        r"(?:summary|summari[sz]ed|has been (?:summari[sz]ed|compacted|compressed|condensed))",
        re.I,
    ),
    re.compile(r"\A\W{0,6}(?:conversation|context|chat|session|history|memory) summary\b", re.I),
    re.compile(
        r"\A.{0,200}?(?:conversation|messages|context|history|turns) (?:so far |above |until now |"
        r"up to (?:this|now) |history )?"
        r"(?:has|have|had|was|were)(?: been)? (?:summari[sz]ed|compacted|compressed|condensed)",
        re.I | re.S,
    ),
    re.compile(
        r"\A\s{0,4}<(?:summary|conversation_summary|context_summary|previous_context|compacted_history)>",
        re.I,
    ),
    re.compile(r"\A.{0,200}?another language model (?:started|produced|began).{0,120}?summary", re.I | re.S),
    re.compile(
        r"\A\W{0,6}zusammenfassung (?:des|der|unseres) (?:bisherigen )?(?:gespräch|unterhaltung|chat|verlauf)",
        re.I,
    ),
    re.compile(
        r"\A.{0,40}?(?:之前|以上|以前|此前|先前|历史|到目前为止)(?:的)?(?:对话|會話|会话|聊天|上下文|"
        r"消息)(?:的)?(?:摘要|总结|總結|概要|已(?:被)?(?:压缩|总结))",
        re.S,
    ),
    re.compile(r"\A\W{0,6}(?:对话|会话|上下文|聊天)(?:历史)?(?:摘要|总结|概要)"),
    re.compile(
        r"\A.{0,40}?(?:これまで|以前|ここまで|前回)の(?:会話|やり取り|やりとり|対話|チャット|"
        r"セッション)の?(?:要約|まとめ|概要)",
        re.S,
    ),
    re.compile(r"\A\W{0,6}(?:会話|対話|セッション)の?(?:要約|まとめ)"),
)


@dataclass(slots=True, frozen=True)
class Detected:
    """A message that says it is a summary, with the words that say so."""

    position: int
    evidence: str


def sign_of(text: str) -> str:
    """The words by which a text says that it is a summary of what was before; empty where it does not."""
    if len(text) < LEAST:
        return ""
    head = text[:HEAD]
    for sign in _SIGNS:
        if (found := sign.search(head)) is not None:
            return " ".join(found.group().split())[-160:]
    return ""


def detected(source: Source, known: frozenset[int]) -> Iterator[Detected]:
    """The summaries of a session that no record marks; `known` are those that one does."""
    kinds = source.timeline.kinds
    for position in range(len(source)):
        if position in known or kinds[position] not in _KINDS:
            continue
        item = source.item(position)
        if item.voice == "assistant" and position + 1 == len(source):
            continue  # the answer to a request for a summary: nothing goes on from it
        evidence = sign_of(item.text)
        if evidence:
            yield Detected(position, evidence)
