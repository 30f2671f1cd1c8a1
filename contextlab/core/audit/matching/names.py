"""Facts that are names: files, lines of files, URLs, tickets, commits, error codes, identifiers, commands.

| kind                      | kept                      | partial                   | changed                    |
|---------------------------|---------------------------|---------------------------|----------------------------|
| path                      | a path that ends alike;   | its bare name, if two     | a slip of its name, never  |
|                           | the folder of one there   | have it                   | seen                       |
| path_line                 | the path with the line    | the path                  | the path with a line never |
|                           |                           |                           | seen                       |
| url                       | the URL                   | its host                  | a slip of it, never seen   |
| ticket, commit, error,    | the word (a commit by its |                           | a slip of it, never seen   |
| identifier                | first 7)                  |                           |                            |
| command                   | most of its words in one  | some                      | another exit code          |
|                           | sentence                  |                           |                            |

A slip counts only where the text's word is nowhere in the source and the right word is nowhere in the text.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

from contextlab.core.audit.extract.found import Found
from contextlab.core.audit.extract.tokens import is_path
from contextlab.core.audit.kinds import COMMIT, ERROR, PATH, PATH_LINE, TICKET, URL
from contextlab.core.audit.language.normalise import path_parts
from contextlab.core.audit.language.words import content
from contextlab.core.audit.matching.corpus import find_word
from contextlab.core.audit.matching.judgement import DROPPED, Case, Judgement, kept, nearly, partial
from contextlab.core.audit.results import Fact, FactKind, FactVerdict

_EXIT = re.compile(r"\bexit(?:ed)?(?: with)?(?: code| status)?[ :=]{0,3}(\d{1,3})\b", re.IGNORECASE)
_PATHS = re.compile(r"[\w.-]+/[\w./-]+")
_BUILT_IN = frozenset(
    "ValueError TypeError KeyError Exception RuntimeError Error IndexError AttributeError".split()
)


_is_name = lru_cache(maxsize=8192)(is_path)
"""Many paths end in the same names."""


def judge_path(case: Case, fact: Fact) -> Judgement:
    """A file or a folder."""
    found = _path(case, fact.subject)
    if found is not None:
        return found
    parts = path_parts(fact.subject)
    slip = _slip(case, fact, PATH, parts[-1]) if parts else None
    return slip or DROPPED


def _path(case: Case, path: str) -> Judgement | None:
    parts, index = path_parts(path), case.index
    if not parts:
        return None
    bare: Found | None = None
    for told, one in index.paths.get(parts[-1], ()):
        if _ends_alike(told, parts):
            if len(told) > 1 or len(parts) == 1:
                return kept(one.start, one.end)
            bare = bare or one
    if bare is not None:
        if len(case.facts.files_named(parts[-1])) > 1:
            return partial(
                bare.start, bare.end, "Only its bare name stands there, and several files have it."
            )
        return kept(bare.start, bare.end)
    joined = "/".join(parts[-3:])
    may = len(parts) < 3 or parts[-2] in index.between_slashes
    at = index.folded.find(joined) if may else -1
    if at >= 0 and (at := index.folded.find(f"{joined}/", at)) < 0:
        at = find_word(index.folded, joined)
    if at < 0 and "." not in parts[-1] and len(parts) > 1:
        at = index.folded.find("/".join(parts[-2:]) + "/")
    if at < 0 and len(parts) == 1:
        at = index.folded.find(f"{parts[0]}/")
        at = at if at >= 0 or len(parts[0]) < 5 else find_word(index.folded, parts[0])
    if at < 0 and len(parts) > 1 and len(parts[-1]) > 6 and not _is_name(parts[-1]):
        at = find_word(index.folded, parts[-1])  # a name that is no path by itself, like .dialyzerignore
    return kept(at, at + len(joined)) if at >= 0 else None


def judge_path_line(case: Case, fact: Fact) -> Judgement:
    """A line of a file."""
    parts, index = path_parts(fact.subject), case.index
    lines = [
        one
        for told, one in index.paths.get(parts[-1], ())
        if one.kind == PATH_LINE and _ends_alike(told, parts)
    ]
    for one in lines:
        if one.value == fact.value:
            return kept(one.start, one.end)
    path = _path(case, fact.subject)
    if path is None:
        return DROPPED
    at = _line_near(index.text, path.start, fact.value)
    if at >= 0:
        return kept(at, at + len(fact.value))
    seen = case.facts.said.get((PATH_LINE, fact.subject), set())
    others = [one for one in lines if one.value not in seen and not _line_seen(case, parts[-1], one.value)]
    if len(seen) == 1 or len(others) == 1:
        for one in others:
            if case.take(one, fact.value):
                return Judgement(
                    FactVerdict.CHANGED,
                    one.start,
                    one.end,
                    one.value,
                    f"The line {fact.value} became {one.value}.",
                )
    return partial(path.start, path.end, "The file stands there, the line does not.")


def _ends_alike(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    size = min(len(left), len(right))
    return left[-size:] == right[-size:]


def _line_near(text: str, start: int, line: str) -> int:
    begin = max(0, start - 60)
    at = find_word(text[begin : start + 200], line)
    return begin + at if at >= 0 else -1


def _line_seen(case: Case, name: str, line: str) -> bool:
    text = case.corpus.text
    return (
        f"{name}:{line}" in text
        or f"{name}#L{line}" in text
        or f'{name}", line {line}' in text
        or f"\n{line}\t" in text
        or f" {line}→" in text
    )


def judge_url(case: Case, fact: Fact) -> Judgement:
    """A URL."""
    index = case.index
    told = fact.value
    at = index.folded.find(told)
    if at >= 0 and find_word(index.folded, told) >= 0:
        return kept(at, at + len(told))
    if (slip := _slip(case, fact, URL, told)) is not None:
        return slip
    at = find_word(index.folded, fact.subject)
    if at >= 0:
        return partial(at, at + len(fact.subject), "Its host stands there.")
    return DROPPED


def judge_word(case: Case, fact: Fact) -> Judgement:
    """A ticket, an error code, an identifier: the word itself."""
    index = case.index
    word = fact.text if fact.kind == TICKET else fact.value
    at = find_word(index.folded, word.lower())
    if at < 0 and fact.kind == TICKET:
        at = find_word(index.folded, fact.text.lower().replace("-", " "))
    if at >= 0:
        return kept(at, at + len(word))
    last = re.split(r"\.|::|->", word)[-1]
    at = index.find_name(word)
    if at < 0 and len(last) > 3:
        at = index.find_name(last)
    if at >= 0 and fact.kind != TICKET:
        return kept(at, at + len(last))
    return _slip(case, fact, fact.kind, word) or DROPPED


def judge_commit(case: Case, fact: Fact) -> Judgement:
    """A commit, by at least seven figures of its hash."""
    index = case.index
    at = index.folded.find(fact.value[:7])
    if at >= 0:
        told = next((one for one in index.of_kind.get(COMMIT, ()) if one.start == at), None)
        size = min(len(told.value), len(fact.value)) if told else 7
        if told is None or told.value[:size] == fact.value[:size]:
            return kept(at, at + size)
    for one in index.of_kind.get(COMMIT, ()):
        if not case.invented(one):
            continue
        size = min(len(one.value), len(fact.value))
        alike = nearly(one.value[:size], fact.value[:size]) or one.value[:4] == fact.value[:4]
        if (alike or len(fact.words & index.context(one)) >= 2) and case.take(one, fact.value):
            return Judgement(FactVerdict.CHANGED, one.start, one.end, one.value, f"It became {one.value}.")
    return DROPPED


def judge_command(case: Case, fact: Fact) -> Judgement:
    """A command line, and how it ended."""
    index = case.index
    line = fact.subject.lower()
    at = index.folded.find(line) if len(line) > 3 else -1
    if at >= 0:
        return _ended(case, fact, at, at + len(line))
    words = {word.strip("\"'`;|&()") for word in line.split()}
    telling = sorted(word for word in words if len(word) > 2 and word[0] not in "-<>0123456789")[:24]
    if len(telling) < 2:
        return DROPPED
    hits: dict[int, int] = {}
    missing, least = 0, max(2, math.ceil(0.5 * len(telling)))
    for word in sorted(telling, key=len, reverse=True):
        last = word.rpartition("/")[2]
        spots = index.spots(word) or (index.spots(last) if len(last) > 3 else ())
        for number in spots:
            hits[number] = hits.get(number, 0) + 1
        missing += not spots
        if len(telling) - missing < least:
            return DROPPED  # whatever the shorter words do
    best = max(hits.values(), default=0)
    if best < least:
        return DROPPED
    where = index.sentences[min(number for number, count in hits.items() if count == best)]
    if best >= 0.75 * len(telling):
        return kept(where.start, where.end)
    return partial(where.start, where.end, "Some of its words stand there.")


def _ended(case: Case, fact: Fact, start: int, end: int) -> Judgement:
    code = _EXIT.search(case.index.text, max(0, start - 40), end + 80)
    if code is not None and fact.value.isdigit() and code.group(1) != fact.value:
        became = f"exit code {code.group(1)}"
        return Judgement(
            FactVerdict.CHANGED,
            code.start(),
            code.end(),
            became,
            f"It ended with {fact.value}, not with {code.group(1)}.",
        )
    return kept(start, end)


def judge_error(case: Case, fact: Fact) -> Judgement:
    """An error by its code, else by the words of its message."""
    index = case.index
    if not fact.words and fact.value:
        return judge_word(case, fact)
    code = fact.subject
    if code:
        at = find_word(index.folded, code.lower())
        if at >= 0:
            sentence = index.sentence_at(at)
            if code not in _BUILT_IN or (sentence is not None and len(sentence.words & fact.words) >= 2):
                return kept(at, at + len(code))
            return partial(at, at + len(code), "The kind of error stands there, its message does not.")
        if (slip := _slip(case, fact, ERROR, code)) is not None:
            return slip
    words = {word for word in fact.words if word[0] != "="} - content(" ".join(_PATHS.findall(fact.text)))
    if len(words) < 2:
        return DROPPED
    best = max(index.failing, key=lambda one: len(one.words & words), default=None)
    share = len(best.words & words) / len(words) if best is not None else 0.0
    if best is not None and share >= 0.6 and len(best.words & words) >= 2:
        return kept(best.start, best.end)
    if best is not None and share >= 0.4 and len(best.words & words) >= 3:
        return partial(best.start, best.end, "Some words of its message stand there.")
    return DROPPED


def _slip(case: Case, fact: Fact, kind: FactKind, word: str) -> Judgement | None:
    """A word of the text that the source never had and that differs from the right one by a slip."""
    word = word.lower()
    size = len(word)
    for other, length, one in case.suspects(kind):
        if not -3 < length - size < 3 or not nearly(word, other) or not case.invented(one):
            continue
        if _same_talk(case, fact, one) and case.take(one, fact.value or fact.subject):
            return Judgement(FactVerdict.CHANGED, one.start, one.end, one.shown, f"It became {one.shown}.")
    return None


def _same_talk(case: Case, fact: Fact, one: Found) -> bool:
    """Whether both stand among the same words; names that say much by themselves need not."""
    if fact.kind in (ERROR, URL, PATH) or sorted(one.value) == sorted(fact.value):
        return True
    context = case.index.context(one)
    return not fact.words or not context or bool(fact.words & context)
