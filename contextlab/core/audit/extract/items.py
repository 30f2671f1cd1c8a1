"""What one item says, read by its voice (source.py): all of what people and agents say, of results what tells.

Everything has a bound: words of more than 512 characters, texts of more than CLOSE characters, longer results but
for their ends, and more than MOST facts of one item are counted and not read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from contextlab.core.audit.extract.found import Found, moved
from contextlab.core.audit.extract.lexicon import DECIDES, FOREIGN, PORTS, SILENT, SPOKEN
from contextlab.core.audit.extract.numbers import number_facts
from contextlab.core.audit.extract.outcomes import (
    command_facts,
    command_line,
    error_facts,
    is_editing,
    is_reading,
    patched,
    path_found,
    path_of,
    written_by,
)
from contextlab.core.audit.extract.sentences import agent_decisions, person_facts
from contextlab.core.audit.kinds import (
    COMMIT,
    ERROR,
    IDENTIFIER,
    PATH,
    PATH_LINE,
    PORT,
    QUANTITY,
    SETTING,
    TICKET,
    URL,
    VERSION,
)
from contextlab.core.audit.language.normalise import narrow
from contextlab.core.audit.source import ASSISTANT, CALL, USER, Source, SourceItem

CLOSE = 60_000
"""Characters of what somebody says that are read: two thirds from the beginning, one third from the end."""
SHORT, HEAD, TAIL = 1_200, 300, 700
"""A result up to SHORT characters is read as a whole, of a longer one the ends."""
WRITTEN = 6_000
MOST = 400
_CONFIGURES = frozenset("yaml yml toml ini cfg conf env properties json".split())
_CONSTANT = re.compile(r"[A-Z]_?[A-Z0-9]+ ?[=:]")
_UNSAID = (IDENTIFIER, QUANTITY)
_TOLD_BY_RESULTS = frozenset(
    {
        PATH, PATH_LINE, URL, ERROR, COMMIT, TICKET,
        VERSION, PORT, SETTING,
    }
)  # fmt: skip


@dataclass(slots=True)
class Read:
    """What one item says."""

    found: list[Found] = field(default_factory=list)
    limits: tuple[int, int, int, int] = (0, 0, 0, 0)


def read_item(source: Source, item: SourceItem) -> Read:
    if item.voice in (USER, ASSISTANT):
        return _spoken(item)
    if item.voice == CALL:
        return _called(source, item)
    return _resulted(source, item)


def _spoken(item: SourceItem) -> Read:
    text = item.text
    cut = max(0, len(text) - CLOSE)
    parts = [(0, text)]
    if cut:
        parts = [(0, text[: 2 * CLOSE // 3]), (len(text) - CLOSE // 3, text[-CLOSE // 3 :])]
    parts = [(offset, narrow(part)) for offset, part in parts]
    said = [SPOKEN.read(part, offset) for offset, part in parts]
    read = Read(_sentences(item, DECIDES if cut else said[0][2]))
    for (offset, part), (found, too_long, hints) in zip(parts, said, strict=True):
        found += [moved(one, offset) for one in number_facts(part, hints)]
        _take(read, found, too_long, cut)
        cut = 0
    return read


def _sentences(item: SourceItem, hints: int) -> list[Found]:
    if item.voice == USER:
        return person_facts(item.text[:CLOSE], first=item.position == 0)
    return agent_decisions(item.text[:CLOSE]) if hints & (DECIDES | FOREIGN) else []


def _called(source: Source, item: SourceItem) -> Read:
    result = None if item.result is None else source.item(item.result)
    line = command_line(item)
    read = Read(command_facts(item, line, result.text if result else "", bool(result and result.failed)))
    if line:
        start = max(0, item.text.find(line[:40]))
        _unsaid(read, [(start, line[:WRITTEN])], max(0, len(line) - WRITTEN))
        read.found = [one for one in read.found if one.kind not in _UNSAID and not one.shown.startswith("-")]
    for name in [path_of(item), *patched(item)]:
        if name and (found := path_found(item.text, name)) is not None:
            read.found.append(found)
    if is_editing(item):
        read.found += _settings_of(item)
    return read


def _settings_of(item: SourceItem) -> list[Found]:
    """The settings that a call writes: all of a configuration file, the constants of another."""
    written = written_by(item)[:WRITTEN]
    configures = path_of(item).rpartition(".")[2].lower() in _CONFIGURES
    if not configures and not _CONSTANT.search(written):
        return []
    return [
        one._replace(start=0, end=0)
        for one in number_facts(written)
        if one.kind == SETTING and (configures or _is_constant(one))
    ]


def _resulted(source: Source, item: SourceItem) -> Read:
    text = item.text
    call = None if item.call is None else source.item(item.call)
    reading = call is not None and (is_reading(call) or is_editing(call))
    read = Read(error_facts(item, reading))
    if reading:
        return read
    if len(text) <= SHORT:
        _unsaid(read, [(0, text)], 0)
    else:
        parts = [(0, text[:HEAD]), (len(text) - TAIL, text[-TAIL:])]
        _unsaid(read, parts, len(text) - HEAD - TAIL)
    if read.found:
        read.found = [one for one in read.found if one.kind in _TOLD_BY_RESULTS and not _is_figure(one)]
    return read


def _is_figure(one: Found) -> bool:
    """A figure of an output (rows=12, item #2) that names nothing: settings of an output are constants."""
    small = one.kind == TICKET and one.subject == "#" and len(one.value) < 4
    return small or (one.kind == SETTING and not _is_constant(one))


def _is_constant(one: Found) -> bool:
    """Whether a setting has the name of a constant: MAX_RETRIES."""
    return one.shown.partition("=")[0].strip().isupper()


def _unsaid(read: Read, parts: Sequence[tuple[int, str]], cut: int) -> None:
    """What a call or a result says in single words, and in figures where it speaks of a port."""
    for offset, written in parts:
        text = narrow(written)
        found, too_long, hints = SILENT.read(text, offset)
        if hints & PORTS:
            found += [moved(one, offset) for one in number_facts(text)]
        if found or too_long or cut:
            _take(read, found, too_long, cut)
            cut = 0


def _take(read: Read, found: list[Found], too_long: int, cut: int) -> None:
    room = max(0, MOST - len(read.found))
    old = read.limits
    read.limits = (old[0] + too_long, old[1] + (cut > 0), old[2] + cut, old[3] + max(0, len(found) - room))
    read.found += found[:room]
