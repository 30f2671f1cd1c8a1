"""Facts that are one word: a run of visible ASCII characters, so that Chinese and Japanese need no blanks around it.

| shape                                    | kind        | subject          | value        |
|------------------------------------------|-------------|------------------|--------------|
| scheme://host:port/path                  | url, port   | the URL; host    | ; port       |
| a/b.py  ./a  C:\\a\\b  a.py  dir/        | path        | the path         |              |
| a/b.py:118   a.py#L118                   | path_line   | the path         | line         |
| host:8443  localhost:8443                | port        | host             | port         |
| ABC-123  #123                            | ticket      | ABC, #           | the ticket   |
| 9f3c2ab (7 to 40 hex, letter and figure) | commit      |                  | the hash     |
| name==1.2.3  name@1.2.3                  | version     | name             | version      |
| NAME=value  --flag=value                 | setting     | name             | value        |
| E_X_412  ERR_X  TS2345  FooError         | error       |                  | the code     |
| snake_case  camelCase  a::b  f()         | identifier  |                  | the name     |

Each distinct word of a text is looked at once. Words longer than LONGEST are counted and not looked into.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from contextlab.core.audit.extract.found import Found, moved
from contextlab.core.audit.kinds import (
    COMMIT,
    ERROR,
    IDENTIFIER,
    PATH,
    PATH_LINE,
    PORT,
    SETTING,
    TICKET,
    URL,
    VERSION,
)
from contextlab.core.audit.language.normalise import canonical, number, path_parts, shown, version
from contextlab.core.audit.results import FactKind

Reader = Callable[[str], Iterator[Found]]
LONGEST = 512
_TOLD = re.compile(r"[0-9/_=\\#]|\w\.\w|::|\(\)|[a-z][A-Z]|E[A-Z]{4}|[a-z](?:Error|Exception)")
_OPENING, _CLOSING = "([{<\"'`*,;:|>~!", ")]}>\"'`*.,;:!?|<"
_AROUND = _OPENING + _CLOSING
_SIGNS = re.compile(r"[/\\:=@#A-Z-]")
"""What is not a name, the name of a file or a commit has one of these."""
_URL = re.compile(
    r"([a-z][a-z0-9+.-]{1,15})://([^/?#\s:@]+(?::[^/?#\s@]*@[^/?#\s:]+)?)(?::(\d{1,5}))?([^\s]*)", re.I
)
_EXTENSIONS = frozenset(
    """
    py pyi ipynb js jsx ts tsx mjs cjs go rs java kt kts scala c h cc cpp hpp cs rb php pl lua r jl swift m
    mm dart ex exs erl hs ml clj vue svelte html htm css scss sass less md mdx rst txt json jsonl json5 yaml
    yml toml ini cfg conf env lock xml csv tsv sql sqlite db sh bash zsh fish ps1 bat log proto graphql tf
    tfvars gradle properties patch diff zst gz zip tar png jpg jpeg svg pdf docx xlsx parquet pem key crt
    service plist tmpl template j2 mod sum map snap
    """.split()
)  # fmt: skip
_ROOTS = frozenset(
    """
    src lib libs app apps cmd pkg internal tests test docs doc config scripts bin deploy build dist public
    static assets packages modules components services server client api web core db migrations tools
    vendor etc usr var home opt tmp users
    """.split()
)
_BARE_NAMES = frozenset({"makefile", "dockerfile", "license", "readme", "gemfile", "procfile", "jenkinsfile"})
_BARE_LETTERS = frozenset(letter for name in _BARE_NAMES for letter in (name[0], name[0].upper()))
_LINE = re.compile(
    r"(.+?)(?::(\d{1,6})(?::\d{1,6})?|#L(\d{1,6})(?:-L?\d{1,6})?|\((\d{1,6})(?:,\d{1,6})?\))\Z"
)
_LINE_ENDS = "0123456789)"
_PATH = re.compile(r"(?:~|[A-Za-z]:(?=[/\\]))?[\w.@+%\[\]~-]*(?:[/\\][\w.@+%\[\]()~ -]*)*\Z")
_ESCAPED = re.compile(r"\\[nrt\"']|\A[^:]*\\\\")
_PORT = re.compile(r"([A-Za-z][\w-]*(?:\.[\w-]+)*|\d{1,3}(?:\.\d{1,3}){3})?:(\d{2,5})\Z")
_TICKET = re.compile(r"(?:([A-Z][A-Z0-9]{1,9})-(\d{1,6})|(?:(GH)-|[\w/-]*#)(\d{1,6}))\Z")
_NO_TICKET = frozenset(
    "UTF SHA ISO MD RFC GPT AES RSA HTTP TLS SSL ES CP BASE ASCII ECMA IEEE X86 ARM CLAUDE O COVID PEP FIPS L".split()
)
_HEX = re.compile(r"(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\Z")
_PIN = re.compile(r"@?([A-Za-z][\w./-]*?)(?:===?|@|~=|>=)v?(\d+(?:\.\d+)+[\w.+-]*)\Z")
_ASSIGNED = re.compile(r"-{0,2}([A-Za-z_][\w.-]{1,60})=([\"'`]?[\w./~-][\w./:@%,+~-]{0,120}[\"'`]?)\Z")
_CODE = re.compile(
    r"(?:E_[A-Z0-9_]*[A-Z0-9]|ERR_[A-Z0-9_]+|[A-Z][A-Z0-9_]*_(?:ERROR|ERR|FAILED|DENIED|EXCEEDED|TIMEOUT|"
    r"INVALID)(?:_[A-Z0-9]+)?|"
    r"[A-Z]{1,5}-?\d{3,5}|[A-Z]{2,5}\d{1,2}-\d{3,5}|E(?:NOENT|ACCES|CONNREFUSED|CONNRESET|ADDRINUSE|TIMEDOUT|"
    r"PIPE|EXIST|PERM|NOTFOUND|"
    r"NOSPC|MFILE|BUSY|INVAL|ISDIR|NOTDIR|NOTEMPTY))\Z"
)
_EXCEPTION = re.compile(r"(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Warning|Fault))\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{22}\Z")
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*(?:\([^()]{0,60}\))?\Z")
_JOINED = re.compile(r"[a-zA-Z0-9]_[a-zA-Z0-9]|[a-z][A-Z]|::|\(\)\Z|\(")


def facts_of(token: str, names: bool) -> tuple[Found, ...]:
    """What one word says; places count from its beginning. `names`: identifiers too."""
    if not names and _SIGNS.search(token) is None and not _is_plain_fact(token):
        return ()
    if not _TOLD.search(token) and token.lower() not in _BARE_NAMES:
        return ()
    word = token.lstrip(_OPENING)
    skipped = len(token) - len(word)
    word = word.rstrip(_CLOSING if not word.endswith("()") else ".,;:!?")
    if word.endswith(")") and "(" not in word:
        word = word.rstrip(")")
    if len(word) < 2 or word.isdigit() or not word.isprintable():
        return ()
    for reader in _readers(word, names):
        if facts := tuple(reader(word)):
            return tuple(moved(one, skipped) for one in facts) if skipped else facts
    return ()


def _is_plain_fact(token: str) -> bool:
    """Whether a word without signs and capitals may be the name of a file, or a commit; else it can only be a name."""
    name = token.strip(_AROUND).partition("(")[0]
    if "." in name:
        return name.rpartition(".")[2] in _EXTENSIONS or name in _BARE_NAMES
    return name in _BARE_NAMES or _HEX.match(name) is not None


def _readers(word: str, names: bool) -> Iterator[Reader]:
    """Who may find something in a word, by the signs that it needs: most words have few of them."""
    if "://" in word:
        yield _url
    if "=" in word or "@" in word:
        yield _pin
    if "-" in word or "#" in word:
        yield _ticket
    if 7 <= len(word) <= 40:
        yield _commit
    if ":" in word:
        yield _port
    if "=" in word:
        yield _assigned
    if _may_be_path(word):
        yield _path
    if not word.islower():
        yield _code
    if names:
        yield _name


def _may_be_path(word: str) -> bool:
    """Whether it has a slash, or an ending or a name that files have, before a line's number."""
    if "/" in word or "\\" in word:
        return True
    if "." not in word:
        return word[0] in _BARE_LETTERS
    name = word.partition(":")[0].partition("(")[0].partition("#")[0].casefold()
    return name.rpartition(".")[2] in _EXTENSIONS or name in _BARE_NAMES


