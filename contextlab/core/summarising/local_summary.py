"""A summary that no model wrote: the earlier one, the person's requests, the files. Used where a model fails."""

from __future__ import annotations

from collections.abc import Sequence

from contextlab.core.compaction import CompactResult, Line, Sections, Snapshot
from contextlab.core.evidence.words import unmarked
from contextlab.core.items import Item, Kind
from contextlab.core.projection import is_prompt
from contextlab.core.sections import render_sections
from contextlab.core.summarising.file_tracking import Files

WIDTH = 240
"""Characters that are shown of a text."""


def local_summary(snapshot: Snapshot, covered: Sequence[Item], files: Files, strategy: str) -> CompactResult:
    """The result of a compaction whose summary is put together from the items alone."""
    prompts = [item for item in covered if is_prompt(item)]
    answers = [item for item in covered if item.kind == Kind.ASSISTANT and item.text.strip()]
    sections = Sections(goal=unmarked(one_line(prompts[0].text)) if prompts else None)
    if answers:
        sections.completed.append(Line(f"last said: {one_line(answers[-1].text)}", (answers[-1].id,)))
    sections.changed_artifacts = [Line(path) for path in files.modified]
    parts = [
        (snapshot.summary or "").strip(),
        render_sections(sections),
        "" if not files.read else "Files read: " + ", ".join(files.read),
        f"[{len(covered)} items left memory; no model wrote this summary]",
    ]
    summary = "\n\n".join(part for part in parts if part)
    return CompactResult(sections, summary, files.read, files.modified, strategy=strategy)


def one_line(text: str, width: int = WIDTH) -> str:
    """A text on one line, cut with a mark that says so."""
    line = " ".join(text[: 8 * width].split())
    return line if len(line) <= width and len(text) <= 8 * width else line[:width] + "..."
