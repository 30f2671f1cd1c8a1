"""Observations and a session summary from what the log shows: tool events, plans, test runners. No model is asked.

| a turn                                        | becomes                                                              |
|-----------------------------------------------|----------------------------------------------------------------------|
| in which files were changed                   | one observation; its type from the prompt's words: bugfix, refactor, |
|                                               | feature, else change                                                 |
| in which tools ran, but nothing was changed   | one of type discovery                                                |
| in which the person set a rule or decided     | one of type decision for each, in the words that were said           |
| without any of these                          | nothing, and that is no error                                        |

The title is what the person asked for, the narrative how the turn ended in the agent's words, both shortened and
otherwise as they were. Facts are lines of evidence: changed files, test results, failed commands, approvals. Files are
those that tools touched. The same items give the same observations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from contextlab.core.compaction import Line
from contextlab.core.evidence.approvals import approvals
from contextlab.core.evidence.commands import PASSED_LATER, failed_commands
from contextlab.core.evidence.edits import Artifact, changed_artifacts
from contextlab.core.evidence.goals import goal
from contextlab.core.evidence.questions import open_questions
from contextlab.core.evidence.record import Record
from contextlab.core.evidence.rules import RULE, decisions, rules
from contextlab.core.evidence.test_results import test_results
from contextlab.core.evidence.todos import progress
from contextlab.core.evidence.words import plain, short
from contextlab.core.items import Item, Kind
from contextlab.core.memory_keeping.observations import Observation, SessionSummary
from contextlab.core.summarising.file_tracking import Files, files_of

METHOD = "rules"
NO_WORK = "no tool was used and nothing was decided"
TITLE, SUBTITLE, NARRATIVE, FACT = 120, 160, 600, 240
"""Characters of each."""
MOST_FACTS, MOST_DECISIONS, MOST_FILES, MOST_LINES = 12, 5, 100, 8
NOTE = "Put together by rules from the log alone; no model wrote it."

_BUGFIX = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|bug|error|crash\w*|fail(?:s|ed|ing|ure)?|broken|regression|wrong|fehler)\b"
    r"|修复|修正|错误|报错|バグ|不具合|直して",
    re.IGNORECASE,
)
_REFACTOR = re.compile(
    r"\b(?:refactor\w*|renam(?:e|ing)|clean ?up|simplif\w+|extract|move|split|dedup\w*)\b|重构|重命名|整理|リファクタ",
    re.IGNORECASE,
)
_FEATURE = re.compile(
    r"\b(?:add|implement\w*|creat(?:e|ing)|build|support|introduce|write|new)\b|新增|添加|实现|支持|追加|実装|作って",
    re.IGNORECASE,
)


def evidence_files(items: Sequence[Item], record: Record | None = None) -> Files:
    """The files that the tools of these items touched, patches too."""
    named = files_of(items)
    changed = changed_artifacts(record or Record(items), [])
    return Files(
        named.read, list(dict.fromkeys([*named.modified, *(Artifact.read(one).path for one in changed)]))
    )


def observations(items: Sequence[Item], turn: int | None = None) -> list[Observation]:
    """The observations of a turn's items; none where nothing was done and nothing was decided."""
    record = Record(items)
    made = [_work(record, items, turn)] if record.calls else []
    said = [*rules(record), *decisions(record)][:MOST_DECISIONS]
    return [*(one for one in made if one.says_something), *(_decision(line, turn) for line in said)]


def session_summary(items: Sequence[Item]) -> SessionSummary | None:
    """What a whole session came to, from its items; None where no tool was used and nothing was decided."""
    record = Record(items)
    everything = frozenset(item.id for item in items)
    done, pending = progress(record, [], [])
    settled = [*rules(record), *decisions(record)]
    if not record.calls and not settled:
        return None
    files = evidence_files(items, record)
    changed = changed_artifacts(record, [])
    return SessionSummary(
        request=goal(record, everything, None),
        investigated=_listed("Read", files.read),
        learned=_lines([*settled, *failed_commands(record, [])]),
        completed=_lines([*done, *changed, *test_results(record, [])]),
        next_steps=_lines([*pending, *open_questions(record, [])]),
        notes=NOTE,
    )


def _work(record: Record, items: Sequence[Item], turn: int | None) -> Observation:
    """What a turn's tools came to."""
    files = evidence_files(items, record)
    failed = failed_commands(record, [])
    tests = test_results(record, [])
    facts = [*changed_artifacts(record, []), *tests, *failed, *approvals(record)]
    asked = next((plain(item.text) for item in record.said), "")
    kind = _type(asked) if files.modified else "discovery"
    return Observation(
        kind,
        title=short(asked, TITLE) or _what_was_done(record),
        subtitle=short(_counts(record, files), SUBTITLE),
        narrative=_ending(record),
        facts=[short(line.text, FACT) for line in facts[:MOST_FACTS]],
        concepts=_concepts(kind, files, failed),
        files_read=files.read[:MOST_FILES],
        files_modified=files.modified[:MOST_FILES],
        turn=turn,
        items=tuple(dict.fromkeys(one for line in facts[:MOST_FACTS] for one in line.items))[:24],
    )


def _decision(line: Line, turn: int | None) -> Observation:
    text = line.text.removeprefix(RULE)
    title, whole = short(text, TITLE), short(text, NARRATIVE)
    facts = [line.text] if line.text != text else []
    return Observation(
        "decision", title=title, narrative=whole if whole != title else None, facts=facts,
        concepts=["why-it-exists"], turn=turn, items=line.items,
    )  # fmt: skip


def _type(asked: str) -> str:
    head = asked[:2_000]
    for kind, pattern in (("bugfix", _BUGFIX), ("refactor", _REFACTOR), ("feature", _FEATURE)):
        if pattern.search(head):
            return kind
    return "change"


def _concepts(kind: str, files: Files, failed: Sequence[Line]) -> list[str]:
    found = ["what-changed"] if files.modified else ["how-it-works"]
    if kind == "bugfix" and any(line.text.endswith(PASSED_LATER) for line in failed):
        found.append("problem-solution")
    if any(not line.text.endswith(PASSED_LATER) for line in failed):
        found.append("gotcha")
    return found


def _ending(record: Record) -> str | None:
    """The agent's last words."""
    said = [item.text for item in record.items if item.kind == Kind.ASSISTANT and item.text.strip()]
    return short(said[-1], NARRATIVE) if said else None


def _what_was_done(record: Record) -> str | None:
    tools = list(dict.fromkeys(call.tool for call in record.calls if call.tool))
    return short(f"Used {', '.join(tools)}", TITLE) if tools else None


def _counts(record: Record, files: Files) -> str:
    parts = [f"{len(record.calls)} tool call{'s' * (len(record.calls) != 1)}"]
    for what, number in (("changed", len(files.modified)), ("read", len(files.read))):
        if number:
            parts.append(f"{number} file{'s' * (number != 1)} {what}")
    return ", ".join(parts)


def _listed(what: str, values: Sequence[str]) -> str | None:
    if not values:
        return None
    more = f" and {len(values) - MOST_LINES} more" if len(values) > MOST_LINES else ""
    return f"{what} {', '.join(values[-MOST_LINES:])}{more}"


def _lines(lines: Sequence[Line]) -> str | None:
    """Lines as a list; the newest of many."""
    texts = list(dict.fromkeys(short(line.text, FACT) for line in lines))
    shown = [f"- {text}" for text in texts[-MOST_LINES:]]
    left = len(texts) - len(shown)
    return "\n".join([*shown, *([f"- and {left} earlier" if left else ""] if left else [])]) or None