def _found(kind: FactKind, subject: str, value: str, told: str, strong: bool = False, **more: float) -> Found:
    return Found(kind, subject, value, told, 0, len(told), strong, **more)  # type: ignore[arg-type]


def _url(word: str) -> Iterator[Found]:
    at = word.find("://")
    if at < 0:
        return
    begin = at
    while begin > 0 and word[begin - 1].isalnum():
        begin -= 1
    match = _URL.match(word[begin:])
    if match is None:
        return
    _scheme, host, port, rest = match.groups()
    host = host.rpartition("@")[2].casefold()
    rest = rest.split('"')[0].split("`")[0].split("'")[0].rstrip(_CLOSING + "/")
    told = match.group()[: match.start(4)] + rest if match.group(4) else match.group()
    subject = f"{host}{':' + port if port else ''}{rest.casefold()}"
    yield Found(URL, host, subject, told, begin, begin + len(told))
    if port:
        yield Found(PORT, host, port, f"port {port} of {host}", begin, begin + len(told), True, float(port))


def _pin(word: str) -> Iterator[Found]:
    if (match := _PIN.match(word)) is not None:
        name, told = match.groups()
        yield _found(VERSION, canonical(name), ".".join(version(told)), word, True)


def _ticket(word: str) -> Iterator[Found]:
    match = _TICKET.match(word)
    if match is None or match.group(1) in _NO_TICKET or (match.group(1) is None and len(match.group(4)) < 2):
        return
    prefix = match.group(1) or "#"
    figures = match.group(2) or match.group(4)
    yield _found(TICKET, prefix, f"{prefix}{figures}", word)


