"""Rules of the person and decisions that are marked as such, in the words in which they were said."""

from __future__ import annotations

import re

from contextlab.core.compaction import Line
from contextlab.core.evidence.commands import command_of, refused
from contextlab.core.evidence.record import Record, spoken
from contextlab.core.evidence.words import plain, sentences, short
from contextlab.core.items import Kind

RULE = "Rule of the user: "
REFUSED = "The user refused: "
LONGEST_PASTE = 20_000
"""In a longer prompt something was pasted: only what stands before and behind is taken as the person's own words."""
ENDS = 4_000

_RULE = re.compile(
    r"\b(?:must(?:n['’]?t)?|never|always|(?:you|it|we|they|this) ha(?:ve|s) to|shall|"
    r"forbidden|not allowed|no exceptions|at all times|"
    r"under no circumstances|should(?:n['’]?t| not| never| always| only)|"
    r"do not|only (?:use|change|touch|edit|modify|run|in|the|add|when|if|for|after|with|one)|"
    r"leave .{1,60} (?:alone|as (?:it is|is|they are)|untouched)|without (?:changing|touching|breaking|adding|using)|"
    r"prefer|"
    r"from now on|no (?:new|more|other|external|further) \w+)\b|"
    r"(?<!\bI )(?<!\bit )(?<!they )(?<!that )\bdon['’]?t\b|^(?:please |and |also )?(?:keep|only|stick|use only)\b|"
    r"\bplease keep\b|(?:^|please |and |but |also |, |can you |you should )(?:avoid|make sure|ensure)\b|"
    r"\b(?:muss|müssen|musst|niemals|nie|immer|darf(?:st)? nicht|dürfen nicht|nur|auf keinen fall|unbedingt|verboten|"
    r"lass .{1,60} (?:unverändert|so)|behalte|keine?n?)\b|"
    r"必须|必須|务必|務必|绝不|絕不|绝对|不要|不能|不许|不得|不可|禁止|只能|只用|只改|只许|仅限|一定要|一律|始终|永远|请勿|切勿|"
    r"保持|保留|别(?:再|动|改|用|碰|删)|"
    r"必ず|絶対|決して|しないで|しないこと|ないでください|だけ(?:を|に|で|使)|のみ|なければ(?:ならない|なりません)|"
    r"ては(?:いけない|いけません|ならない|なりません|だめ)|変えないで|保って|維持",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:decided|decision is|we(?:'ll| will) (?:use|go with|keep|switch|stay|take|do)|"
    r"let['’]?s (?:go with|use|keep|stick|take|do)|go(?:ing)? with|settled on|opted for|we chose|we agreed|"
    r"agreed (?:to|on)|"
    r"entschieden|beschlossen|entscheidung|wir (?:nehmen|verwenden|bleiben))\b|"
    r"\bdecision:|决定|決定|就用|采用|採用|选用|改用|敲定|定为|方案是|にします|ことにし|方針は|決めました|決まり",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"\A(?:(?:I'll|I’ll|I will|I've|I’ve|I have|I'm|I’m|I am|I recently|I noticed|I reali[sz]ed|"
    r"I can|I could|I think|I see|I know|I guess|I do(?: not|n't|n’t) (?:have|know|think|see|understand))\b"
    r"|\S*\.\w{1,5}:\d+)",
    re.IGNORECASE,
)
"""How sentences begin that tell something: of the person, or of a log that was pasted."""
_LETS = re.compile(r"\blet['’]s\b", re.IGNORECASE)
_ASKING = re.compile(r"[?？]\s*\Z|\b(?:should|shall|could|can|do|would) (?:we|I|you)\b", re.IGNORECASE)
_CODE = re.compile(
    r"\A(?:[{}\[\]<>$|+#@]|\s*(?:def|class|import|return|if|for|const|let|var|function)\b)|[{};]\s*\Z"
)
_ANSWERED = re.compile(
    r"\A(?:User has answered your questions?|Your questions have been answered)[:.]\s*", re.IGNORECASE
)
_LEAST = 6


def rules(record: Record) -> list[Line]:
    """Each sentence by which a person says what must, may or must not be done."""
    lines: list[Line] = []
    for item in record.said:
        words = plain(item.text)
        if len(words) > LONGEST_PASTE:
            words = f"{words[:ENDS]}\n{words[-ENDS:]}"
        lines += [Line(RULE + one, (item.id,)) for one in sentences(words) if is_rule(one)]
    return lines


def decisions(record: Record) -> list[Line]:
    """What was decided, by whom it was said; what a person chose when asked, or did not let happen."""
    lines: list[Line] = []
    for item in record.talk():
        mine = spoken(item)
        for one in sentences(item.text, 300):
            if not is_decision(one, mine):
                continue
            lines.append(Line(f"{one} ({'user' if mine else 'assistant'})", (item.id,)))
    for call in record.calls:
        if call.result is None or call.result.kind != Kind.TOOL_RESULT:
            continue
        if refused(call):
            lines.append(Line(REFUSED + short(f"{call.tool} {command_of(call)}", 200), call.ids))
        elif found := _ANSWERED.match(call.output[:200]):
            answer = short(call.output[found.end() :], 400).removesuffix(
                " You can now continue with the user's answers in mind."
            )
            lines.append(Line(f"The user answered: {answer}", call.ids))
    return lines


def is_decision(sentence: str, mine: bool) -> bool:
    """Whether a sentence decides something; `mine`: a person says it."""
    if not _DECIDED.search(sentence) or _ASKING.search(sentence):
        return False
    # "let's use grep here" of an assistant tells its next call; of the person it decides
    return not (is_rule(sentence) if mine else _LETS.search(sentence))


def is_rule(sentence: str) -> bool:
    """Whether a sentence of a person says what must, may or must not be done."""
    if len(sentence) < _LEAST or sentence.endswith(("?", "？")) or _CODE.search(sentence):
        return False
    if _TELLING.search(sentence):
        return False
    return bool(_RULE.search(sentence))
