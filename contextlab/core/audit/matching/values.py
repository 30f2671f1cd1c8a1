"""Facts that are values: ports, settings, versions, numbers with units, dates.

| verdict | when                                                                                                 |
|---------|------------------------------------------------------------------------------------------------------|
| kept    | the same amount of the same dimension (any unit, rounded, with or without separators) stands there   |
| changed | the same subject has another value there: by its name, if the name has only one; else by the words   |
|         | around it, and only if the source never had that value of that dimension                             |
| dropped | neither                                                                                              |

What goes up and down while people work (tests, files, lines, durations) must share two words and most of them.
"""

from __future__ import annotations

from contextlab.core.audit.extract.dimensions import dimensions_of
from contextlab.core.audit.extract.found import Found
from contextlab.core.audit.kinds import PORT, QUANTITY, SETTING, VERSION
from contextlab.core.audit.language.normalise import same_version
from contextlab.core.audit.matching.corpus import find_word
from contextlab.core.audit.matching.judgement import DROPPED, Case, Judgement, kept
from contextlab.core.audit.matching.tokens import figures_of
from contextlab.core.audit.results import Fact, FactVerdict
from contextlab.core.audit.source import USER

_RESTLESS = frozenset(
    "test file line error item row message step token character percent size page session amount exit status user "
    "request job column".split()
)
_WORDY = frozenset({"port", "version", "config"})
"""Concepts that say what kind of value it is, not of what."""


def judge_amount(case: Case, fact: Fact) -> Judgement:
    """A port, a number with a unit, a setting that is a number."""
    amount = float(fact.value)
    dimensions = dimensions_of(fact.kind, fact.subject, fact.text)
    same = case.agreeing(dimensions, amount)
    for one in same:
        if not case.facts.is_anothers(fact, case.index.context(one)):
            return kept(one.start, one.end)
    if (raw := _raw(case, fact)) is not None:
        return raw
    best: tuple[float, Found] | None = None
    for one in case.unexplained(dimensions):
        score = 0.0 if one in same else _changes(case, fact, one)
        if score and (best is None or score > best[0]):
            best = score, one
    if best is not None and case.take(best[1], fact.value):
        return _changed(case, fact, best[1])
    return DROPPED


def _raw(case: Case, fact: Fact) -> Judgement | None:
    """The figures as they were written, among words that they share."""
    for form in dict.fromkeys((figures_of(fact), fact.value)):
        least = 1 if len(form) > 2 else 2
        for at, around in case.index.figures(form):
            if fact.kind == PORT and len(form) >= 4:
                return kept(at, at + len(form))
            if len(around & (fact.words - _WORDY)) >= least:
                return kept(at, at + len(form))
    return None


def _changes(case: Case, fact: Fact, one: Found) -> float:
    """How surely this is the fact's value, changed; 0 where it is not."""
    if one.stale or one.amount is None:
        return 0.0
    named = one.subject == fact.subject and fact.subject != "" and one.kind == fact.kind and one.strong
    if named and fact.kind == SETTING:
        return 10.0
    if case.knows_amount(one):
        return 0.0
    if named and fact.kind == PORT:
        ports = case.facts.said.get((PORT, fact.subject), set())
        like = _alike(fact.value, one.value)
        return 9.0 + like if all(_alike(port, one.value) <= like for port in ports) else 0.0
    if not named and case.facts.is_anothers(fact, case.index.context(one)):
        return 0.0
    shared = _overlap(case, fact, one)
    if fact.kind == PORT or one.kind == PORT:
        hosts = {fact.subject, one.subject} - {""}
        return (
            1.0 + shared + _alike(fact.value, one.value)
            if shared or (len(hosts) < 2 and case.only_port(fact))
            else 0.0
        )
    context = case.index.context(one) - _WORDY
    mine = fact.words - _WORDY
    if fact.subject in _RESTLESS or (fact.subject == "time" and _is_measured(fact.text)):
        if fact.said_by != USER and fact.mentions < 2:
            return 0.0  # said once on the way: whoever comes later has a newer figure
        least = min(len(mine), len(context))
        return float(shared) if shared >= 2 and 2 * shared >= least else 0.0
    return float(shared) + _alike(fact.value, one.value) if shared else 0.0


