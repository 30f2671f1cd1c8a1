"""Which files the tools read and changed: from names and arguments of calls alone, never from a model's words.

| a call counts as | when a part of its tool's name is one of                                     |
|------------------|------------------------------------------------------------------------------|
| reading          | read cat grep find ls head tail less view                                    |
| modifying        | write edit create delete mkdir mv rm patch save append                       |

Parts of a name end at `_ - . : /` and between camelCase words; the original looks for the words anywhere in it, so that
`confirm_order` would remove and `thread_list` would read (reference mode does). Paths are the arguments path, file,
filename, filepath and file_path that contain / . or \\; shell command lines are not read. A text with line breaks or
other control characters, or of hundreds of characters, is no path: in a summary it could pass for a section of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from contextlab.core.call_arguments import arguments_of
from contextlab.core.compaction import CompactResult
from contextlab.core.items import Item, Kind

READING = frozenset("read cat grep find ls head tail less view".split())
MODIFYING = frozenset("write edit create delete mkdir mv rm patch save append".split())
LONGEST_PATH = 400
PATH_KEYS = ("path", "file", "filename", "filepath", "file_path")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(slots=True)
class Files:
    """Paths in order of first use, each once."""

    read: list[str] = field(default_factory=list)
    modified: list[str] = field(default_factory=list)


def files_of(items: Iterable[Item], mode: str = "safe") -> Files:
    """The files that the calls among these items name."""
    read: dict[str, None] = {}
    modified: dict[str, None] = {}
    known: dict[str, list[str]] = {}
    call = Kind.TOOL_CALL
    for item in items:
        if item.kind != call or not item.tool:
            continue
        reads, modifies = _does(item.tool, READING, mode), _does(item.tool, MODIFYING, mode)
        if not reads and not modifies:
            continue
        if (paths := known.get(item.text)) is None:  # agents call for the same file again and again
            paths = known[item.text] = paths_of(item.text)
        for path in paths:
            if reads:
                read[path] = None
            if modifies:
                modified[path] = None
    return Files(list(read), list(modified))


def cumulative(earlier: CompactResult | None, files: Files) -> Files:
    """What an earlier compaction knew, and then what is new."""
    if earlier is None:
        return files
    return Files(
        list(dict.fromkeys([*earlier.read_files, *files.read])),
        list(dict.fromkeys([*earlier.modified_files, *files.modified])),
    )


def paths_of(arguments: str) -> list[str]:
    """The paths that a call's arguments name; arguments that are no JSON object name none."""
    given = arguments_of(arguments)
    values = [given[key] for key in PATH_KEYS if key in given]
    return [
        value
        for value in values
        if isinstance(value, str) and ("/" in value or "." in value or "\\" in value) and is_path(value)
    ]


def is_path(text: str) -> bool:
    """Whether a text can be a file's name: one line, and not a long one."""
    return 0 < len(text) <= LONGEST_PATH and not _CONTROL.search(text)


def name_parts(tool: str) -> list[str]:
    """The words of a tool's name, lower case."""
    return [word.lower() for word in _WORDS.findall(tool)]


@lru_cache(maxsize=1_000)
def _does(tool: str, words: frozenset[str], mode: str) -> bool:
    if mode == "reference":
        return any(word in tool.lower() for word in words)
    return not words.isdisjoint(name_parts(tool))
