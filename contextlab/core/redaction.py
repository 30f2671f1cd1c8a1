"""Secrets are taken out of text by their shape and by the name they stand under.

    redact('token_count=5 api_key="tvly-k9k9k9k9k9"')  ->  'token_count=5 api_key="[REDACTED:api_key]"'

How it stays fast and linear: every rule begins with fixed anchors. Anchors are found by plain substring search,
and only there is the rule's pattern tried, once; patterns have bounded lengths and stop at the first character
that cannot belong to the secret. A text without any anchor is returned as it is.

Works on plain text, JSON, JSON inside JSON (any depth of backslashes) and URLs; JSON stays valid JSON.
What providers demand back byte by byte (signature, encrypted_content) and ids are never touched.
Not found: secrets without a known shape or name, and secrets that are encoded (base64, hex).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MARK = "[REDACTED:{kind}]"
_PIECE = 1_000_000  # characters handled at once; longer texts are cut at a line end
_Span = tuple[int, int, str]


@dataclass(frozen=True)
class _Rule:
    """`anchors` are lower-case substrings; `pattern` is matched where one stands; its group `v` (or all) goes."""

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    at_word_start: bool = True


def _shape(kind: str, anchors: str, pattern: str) -> _Rule:
    return _Rule(kind, tuple(anchors.lower().split()), re.compile(pattern))


_T = "[A-Za-z0-9_-]"
_SHAPES = (
    _shape("aws_key", "AKIA ASIA", r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _shape("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,255}"),
    _shape("github_token", "github_pat_", rf"github_pat_{_T}{{22,255}}"),
    _shape("gitlab_token", "glpat- gldt- glrt-", rf"gl(?:pat|dt|rt)-{_T}{{20,255}}"),
    _shape(
        "slack_token", "xoxa- xoxb- xoxe- xoxp- xoxr- xoxs- xapp-", rf"x(?:ox[abeprs]|app)-{_T}{{10,255}}"
    ),
    _shape(
        "slack_hook", "hooks.slack.com/services/", r"hooks\.slack\.com/services/(?P<v>[A-Za-z0-9/]{20,200})"
    ),
    _shape("api_key", "sk-", rf"sk-(?={_T}{{0,200}}\d){_T}{{20,512}}"),
    _shape("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,255}"),
    _shape("stripe_key", "whsec_", r"whsec_[A-Za-z0-9+/=]{16,255}"),
    _shape("google_key", "AIza", rf"AIza{_T}{{35}}"),
    _shape("google_token", "ya29. GOCSPX-", rf"(?:ya29\.|GOCSPX-){_T}{{20,1024}}"),
    _shape("npm_token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _shape("pypi_token", "pypi-", rf"pypi-{_T}{{50,512}}"),
    _shape("api_key", "hf_ gsk_ r8_", r"(?:hf|gsk|r8)_[A-Za-z0-9]{30,128}"),
    _shape(
        "api_key", "tvly- xai- pplx- nvapi-", rf"(?:tvly|xai|pplx|nvapi)-(?={_T}{{0,128}}\d){_T}{{20,255}}"
    ),
    _shape("sendgrid_key", "SG.", rf"SG\.{_T}{{16,64}}\.{_T}{{16,128}}"),
    _shape("api_token", "dop_v1_ shpat_ lin_api_", r"(?:dop_v1|shpat|lin_api)_[A-Za-z0-9]{30,128}"),
    _shape("twilio_key", "sk", r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _shape("mailgun_key", "key-", r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _shape("jwt", "eyj", rf"eyJ{_T}{{8,4096}}\.eyJ{_T}{{8,8192}}(?:\.{_T}{{0,2048}})?"),
    _shape("age_key", "age-secret-key-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,70}"),
)
_ANYWHERE = (
    _Rule(
        "private_key",
        ("-----begin ",),
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?P<v>(?:[^-\"]|-(?!----)){0,20000})"
        ),
        at_word_start=False,
    ),
    _Rule(
        "url_password",
        ("://",),
        re.compile(r"://[^\s/:@\"'<>\\]{0,128}:(?P<v>(?![$<{*])[^\s/@\"'<>\\]{1,256})@"),
        at_word_start=False,
    ),
    _Rule(
        "authorization",
        ("bearer ", "bearer%20"),
        re.compile(r"(?i:bearer)(?: |%20)(?P<v>[A-Za-z0-9._~+/=-]{16,4096})"),
    ),
    _Rule(
        "authorization", ("basic ",), re.compile(r"(?i:basic) (?P<v>[A-Za-z0-9+/]{16,512}={0,2})(?![\w ])")
    ),
    _Rule(
        "cookie",
        ("cookie:",),
        re.compile(
            r"(?i:cookie): ?(?P<v>[\w.-]{1,64}=[^\s\"'\\]{8,2048}(?:; ?[\w.-]{1,64}=[^\s\"'\\]{1,2048}){0,40})"
        ),
        at_word_start=False,
    ),
    _Rule(
        "password",
        (" -u ",),
        re.compile(r" -u [\"']?[\w.@-]{1,64}:(?P<v>[^\s\"'\\]{4,256})"),
        at_word_start=False,
    ),
)

# Secrets by the name they stand under. The name ends at the anchor's end or with one of these; so `token_count`,
# `max_tokens` and `password_hash_rounds` are other names.
_NAMES = (
    "password passwd passphrase secret api_key apikey api-key access_key accesskey access-key private_key privatekey "
    "token credential credentials client_secret accountkey sharedaccesskey pwd auth_key authkey"
).split()
_NAME_END = r"(?:[_-]?(?:key|value|prod|dev|test|base|id_rsa|access_key)|[0-9]{1,2})?"
_QUOTED = r"""
    (?P<q>\\{0,16}["'])(?P<v>
        (?:(?<=[^\\]["'])(?:[^"'\\\n]|\\.|(?!(?P=q))["']){0,4096}   # a string with escapes of its own
        |(?:[^"'\\\n]){0,4096}?)                                   # a string inside an escaped one
    )(?P=q)
"""
_BARE = r"(?P<w>[^\s\"'\\,;&|(){}\[\]<>`]{1,4096})(?![(\[{<])"
_NAMED = re.compile(
    rf"(?ix)(?:{'|'.join(sorted(_NAMES, key=len, reverse=True))}){_NAME_END}"
    rf"(?P<nq>\\{{0,16}}[\"'])?(?P<sep>\s{{0,4}}(?:=>|:=|=|:|%3D)\s{{0,4}}|\s)(?:{_QUOTED}|{_BARE})"
)
_KEPT_NAMES = (
    "signature thoughtsignature thought_signature encrypted_content call_id tool_call_id tool_use_id uuid parentuuid "
    "sha256 hash".split()
)
_KEPT = re.compile(rf"(?i)(?:{'|'.join(_KEPT_NAMES)})(\\{{0,16}}\")\s{{0,4}}:\s{{0,4}}\1[^\"\\]{{0,1000000}}")
_PLACEHOLDER = re.compile(
    r"(?i)(?:your|my|the|some|example|changeme|change-me|placeholder|redacted|none|null|nil|undefined|true|false|"
    r"string|str|optional|secret|token|password|todo|xxx|os\.|env\.|process\.|self\.|settings\.|config\.|[$<{*%])"
)


def redact(text: str) -> str:
    """The text with every secret replaced by `[REDACTED:kind]`; never raises."""
    return redact_counted(text)[0]


def redact_counted(text: str) -> tuple[str, int]:
    """The redacted text and how many marks were set."""
    if len(text) <= _PIECE:
        return _redact_piece(text)
    parts, total = [], 0
    for piece in _pieces(text):
        part, count = _redact_piece(piece)
        parts.append(part)
        total += count
    return "".join(parts), total


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = min(start + _PIECE, len(text))
        if end < len(text):
            end = text.rfind("\n", start, end) + 1 or end
        yield text[start:end]
        start = end


def _redact_piece(text: str) -> tuple[str, int]:
    low = text.lower()
    if len(low) != len(text):
        # A few letters grow when lowered; positions would be off. ASCII is all that the anchors need.
        low = "".join(char.lower() if char.isascii() else char for char in text)
    spans = [*_by_shape(text, low), *_by_name(text, low)]
    if not spans:
        return text, 0
    spans.sort(key=lambda span: (span[0], -span[1]))  # of two that start together the longer one counts
    return _cut_out(text, spans, _kept_spans(text, low))


def _places(low: str, anchors: tuple[str, ...]) -> Iterator[int]:
    for anchor in anchors:
        at = low.find(anchor)
        while at >= 0:
            yield at
            at = low.find(anchor, at + len(anchor))


def _by_shape(text: str, low: str) -> Iterator[_Span]:
    for rule in (*_SHAPES, *_ANYWHERE):
        for at in _places(low, rule.anchors):
            if rule.at_word_start and not _word_starts(text, at):
                continue
            if found := rule.pattern.match(text, at):
                group = "v" if "v" in rule.pattern.groupindex else 0
                yield (*found.span(group), rule.kind)


def _word_starts(text: str, at: int) -> bool:
    """Whether a word starts here; `\\n` in JSON and `%3D` in a URL end the word before, though they end in a letter."""
    if at == 0 or not (text[at - 1].isalnum() or text[at - 1] in "_-"):
        return True
    return (text[at - 1] in "nrtbf" and text[at - 2 : at - 1] == "\\") or text[at - 3 : at - 2] == "%"


def _by_name(text: str, low: str) -> Iterator[_Span]:
    for at in _places(low, tuple(_NAMES)):
        found = _NAMED.match(text, at)
        if found is None:
            continue
        if found["sep"].isspace() and not _is_flag(text, at):
            continue
        group = "v" if found["q"] else "w"
        if _looks_secret(found[group], quoted=group == "v", loud=text[at : at + 3].isupper()):
            yield (*found.span(group), _kind(low, at))


def _is_flag(text: str, at: int) -> bool:
    """Whether the name is a command-line flag: only there may a blank stand before the value."""
    start = text.rfind(" ", max(0, at - 40), at) + 1
    return text.startswith("--", start)


def _kind(low: str, at: int) -> str:
    name = next(name for name in sorted(_NAMES, key=len, reverse=True) if low.startswith(name, at))
    return name.replace("-", "_")


def _looks_secret(value: str, *, quoted: bool, loud: bool) -> bool:
    """Quoted values are secrets unless they are plainly none. A bare word is one when it mixes letters and digits,
    or stands under a loud NAME as in an .env file; otherwise it is code: `token: str`, `password=password`."""
    value = value.strip()
    if len(value) < 4 or _PLACEHOLDER.match(value) or "[REDACTED" in value:
        return False
    if quoted:
        return " " not in value
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return len(value) >= 6 and (mixed or (loud and not value.isdigit() and "." not in value))


def _kept_spans(text: str, low: str) -> list[tuple[int, int]]:
    found = (_KEPT.match(text, at) for at in _places(low, tuple(_KEPT_NAMES)))
    return [match.span() for match in found if match]


def _cut_out(text: str, spans: list[_Span], kept: list[tuple[int, int]]) -> tuple[str, int]:
    parts: list[str] = []
    done = count = 0
    for start, end, kind in spans:
        if start < done or any(first <= start < last for first, last in kept):
            continue
        parts += text[done:start], MARK.format(kind=kind)
        done, count = end, count + 1
    parts.append(text[done:])
    return "".join(parts), count
