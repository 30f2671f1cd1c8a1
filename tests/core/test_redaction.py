"""Secrets leave the text; everything else, and the text's form, stays."""

import json
import random
import time

import pytest

from contextlab.core.redaction import redact, redact_counted

GH = "ghp_" + "a1B2" * 9
SECRETS = {
    "aws": ("AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"),
    "github": (GH, GH),
    "github fine-grained": ("github_pat_" + "1A" * 20, "1A1A1A"),
    "gitlab": ("glpat-" + "x9" * 12, "x9x9"),
    "slack": ("xoxb-123456789012-abcdefABCDEF", "abcdefABCDEF"),
    "openai": ("sk-proj-" + "Zz9_" * 12, "Zz9_"),
    "anthropic": ("sk-ant-api03-" + "Qq7-" * 12, "Qq7-"),
    "stripe": ("sk_live_" + "4eC39HqL" * 3, "4eC39HqL"),
    "google": ("AIza" + "Sy9" * 11 + "ab", "Sy9Sy9"),
    "npm": ("npm_" + "aB3" * 12, "aB3aB3"),
    "hugging face": ("hf_" + "kQ2" * 12, "kQ2kQ2"),
    "tavily": ("tvly-" + "k9" * 16, "k9k9"),
    "sendgrid": ("SG." + "a1" * 11 + "." + "b2" * 20, "b2b2"),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl", "c2lnbmF0dXJl"),
    "database address": ("postgres://app:Sup3rS3cretPw@db:5432/x", "Sup3rS3cretPw"),
    "bearer": ("Authorization: Bearer abcDEF123456789ghiJKL", "abcDEF123456789ghiJKL"),
    "basic": ("Authorization: Basic dXNlcjpwYXNzd29yZDE=", "dXNlcjpwYXNzd29yZDE"),
    "name in code": ('api_key = "k3yV4lue-77"', "k3yV4lue-77"),
    "name in JSON": ('{"clientSecret": "q8w7e6r5"}', "q8w7e6r5"),
    "name in a shell": ("DB_PASSWORD=hunterhunter", "hunterhunter"),
    "name in a flag": ("deploy --token abc123def456", "abc123def456"),
    "name in an address": ("https://x.example/?access_token=u7i8o9p0&page=2", "u7i8o9p0"),
    "curl user": ("curl -u joe:hunter22x https://x.example", "hunter22x"),
}
CONTEXTS = {
    "plain": lambda text: f"before\n{text}\nafter",
    "json": lambda text: json.dumps({"out": f"before\n{text}\nafter"}),
    "json in json": lambda text: json.dumps({"a": json.dumps({"out": f"x\n{text} y"})}),
    "after an address": lambda text: f"GET https://x.example/a?b=c {text}",
}
HARMLESS = [
    "def login(token: str, password: str | None = None) -> bool: return check(password)",
    'max_tokens = 4096; token_count=1234; "total_tokens": 99',
    "password = getpass.getpass()",
    "api_key=os.environ['OPENAI_API_KEY']",
    "export OPENAI_API_KEY=${KEY}",
    'password: "<your password>"',
    '"token": null, "secret": true',
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "toolu_01A09q90qw90lq917835lq9 call_abc123DEF456ghi789",
    "d1c2b3a4-0000-4000-8000-1234567890ab",
    "/home/joe/.ssh/config and https://example.com/a:b/c@d",
    "the task-force wrote sk-learn pipelines and a secret: tell nobody",
    "Basic understanding of tokens; the bearer of bad news",
    "npm_config_registry=https://registry.example pypi-upload",
    "postgres://localhost:5432/db and http://[::1]:8000/",
    "tokens: list[int] = encode(text)",
    "SECRET_KEY = env('SECRET_KEY')",
]


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_gone_in_every_context(kind, context):
    """Whatever a secret is wrapped in, its characters do not come through and a mark stands there."""
    text, secret = SECRETS[kind]
    redacted = redact(CONTEXTS[context](text))
    assert secret not in redacted
    assert "[REDACTED:" in redacted


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_is_not_touched(text):
    """Code about secrets, hashes, ids and counts of tokens stay as they are."""
    assert redact(text) == text


@pytest.mark.parametrize("kind", SECRETS)
def test_json_stays_json(kind):
    """A redacted JSON document can still be read, at every depth of quoting."""
    inner = json.dumps({"out": SECRETS[kind][0], "n": 1})
    outer = json.loads(redact(json.dumps({"a": inner})))
    assert json.loads(outer["a"])["n"] == 1


@pytest.mark.parametrize(
    "name", ["signature", "encrypted_content", "call_id", "tool_use_id", "uuid", "sha256"]
)
def test_what_must_stay_byte_exact_stays(name):
    """A provider refuses a changed signature, and an id that changed finds nothing: both pass untouched."""
    text = json.dumps({name: "sk-ant-" + "Zz9_" * 20, "text": "x"})
    assert redact(text) == text
    assert redact(json.dumps({"line": text})) == json.dumps({"line": text})


def test_a_private_key_is_gone_also_when_cut_off():
    """The body of a PEM block goes, whether or not its end is there."""
    body = "MIIEvQIBADANBg\n" * 5
    whole = f"x\n-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\ny"
    assert "MIIEvQ" not in redact(whole)
    assert redact(whole).endswith("-----END RSA PRIVATE KEY-----\ny")
    assert "MIIEvQ" not in redact(f"-----BEGIN PRIVATE KEY-----\n{body}")


def test_marks_are_counted():
    """The caller learns how many places were redacted."""
    text = f"DB_URL=postgres://app:Sup3rS3cretPw@db:5432/x\nAKIAABCDEFGHIJKLMNOP\n{GH}"
    assert redact_counted(text)[1] == 3
    assert redact_counted("nothing here") == ("nothing here", 0)


def test_redacting_twice_changes_nothing_more():
    """A mark is not taken for a secret."""
    for text, _ in SECRETS.values():
        assert redact(redact(text)) == redact(text)


def test_a_long_text_is_redacted_everywhere():
    """Beyond the size that is handled at once, secrets are still found."""
    text = ("x" * 99 + "\n") * 25_000 + GH + "\n" + ("y" * 99 + "\n") * 100
    redacted, marks = redact_counted(text)
    assert marks == 1
    assert GH not in redacted


@pytest.mark.parametrize(
    "unit",
    [
        "eyJ",
        "eyJaaaaaaaa.",
        "password=",
        'password="',
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        '\\"token',
        "bearer ",
        "cookie: a=b; ",
        "sk-",
        "İ",
        'signature":"',
        "--token ",
    ],
)
def test_hostile_text_costs_linear_time(unit):
    """Half a megabyte of nothing but beginnings is done within a generous second or two."""
    started = time.process_time()
    redact(unit * (500_000 // len(unit)))
    assert time.process_time() - started < 5


def test_random_text_never_raises():
    """Any characters at all, lone surrogates included, come back as a text."""
    dice = random.Random(7)
    parts = [
        "password",
        "=",
        '"',
        "\\",
        "'",
        "token",
        ":",
        "\ud800",
        "İ",
        "eyJ",
        ".",
        "sk-",
        "\n",
        "a1",
        " ",
        "%3D",
        "://",
        "@",
    ]
    for _ in range(3000):
        assert isinstance(redact("".join(dice.choices(parts, k=30))), str)
