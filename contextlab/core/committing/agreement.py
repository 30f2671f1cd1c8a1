"""Whether a line says that a person agreed to something, in English, German, Chinese or Japanese.

| form      | says so                                                     | does not                             |
|-----------|-------------------------------------------------------------|--------------------------------------|
| active    | the user approved, has OK'd, gave permission, said go ahead | the user form permits                |
| after all | the user was asked and agreed                               | the user was asked about it          |
| passive   | approved by the user, agreed upon with the user             | accepted by user agents              |
| possessed | got the user's OK, with user approval, permission from them | a page for user consent              |
| refused   |                                                             | did not approve, never confirmed by  |
| open      |                                                             | if the user approves, to be approved |

A person is a noun of its own: nothing but helping words may stand between it and what it did. What comes before a
match in its clause decides whether it is refused or open. Every pattern has bounded repeats, so that no text is slow.
"""

from __future__ import annotations

import re

_PERSON = r"(?:users?|persons?|people|customers?|clients?|humans?|operators?|owners?)"
_NO_MACHINE = r"(?:users?|persons?|people|customers?|humans?)"
"""Of a client, an operator or an owner it is often a program that accepts, permits or allows."""
_HELPING = (
    r"(?: \([^()]{1,40}\)|, [^,.;]{1,40},)?(?: (?:has|have|had|also|already|explicitly|expressly|clearly|then|now|"
    r"just|later|finally|verbally|fully|again|both|all|himself|herself|themselves|too)){0,4}"
)
_OK = r"(?:ok|okay)"
_ASSENT = (
    rf"(?:{_OK}|go|go-ahead|go ahead|green light|permission|approval|consent|agreement|blessing|confirmation|"
    r"thumbs[- ]up|authori[sz]ation|sign-?off)"
)
_AGREED = (
    r"(?:approved|agreed|confirmed|consented|sanctioned|ok'?e?d|okayed|green-?lit|green-?lighted|signed off)"
)
_ALLOWED = r"(?:accepted|permitted|allowed|authori[sz]ed)"
_SAID_YES = (
    r"(?:said|says|replied|answered|responded|wrote)(?: that)?(?: it(?:'s| is| was)| to)?[,:]? [\"'“‘]?"
    rf"(?:yes|{_OK}|sure|fine|go|go ahead|go for it|do it|proceed|lgtm|agreed)\b"
)
_DID = (
    rf"(?:{_AGREED}|approves|agrees|confirms|consents|okays|signs off|did (?:approve|agree|confirm|consent)|"
    rf"(?:gave|gives|granted)(?: [\w']+){{0,3}}? {_ASSENT}|{_SAID_YES}|"
    rf"(?:is|was|are|were) (?:{_OK}|fine|on board|in agreement) with)\b"
)
_SPOKE = r"(?:(?:was|were) (?:asked|told|shown)|asked|read|reviewed|looked|saw|checked|replied|answered|said|wrote)"
_END = (
    r"(?= ?[^\w\s'-]|$| (?:to|for|in|on|at|via|that|and|or|but|before|after|when|as|so|of|from|with|during|today|"
    r"yesterday|earlier|again|twice|is|was|has|had)\b)"
)
"""Behind a person that is no part of a longer name: `user form`, `client library`, `user's token` go on."""
_BY = r"(?: [\w'-]+){0,3}? (?:by|with) (?:(?:the|our|their|its|a|an) )?"
_GERMAN = r"(?:(?:be)?nutzer(?:in)?s?|anwender(?:in)?s?|kund(?:e|en|in)|auftraggeber(?:in)?s?|person)"
_GERMAN_DID = (
    r"(?:zugestimmt|genehmigt|bestätigt|freigegeben|erlaubt|eingewilligt|abgesegnet|vereinbart|abgestimmt)"
)
_GERMAN_ASSENT = r"(?:zustimmung|genehmigung|erlaubnis|einverständnis|freigabe)"
_CHINESE = r"(?:用户|用戶|客户|客戶|使用者|业主|甲方)"
_CHINESE_DID = (
    r"(?:的|已经|已經|已|也|都|曾|均|明确|明確|口头|书面|表示|最终|刚刚|刚){0,4}"
    r"(?:同意|批准|答应|认可|認可|核准|准许|确认|確認|授权|授權|许可|許可|允许|允許)"
    r"(?!中间件|页面|頁面|按钮|框|弹窗|对话框|模块|流程|功能|服务|接口|协议|信息|机制|系统|表|逻辑|码|邮件|书)"
)
_JAPANESE = r"(?:ユーザー?|利用者|顧客|お客様|クライアント)[がはものから]{1,2}"
_JAPANESE_DID = (
    r"(?:承認|同意|許可|了承|賛成|確認)(?:した|しました|済み|を得|をもら|を受け|された|されました)"
)
_GOT = r"(?:got|received|obtained|secured|have|has|had|with|per)"
_THE = r"(?:the |our |their )?"

