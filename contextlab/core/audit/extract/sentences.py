"""Facts that are sentences: rules and corrections of the person, decisions, questions nobody answered.

| kind            | who says it      | compared by                                                            |
|-----------------|------------------|------------------------------------------------------------------------|
| rule            | the person       | its objects: names, paths, quoted words; else the words of its clause   |
| user_correction | the person       | the same                                                               |
| decision        | either           | the same                                                               |
| open_question   | whoever was last | the same                                                               |

An object stands in `words` with `=` before it: such a word must be found as it is.
"""

from __future__ import annotations

import re

from contextlab.core.audit.extract.found import Found
from contextlab.core.audit.extract.lexicon import is_foreign, token_facts
from contextlab.core.audit.kinds import (
    DECISION,
    OPEN_QUESTION,
    PATH,
    QUANTITY,
    RULE,
    USER_CORRECTION,
    VERSION,
)
from contextlab.core.audit.language.words import CHANGE, content
from contextlab.core.audit.results import FactKind
from contextlab.core.evidence.rules import is_decision, is_rule
from contextlab.core.evidence.words import prose, same, sentences, short

LONGEST_PASTE = 12_000
"""In a longer prompt something was pasted: only what stands before and behind is taken as the person's own words."""
ENDS = 4_000
WIDTH = 240
_OBJECT_KINDS = frozenset(FactKind) - {QUANTITY, VERSION}
_QUOTED = re.compile(r"`([^`\n]{2,60})`|\"([^\"\n]{3,60})\"|“([^”\n]{3,60})”|「([^」\n]{2,40})」")
_PLACE = re.compile(r"(?<![\w/])(?=[\w./-]{5})[A-Za-z_.][\w.-]*/(?:[\w.-]+/?)+")
_NO_PLACE = frozenset(
    "and/or yes/no true/false input/output client/server read/write on/off he/she his/her start/stop before/after "
    "request/response key/value name/value up/down left/right either/or open/close get/set push/pull http/https".split()
)
_COMMAND = re.compile(
    r"\b(?:git|npm|npx|yarn|pnpm|pip|uv|poetry|docker|kubectl|helm|terraform|make|cargo|go|gh|aws|psql|rm|"
    r"sudo|alembic)"
    r"(?: (?:-{1,2}[a-z][\w-]*|[a-z][\w-]*)){1,3}"
)
_HOST = re.compile(r"(?<![\w./-])[a-z]+(?:-[a-z0-9]+)*-?\d[a-z0-9-]*(?![\w/-]|\.\w)")
_CLAUSE = re.compile(r"(?<=[:;，；：])\s*|, (?=(?:and|but|or|und|aber) )|、(?=.{4})|\s[—–]\s")
_CORRECTION = re.compile(
    r"\A(?:no[,.!]|nope\b|not (?:that|this|there|the)\b|wrong\b|that(?:'s| is) (?:not|wrong|incorrect)|"
    r"actually[, ]|nein[,.!]|falsch\b)|\b(?:I (?:already )?(?:said|told you|meant)|as I said|like I said|"
    r"I asked (?:you )?(?:for|to)|"
    r"you (?:forgot|missed|misread|misunderstood)|that(?:'s| is) not (?:what|right|correct|how)|"
    r"(?:is|was|it's) wrong|instead of what|ich (?:sagte|habe gesagt)|hatte ich gesagt)\b|"
    r"不对|不是这|错了|弄错|我说(?:过|的是)|说过了|搞错|違う|違います|ではなく|じゃなく|間違|言った(?:はず|"
    r"でしょ|よ)|言いました",
    re.IGNORECASE,
)
_MORE_ORDERS = re.compile(
    r"\bwithout (?:my|our|asking|permission|approval|telling me)\b|"
    r"\b(?:nothing|no one|nobody|none of (?:it|them|these)) (?:may|must|should|is allowed|is to|gets)\b|"
    r"\bis (?:off[- ]limits|read[- ]only|frozen|sacred|taboo)\b|\bhands off\b|\bask me (?:before|first)\b|"
    r"\b(?:needs?|requires?) my (?:approval|ok|okay|permission|consent)\b|\b(?:stay|keep) (?:away|"
    r"clear) (?:from|of)\b|"
    r"^(?:please )?(?:stay on|stay with|refrain from|stop (?:using|editing|adding|touching))\b|"
    r"\bI (?:do not|don['’]t) want (?:you to|any|to see)\b|\bno exceptions?\b|"
    r"\bohne (?:meine|unsere) (?:zustimmung|erlaubnis|freigabe)\b|\bfinger weg\b|\bnur (?:mit|nach) (?:meiner|"
    r"unserer)\b|"
    r"严禁|千万(?:别|不要)|切忌|未经(?:我|允许|批准)|只准|厳禁|触らないで|使わないで|(?:許可|承認)なし",
    re.IGNORECASE,
)
"""What the rules of a summary by rules (evidence/rules.py) do not look for."""
_CORRECTING = frozenset(
    "no nope not wrong incorrect actually nein falsch said told meant asked forgot missed misread misunderstood "
    "instead sagte gesagt".split()
)
"""One of these stands in every English or German sentence that corrects something."""
_WORD = re.compile(r"[a-z]+")
_ORDERING = frozenset(
    """
    must mustn never always have has shall forbidden allowed exceptions exception times circumstances
    should shouldn not only leave without prefer now no don dont keep stick avoid make ensure use nothing
    nobody none limits readonly read frozen sacred taboo hands ask needs need requires require stay
    refrain stop want muss niemals nie immer darf darfst nicht nur keinen unbedingt verboten lass behalte
    kein keine ohne finger musst
    """.split()
)
"""One of these stands in every English or German sentence that gives a rule; most sentences have none."""
_THINGS = re.compile(r"\b(?!always|please|also|perhaps)[a-z]{3,}s (?:do not|don['’]t)\b")
_REPEATED = re.compile(
    r"\b(?:I (?:already |just )?(?:told|said|mentioned|explained|asked)|as I (?:said|told|mentioned)|like I said|"
    r"(?:we|you) (?:already )?(?:agreed|discussed)|again[,:!]|remember[,:]|how many times|once more|"
    r"ich (?:sagte|habe (?:doch )?gesagt)|wie gesagt|hatte ich (?:doch )?gesagt)\b|"
    r"我(?:已经|刚才|之前|都)?(?:说|講|讲|告诉)过|说过了|之前说|不是说了|さっき言|前に言|言った(?:はず|でしょ|"
    r"よ)|言いました",
    re.IGNORECASE,
)
_DECIDING = (
    "deci", "we'll ", "we will ", "go with", "going with", "settled on", "opted for", "we chose",
    "agreed ", "entsch", "beschlossen", "wir ", "let's ",
)  # fmt: skip
"""One of these stands in every text that decides something (see evidence/rules.py): most texts have none."""
_WITHDRAWN = re.compile(
    r"\b(?:no longer (?:applies|needed|necessary|true|holds?|valid)|(?:forget|ignore|drop|scrap|skip|"
    r"never ?mind|disregard|lift) (?:about )?(?:the|that|this|my|what)|(?:may|can|are allowed to|"
    r"feel free to) (?:now )?(?:"
    r"edit|change|touch|modify|use|add|delete|rename|push|commit|run)|(?:rule|restriction|ban|freeze) (?:is|"
    r"was) (?:off|lifted|gone|withdrawn|over)|"
    r"(?:it|that|this)(?:'s| is) (?:fine|ok|okay) (?:now )?to|take (?:that|it) back|I changed my mind|"
    r"nicht mehr nötig|"
    r"darfst (?:du )?(?:jetzt|nun|doch))\b|"
    r"不用(?:再)?(?:管|遵守)|可以(?:改|修改|编辑|动|用|删)了?|取消(?:这条|这个|该)?|作废|もう(?:守らなくて|"
    r"気にしなくて|必要)|してもいい|"
    r"編集して(?:も)?(?:いい|よい|構いません)",
    re.IGNORECASE,
)