def _port(word: str) -> Iterator[Found]:
    match = _PORT.match(word)
    if match is None or not 10 <= int(match.group(2)) <= 65535:
        return
    host, port = (match.group(1) or "").casefold(), match.group(2)
    if host.rpartition(".")[2] in _EXTENSIONS or (host and "." not in host and len(port) < 4):
        return
    told = f"port {port} of {host}" if host else f"port {port}"
    yield Found(PORT, host, port, told, 0, len(word), bool(host), float(port))


def _path(word: str) -> Iterator[Found]:
    match = _LINE.match(word) if word[-1] in _LINE_ENDS else None
    name, line = (
        (match.group(1), match.group(2) or match.group(3) or match.group(4)) if match else (word, None)
    )
    if not is_path(name):
        return
    if line:
        yield _found(PATH_LINE, name, line, word)
    yield _found(PATH, name, "", name)


def is_path(name: str) -> bool:
    """Whether a word is a path by its looks."""
    low = "" if "/" in name or "\\" in name else name.casefold()
    if low and low.rpartition(".")[2] not in _EXTENSIONS and low not in _BARE_NAMES:
        return False  # nothing but a name, and not of a file
    if not _PATH.match(name) or not any(letter.isalpha() for letter in name):
        return False
    parts = path_parts(name)
    if not parts or "..." in name or _ESCAPED.search(name):
        return False
    last = parts[-1]
    stem, dot, ending = last.rpartition(".")
    if dot and ending in _EXTENSIONS and (stem or ending in ("env", "gitignore")):
        return len(last) < 120
    if last in _BARE_NAMES:
        return True
    slashes = name.replace("\\", "/").count("/")
    if not slashes or name.startswith("//"):
        return False
    rooted = name.startswith(("./", "../", "~/")) or (name[0] == "/" and slashes > 1)
    if rooted or (name.endswith("/") and len(name) > 2):
        return True
    # `read/write/delete` in a sentence is no path, `cmd/entire/cli` is one
    plain = all(part.isalpha() for part in parts) and parts[0] not in _ROOTS
    return slashes > 1 and name[0] != "-" and not plain


def _assigned(word: str) -> Iterator[Found]:
    match = _ASSIGNED.match(word)
    if match is None:
        return
    name, value = match.group(1), match.group(2).strip("\"'`,;")
    if not value or len(name) < 3 or value[0] in "(<{[$>":
        return
    amount = number(value) if value[0].isdigit() else None
    yield _found(
        SETTING, canonical(name), shown(amount) if amount is not None else value.casefold(), word, True,
        **({} if amount is None else {"amount": amount}),
    )  # fmt: skip


def _code(word: str) -> Iterator[Found]:
    if (match := _EXCEPTION.match(word)) is not None:
        yield _found(ERROR, "", match.group(1), word)
    elif _CODE.match(word) and word.partition("-")[0].rstrip("0123456789") not in _NO_TICKET:
        yield _found(ERROR, "", word, word)


def _commit(word: str) -> Iterator[Found]:
    if _HEX.match(word):
        yield _found(COMMIT, "", word, word)


def _name(word: str) -> Iterator[Found]:
    if len(word) > 80 or not _NAME.match(word) or not _JOINED.search(word) or _UUID.match(word):
        return
    name = word.partition("(")[0]
    if len(name) >= 4:
        yield _found(IDENTIFIER, "", name, name)