_SAYS_SO = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_PERSON}{_HELPING} {_DID}",
        rf"\b{_NO_MACHINE}{_HELPING} {_ALLOWED}\b",
        rf"\b{_PERSON} {_SPOKE}\b[^.;]{{0,60}}?(?:,| and| then){_HELPING} (?:{_AGREED}|{_ALLOWED})\b",
        rf"\b{_AGREED}\b{_BY}{_PERSON}{_END}",
        rf"\b{_ALLOWED}\b{_BY}{_NO_MACHINE}{_END}",
        rf"\b{_GOT} (?:[\w-]+ ){{0,2}}?{_PERSON}(?:'s|')? (?:[\w-]+ ){{0,2}}?{_ASSENT}{_END}",
        rf"\b{_ASSENT} (?:from|by) {_THE}{_PERSON}{_END}",
        rf"\bwith the (?:[\w-]+ )?{_ASSENT} of {_THE}{_PERSON}{_END}",
        rf"\b{_GERMAN} (?:hat|haben) (?:[^ .;]+ ){{0,6}}?{_GERMAN_DID}\b",
        rf"\b(?:vom|von|durch|mit)(?: de[rmn])? {_GERMAN} (?:[^ .;]+ ){{0,3}}?{_GERMAN_DID}\b",
        rf"\b{_GERMAN_ASSENT} (?:des|der|vom|von) {_GERMAN}\b",
        rf"{_CHINESE}{_CHINESE_DID}",
        rf"{_JAPANESE}[^。、]{{0,20}}?{_JAPANESE_DID}",
    )
)
_REFUSED_OR_OPEN = re.compile(
    r"\b(?:no|not|nor|never|neither|nobody|without|if|unless|until|till|whether|where|before|must|should|needs?|"
    r"requires?|will|would|can|could|may|might|shall|await\w*|wait|waiting|pending|ask|(?:asked|asking) for|"
    r"request\w*|seek\w*|get|nicht|nie|niemals|kein\w*|ohne|falls|wenn|ob|bis|muss|soll|wartet?)\b|n't\b|"
    r"\b(?:when|once|after|as soon as)\b.* (?:approves|agrees|confirms|consents|okays|signs off)\b|"
    rf"(?:未经|未經|未|没有?|沒有?|无需|需要?|须|必须|请|請|待|等|若|如果|是否|让|询问|征求|应).{{0,3}}{_CHINESE}",
    re.IGNORECASE,
)
_BEFORE, _WORDS = 60, 3
"""Characters and words before a match that may refuse it or leave it open."""
_CLAUSE = re.compile(r"[.,;:!?()。，、；：！？]")
_PLAIN = str.maketrans({"’": "'", "*": None, "`": None})


def says_so(text: str) -> bool:
    """Whether a text says that a person agreed."""
    lines = (" ".join(line.split()) for line in text.translate(_PLAIN).splitlines())
    return any(
        _is_settled(found) for line in lines for pattern in _SAYS_SO for found in pattern.finditer(line)
    )


def _is_settled(found: re.Match[str]) -> bool:
    start = found.start()
    clause = _CLAUSE.split(found.string[max(0, start - _BEFORE) : start])[-1]
    words = " ".join(clause.split()[-_WORDS:])
    return _REFUSED_OR_OPEN.search(f"{words} {found.group()}") is None