def person_facts(text: str, first: bool) -> list[Found]:
    """Rules, corrections and decisions of a person; the first prompt corrects nothing."""
    if len(text) > LONGEST_PASTE:
        text = f"{text[:ENDS]}\n{text[-ENDS:]}"
    found: list[Found] = []
    for sentence in sentences(text):
        if not first and len(sentence) > 8 and _has(sentence, _CORRECTING) and _CORRECTION.search(sentence):
            found.append(told(USER_CORRECTION, text, sentence))
        if _orders(sentence) and not withdraws(sentence):
            found.append(told(RULE, text, sentence))
        elif _may_decide(sentence) and is_decision(sentence, True):
            found.append(told(DECISION, text, sentence))
    return found


def agent_decisions(text: str) -> list[Found]:
    """What an assistant says was decided."""
    if not _may_decide(text):
        return []
    return [
        told(DECISION, text, sentence) for sentence in sentences(text, 300) if is_decision(sentence, False)
    ]


def _may_decide(text: str) -> bool:
    low = text.lower()
    for mark in _DECIDING:
        if mark in low:
            return True
    return is_foreign(low)


def questions(text: str) -> list[Found]:
    """The last questions of a text."""
    asked = [one for one in sentences(text, 400) if one.endswith(("?", "？"))]
    return [told(OPEN_QUESTION, text, one) for one in asked[-3:]]


