"""What counts as a fact, of which kind, in prose, code, outputs and other languages."""

from __future__ import annotations

import pytest

from contextlab.core.audit.extract.lexicon import SPOKEN
from contextlab.core.audit.extract.numbers import number_facts
from contextlab.core.audit.extract.sentences import person_facts
from contextlab.core.audit.language.normalise import close, number, same_version, unit, version
from contextlab.core.audit.language.paths import PathGroups
from contextlab.core.audit.language.words import content
from tests.core.audit.talks import agent, bash, ledger, user


def found(text: str) -> set[tuple[str, str]]:
    """Kind and what is shown of every fact of a sentence."""
    said, _, hints = SPOKEN.read(text)
    return {(str(one.kind), one.shown) for one in said + number_facts(text, hints)}


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        ("Look at src/cart.py.", "path", "src/cart.py"),
        ("(see ./docs/a.md)", "path", "./docs/a.md"),
        ("under `migrations/`,", "path", "migrations/"),
        (r"C:\work\shop\cart.cs", "path", r"C:\work\shop\cart.cs"),
        ("at src/cart.py:118:7:", "path_line", "src/cart.py:118:7"),
        ("src/cart.py#L118", "path_line", "src/cart.py#L118"),
        ("<https://x.example.com/a?b=c>", "url", "https://x.example.com/a?b=c"),
        ("postgres://db.internal:5432/shop", "port", "port 5432 of db.internal"),
        ("localhost:8080", "port", "port 8080 of localhost"),
        ("it uses ports 80 and 8443", "port", "port 8443"),
        ("ポートは8443です", "port", "port 8443"),
        ("端口号：8443", "port", "port 8443"),
        ("ABC-123", "ticket", "ABC-123"),
        ("fixes #4821", "ticket", "#4821"),
        ("commit 9f3c2ab1", "commit", "9f3c2ab1"),
        ("acme-lib==1.2.3", "version", "acme-lib==1.2.3"),
        ("Python 3.12", "version", "Python 3.12"),
        ("MAX_RETRIES=3", "setting", "MAX_RETRIES=3"),
        ("`session_ttl` is 1800", "setting", "session_ttl = 1800"),
        ("raised ECONNREFUSED", "error", "ECONNREFUSED"),
        ("a KeyError", "error", "KeyError"),
        ("error TS2345", "error", "TS2345"),
        ("the retry_policy() of it", "identifier", "retry_policy"),
        ("Cart::total", "identifier", "Cart::total"),
        ("at most 3 attempts", "quantity", "3 attempts"),
        ("30 s", "quantity", "30 s"),
        ("三次", "quantity", "三次"),
        ("30分钟", "quantity", "30分钟"),
        ("batch size 500", "quantity", "batch size 500"),
        ("HTTP 503", "quantity", "HTTP 503"),
    ],
)
def test_a_detail_is_found_with_its_kind(text, kind, shown):
    """Punctuation and quotes around it do not count."""
    assert (kind, shown) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "and/or", "he/she said yes/no", "e.g. this", "UTF-8 and SHA-256", "1. First", "2024/01", "a == b", "x = y",
        "...", "v", "---", "12:30", "deadbeef", "1234567", "!= ==", "[1, 2, 3]",
    ],
)  # fmt: skip
def test_what_is_no_detail(text):
    """Words that look like one."""
    kinds = {kind for kind, _ in found(text)}
    assert kinds <= {"quantity"}, found(text)
    assert not kinds


@pytest.mark.parametrize(
    "text",
    [
        "Never edit db/schema.sql.", "You must keep the API stable.", "Don't touch the vendor folder.",
        "Only change src/billing.", "Keep the old endpoint.", "不要修改配置文件。", "必须用英文写注释。",
        "只能改 src/pay 目录。",
        "テストは必ず実行してください。", "この設定は変更しないでください。", "Bitte ändere die Datei niemals.",
    ],
)  # fmt: skip
def test_rules_of_a_person(text):
    """In four languages."""
    assert [str(one.kind) for one in person_facts(text, first=True)] == ["rule"]


@pytest.mark.parametrize(
    "text",
    [
        "The tests don't pass.",
        "These patterns don't match.",
        "Why is it slow?",
        "Fix the cart.",
        "它很慢。",
        "遅いです。",
    ],
)
def test_what_is_no_rule(text):
    """Telling and asking are not ordering."""
    assert [one for one in person_facts(text, first=True) if one.kind == "rule"] == []


def test_only_a_person_gives_rules():
    """What the agent, or a file that it reads, says with `never` binds nobody."""
    done = ledger(
        user("Help."), agent("I will never edit db/schema.sql."), bash("cat AGENTS.md", "Never commit to main."),
        summary="Work goes on.",
    )  # fmt: skip
    assert [entry for entry in done.entries if entry.fact.kind == "rule"] == []


def test_numbers_in_many_forms():
    """Separators, signs, full width; what is no single number is none."""
    assert [number(text) for text in ("1,800", "1_800", "1.800.000", "2,5", "2.5", "007")] == [
        1800, 1800, 1_800_000, 2.5, 2.5, 7,
    ]  # fmt: skip
    assert number("1.2.3") is None
    assert number("9" * 40) is None
    assert unit("Seconds") == unit("s") == ("time", 1)
    assert unit("retries") == unit("次") == ("attempt", 1)
    assert unit("banana") is None
    assert close(1.9e6, 1_903_211, "row")
    assert not close(5, 3, "attempt")
    assert not close(8433, 8443, "port")
    assert same_version(version("v2.3.0"), version("2.3"))
    assert not same_version(version("2.3.0"), version("2.4.0"))


def test_words_of_three_languages_share_concepts():
    """So a translated sentence still has its objects."""
    assert (
        content("edit the tests of the database")
        == content("修改数据库的测试")
        == {"change", "test", "database"}
    )
    assert content("データベースのテスト") == {"test", "database"}


def test_paths_of_one_file():
    """The longest path names it; where two files end alike a bare name stays its own."""
    groups = PathGroups(
        ["/home/a/shop/src/cart.py", "src/cart.py", "cart.py", "lib/util.py", "src/util.py", "util.py"]
    )
    assert groups.name("cart.py") == groups.name("./src/cart.py") == "/home/a/shop/src/cart.py"
    assert groups.name("util.py") == "util.py"
    assert len(groups.by_last["util.py"]) == 3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("We stop — after three tries ✓ as before", "three tries"),
        ("Stop after Two tries, not two of five", "Two tries"),
        ("三次 then stop", "三次"),
    ],
)
def test_numbers_in_words_are_read_among_signs_and_other_letters(text, shown):
    """A dash, a tick or another alphabet hides no number that somebody wrote as a word."""
    assert ("quantity", shown) in found(text)


def test_one_numeral_belongs_to_one_noun():
    """`two five seconds` is no five seconds: a word that another number took is not read again."""
    assert ("quantity", "five seconds") not in found("two five seconds")


def test_decisions_are_read_beside_signs():
    """What an agent decided is a fact also where dashes and arrows stand around it."""
    done = ledger(user("Which one?"), agent("→ We decided to use Redis — it is faster."), summary="Nothing.")
    assert any(one.fact.kind == "decision" and "Redis" in one.fact.text for one in done.entries)


def test_the_last_lines_of_a_failed_result_count():
    """Of many lines that name an error the last six are facts."""
    output = "Exit code 1\n" + "\n".join(f"fatal: cannot open part {letter}" for letter in "abcdefghij")
    done = ledger(bash("make", output), summary="Nothing.")
    told = {one.fact.text[-1] for one in done.entries if one.fact.kind == "error"}
    assert told == set("efghij")