def _is_measured(told: str) -> bool:
    """Whether a duration was measured (5.2 s, 350 ms): those that are set are round."""
    return "." in told or told.rstrip().lower().endswith("ms")


def _overlap(case: Case, fact: Fact, one: Found) -> int:
    return len((fact.words - _WORDY) & case.index.context(one))


def _alike(left: str, right: str) -> float:
    """Up to 1 for figures that differ in little."""
    if len(left) != len(right):
        return 0.0
    return sum(a == b for a, b in zip(left, right, strict=True)) / len(left)


def _changed(case: Case, fact: Fact, one: Found) -> Judgement:
    told = case.index.text[one.start : one.end].rpartition("=")[2].strip("\"'` ")
    became = one.value if fact.kind == PORT else told or one.value
    older = one.value in case.facts.said.get((fact.kind, fact.subject), set())
    why = f"An older value, {became}, stands there." if older else f"It became {became}."
    return Judgement(FactVerdict.CHANGED, one.start, one.end, became, why)


def judge_version(case: Case, fact: Fact) -> Judgement:
    """A version, of a name where it has one."""
    parts = tuple(fact.value.split("."))
    told = [one for one in case.index.of_kind.get(VERSION, ()) if not one.stale]
    for one in told:
        if same_version(tuple(one.value.split(".")), parts) and (
            one.subject == fact.subject or not one.subject or not fact.subject
        ):
            return kept(one.start, one.end)
    at = find_word(case.index.text, fact.value)
    if at >= 0:
        return kept(at, at + len(fact.value))
    for one in told:
        known = case.corpus.has(one.value) or one.value in case.facts.said.get((VERSION, one.subject), set())
        named = one.subject == fact.subject != ""
        if known or not (
            named or (not fact.subject and not one.subject and fact.words & case.index.context(one))
        ):
            continue
        if case.take(one, fact.value):
            return Judgement(FactVerdict.CHANGED, one.start, one.end, one.value, f"It became {one.value}.")
    return DROPPED


def judge_setting(case: Case, fact: Fact) -> Judgement:
    """A setting whose value is a word."""
    if fact.value.replace(".", "", 1).isdigit():
        return judge_amount(case, fact)
    index = case.index
    named = [one for one in index.of_kind.get(SETTING, ()) if one.subject == fact.subject]
    for one in named:
        if one.value == fact.value:
            return kept(one.start, one.end)
    at = index.find_name(fact.subject)
    if at >= 0 and fact.value in index.folded[at : at + 120]:
        return kept(at, at + len(fact.subject))
    for one in named:
        if one.amount is None and case.take(one, fact.value):
            return Judgement(FactVerdict.CHANGED, one.start, one.end, one.value, f"It became {one.value}.")
    if at >= 0:
        return Judgement(
            FactVerdict.PARTIAL,
            at,
            at + len(fact.subject),
            None,
            "Its name stands there, its value does not.",
        )
    return DROPPED


def judge_date(case: Case, fact: Fact) -> Judgement:
    """A date, in any format."""
    found = case.index.by_key.get((QUANTITY, "date", fact.value))
    if found is not None:
        return kept(found.start, found.end)
    year, month, day = fact.value.split("-")
    short_month, short_day = int(month), int(day)
    forms = [f"{year}/{month}/{day}", f"{year}年{short_month}月{short_day}日"]
    for joint in "/.":
        for first, second in ((month, day), (day, month), (short_month, short_day), (short_day, short_month)):
            forms.append(f"{first}{joint}{second}{joint}{year}")
    for form in forms:
        at = case.index.text.find(form)
        if at >= 0:
            return kept(at, at + len(form))
    return DROPPED
