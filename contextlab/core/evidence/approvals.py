"""What a person agreed to: a short approving reply, and the words that it answers."""

from __future__ import annotations

import re

from contextlab.core.compaction import Line
from contextlab.core.evidence.record import Record, spoken
from contextlab.core.evidence.words import plain, sentences, short
from contextlab.core.items import Item, Kind

LONGEST = 120
"""A reply of more characters is more than an approval."""

_YES = (
    r"yes|yep|yeah|yup|ya|ok|okay|k|kk|sure|sure thing|of course|absolutely|definitely|certainly|agreed|approved|"
    r"confirmed|correct|right|exactly|perfect|great|good|nice|fine|excellent|awesome|cool|lgtm|go|go ahead|go for it|"
    r"do it|do that|do so|let'?s do (?:it|that|this)|let'?s go|please do|ship it|merge it|proceed|continue|"
    r"carry on|go on|sounds (?:good|great|right|fine)|looks (?:good|great|right|fine)|"
    r"that'?s (?:right|correct|fine|good)|"
    r"that works|works for me|makes sense|happy with (?:it|that|this)|"
    r"好|好的|好吧|好啊|行|可以|可以的|没问题|沒問題|同意|是|是的|对|对的|對|對的|嗯|嗯嗯|继续|繼續|确认|確認|确定|確定|"
    r"就这样|就這樣|就这么办|没错|批准|通过|开始吧|請繼續|请继续|"
    r"はい|うん|ええ|そうです|その通りです|お願いします|お願い|了解|了解です|承知しました|いいです|いいですね|いいよ|"
    r"それでいい|それでお願いします|大丈夫|大丈夫です|問題ない|問題ありません|承認|承認します|賛成|進めて|進めてください|"
    r"続けて|続けてください|オーケー|"
    r"ja|jawohl|jo|klar|genau|passt|passt so|einverstanden|gerne|gern|mach das|mach es|mach weiter|weiter|weiter so|"
    r"in ordnung|richtig|stimmt|bestätigt|freigegeben|genehmigt|super|prima|perfekt|gut|sehr gut|alles klar"
)
_KIND = r"please|thanks?(?: a lot| so much)?|thank you|now|then|谢谢|谢了|ありがとう|ありがとうございます|bitte|danke"
_PLAIN_YES = (
    r"yes|yep|yeah|yup|ok|okay|agreed|approved|confirmed|correct|exactly|perfect|lgtm|go ahead|do it|sounds good|"
    r"looks good|"
    r"好|好的|可以|没问题|同意|是的|对|嗯|确认|はい|うん|了解|いいですね|承認|ja|genau|einverstanden|passt"
)
"""Words that may be followed by more: not those that also begin an answer ("sure, my name is")."""
_SEPARATED = r"[\s,.!;:—–\-，。！、；~～👍✅🙏😊🎉]"
_ALL = re.compile(
    rf"(?:{_SEPARATED}*(?:{_KIND})(?={_SEPARATED}|$))*{_SEPARATED}*(?:{_YES}|👍|✅)(?={_SEPARATED}|$)"
    rf"(?:{_SEPARATED}*(?:{_YES}|{_KIND}|👍|✅)(?={_SEPARATED}|$))*{_SEPARATED}*",
    re.IGNORECASE,
)
_BEGINS = re.compile(rf"{_SEPARATED}*(?:{_PLAIN_YES}|👍)\s*[,.!;:—–\-，。！、；]", re.IGNORECASE)
_AGAINST = re.compile(
    r"\b(?:no|not|but|however|don'?t|do not|stop|wait|instead|never|nicht|aber|kein\w*|nein|stattdessen)\b|"
    r"不|但|别|別|ない(?!\s*です)|でも|しかし|ただ",
    re.IGNORECASE,
)
_QUESTION = ("?", "？")


def is_approval(words: str) -> bool:
    """Whether a reply does nothing but agree, or agrees first and adds a few words that take nothing back."""
    words = words.strip()
    if not words or len(words) > LONGEST or words.endswith(_QUESTION):
        return False
    if _ALL.fullmatch(words):
        return True
    return bool(_BEGINS.match(words)) and not _AGAINST.search(words)


def approvals(record: Record) -> list[Line]:
    """Each approving reply with what it approved; the first id is the person's item."""
    lines: list[Line] = []
    before: Item | None = None
    for item in record.talk():
        words = plain(item.text) if spoken(item) else ""
        if not words:
            before = item if item.kind == Kind.ASSISTANT else None
            continue
        if before is not None and is_approval(words):
            lines.append(Line(f"“{short(words, 80)}” to: {_asked(before.text)}", (item.id, before.id)))
        before = None
    return lines


def _asked(text: str) -> str:
    """What an answer asked for: its last question, else its last sentence."""
    said = list(sentences(text))
    questions = [one for one in said if one.endswith(_QUESTION)]
    found = questions or said
    return short(found[-1] if found else text, 200)