def told(kind: FactKind, text: str, sentence: str) -> Found:
    """A sentence with its objects."""
    start = max(0, text.find(sentence))
    clause = _judged(sentence) if kind == RULE else sentence
    return Found(
        kind, "", same(sentence)[:200], short(sentence, WIDTH), start, start + len(sentence), words=objects(clause)
    )  # fmt: skip


def objects(clause: str) -> frozenset[str]:
    """What a clause is about: with `=` its names, paths and quoted words, and the stems of all its words."""
    found: set[str] = set()
    for one in token_facts(clause):
        if one.kind in _OBJECT_KINDS:
            found.add("=" + (one.subject if one.kind == PATH else one.value or one.subject).casefold())
    for groups in _QUOTED.findall(clause):
        quoted = next(part for part in groups if part).strip().casefold()
        if len(quoted.split()) <= 4:
            found.add("=" + quoted)
    found.update(
        "=" + place.strip(".").casefold() for place in _PLACE.findall(clause) if place not in _NO_PLACE
    )
    found.update("=" + name for name in _HOST.findall(clause) if "-" in name)
    found.update("=" + command for command in map(_command, _COMMAND.findall(clause)) if command)
    stems = content(clause)
    return frozenset(found) | ((stems - CHANGE) or stems)


def _command(words: str) -> str:
    """A command without the words of the sentence behind it; empty for a verb that only looks like one."""
    parts = words.split()
    while len(parts) > 1 and (parts[-1] in _TALK or len(parts[-1]) < 2):
        parts.pop()
    return " ".join(parts) if len(parts) > 1 else ""


_TALK = frozenset(
    "on in for to the a an and or this that with without if when before after again here there any it is sure as at "
    "by of your our my their changes change nothing everything only never all directly yourself until unless".split()
)


def repeats(text: str) -> bool:
    """Whether a person says that they say it again."""
    return _REPEATED.search(text[:ENDS]) is not None


def withdraws(sentence: str) -> bool:
    """Whether a sentence takes a rule back."""
    return _WITHDRAWN.search(sentence) is not None


def withdrawals(text: str) -> list[frozenset[str]]:
    """The objects of each sentence of a person that takes a rule back."""
    if not _WITHDRAWN.search(text[:LONGEST_PASTE]):
        return []
    return [objects(one) for one in sentences(text[:LONGEST_PASTE]) if withdraws(one)]


def has_words(text: str) -> bool:
    """Whether anything is left of a text without fenced code and what tools put around it."""
    return bool(prose(text))


def _has(sentence: str, words: frozenset[str]) -> bool:
    """Whether a sentence may say one of the words; one in another script always may."""
    return not words.isdisjoint(_WORD.findall(sentence.lower())) or is_foreign(sentence)


def _orders(sentence: str) -> bool:
    """Whether a sentence is a rule: what things do not do (`these patterns don't match`) is none."""
    if not _has(sentence, _ORDERING):
        return False
    if not is_rule(sentence):
        return _MORE_ORDERS.search(sentence) is not None and not sentence.endswith(("?", "？"))
    return _THINGS.search(sentence) is None or is_rule(_THINGS.sub(" ", sentence))


def _judged(sentence: str) -> str:
    """The clauses of a sentence that give the rule."""
    clauses = [part for part in _CLAUSE.split(sentence) if part and _orders(part.rstrip(";；,:"))]
    return " ".join(clauses) or sentence
