"""The index's words: what stands in a text is found, so that what is not found is not there."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

from contextlab.core.audit import search_words
from contextlab.core.audit.search_words import NoWordsError, near, pieces, query, variants, words

SAMPLES = [
    "the port is 8443, not 8433", "src/app.py:120: E_IDEMPOTENCY_412", "不要修改迁移文件 0042，端口是8443。",
    "ポートは8443です。マイグレーション", "포트는 8443입니다",
    "คุณห้ามแก้ไขไฟล์", "naïve Übergröße ΣΟΦΟΣ", "a" * 150 + " b",
        "{\"a\": \"one\\ntwo\\t\\u4f60\\u597d\"}", "C:\\new\\table.txt", "👍🏽 done ✅",
    "İstanbul ﬁle ＦＵＬＬ", "x_y-z.w", "",
]  # fmt: skip


def indexed(text: str, asked: Any) -> bool:
    """Whether an index of the text has the phrase of a query in one piece."""
    for reading in variants(text):
        for piece in pieces(words(reading)):
            size = len(asked.phrase)
            for at in range(len(piece) - size + 1):
                part = piece[at : at + size]
                exact, last = tuple(part[:-1]) == asked.phrase[:-1], part[-1]
                if exact and (
                    last == asked.phrase[-1] or (asked.open_end and last.startswith(asked.phrase[-1]))
                ):
                    return True
    return False


def holds(text: str, asked: Any) -> bool:
    """Whether the text itself holds the query, in any reading."""
    return any(asked.find(reading) for reading in variants(text))


@pytest.mark.parametrize(
    ("text", "asked", "there"),
    [
        ("port 8443 open", "8443", True), ("port 18443 open", "8443", False), ("port 84431", "8443", False),
        ("port 84431", "8443*", True), ("Port 8443", "port  8443", True), ("port: 8443", "port 8443", False),
        ("src/app.py", "app.py", True), ("my_setting", "setting", True), ("端口是8443。", "口是", True),
        ("端口是8443。", "8443", True), ("端口是8443。", "是8443", True), ("端口是8443。", "口", True),
        ("端口是8443。", "端", True), ("端口", "口是", False), ("ห้ามแก้ไขไฟล์", "แก้ไข", True),
        ('{"cmd": "one\\ntwo"}', "two", True), ("C:\\new", "new", True), ('"\\u7aef\\u53e3"', "端口", True),
        ("x" * 100, "x" * 100, True), ("x" * 100, "x" * 99, False), ("x" * 100, "x" * 70 + "*", True),
        ("Übergröße", "ÜBERGRÖSSE", False), ("Übergröße", "übergröße", True), ("a\nb", "a b", True),
    ],
)  # fmt: skip
def test_whole_words_in_any_case(text: str, asked: str, there: bool) -> None:
    """A text is found as whole words; the text itself decides, and the index never hides it."""
    made = query(asked)
    assert holds(text, made) == there
    if there:
        assert indexed(text, made)


def test_what_the_text_holds_the_index_finds() -> None:
    """For 4,000 random texts and pieces of them: whenever the text holds it, the index has it."""
    chance = random.Random(5)
    found = 0
    for _ in range(4_000):
        text = chance.choice([" ", ", ", "", "\n", "\\n"]).join(
            chance.choices(SAMPLES, k=chance.randint(1, 6))
        )
        first = chance.randrange(len(text) + 1)
        part = text[first : first + chance.randint(1, 40)]
        try:
            asked = query(part + chance.choice(["", "*"]))
        except ValueError:
            continue
        if holds(text, asked):
            found += 1
            assert indexed(text, asked), (text, part)
    assert found > 1_000


def test_a_phrase_across_pieces_is_found() -> None:
    """Pieces overlap by a phrase."""
    text = " ".join(f"w{number}" for number in range(2_000))
    for start in range(0, 1_980, 7):
        assert indexed(text, query(" ".join(f"w{number}" for number in range(start, start + 16))))


def test_more_words_than_a_phrase_are_compared_with_the_text() -> None:
    """The index looks for the first words, the text tells the rest."""
    asked = query(" ".join(f"w{number}" for number in range(40)))
    assert len(asked.phrase) == search_words.PHRASE
    assert not asked.find(" ".join(f"w{number}" for number in range(39)))


@pytest.mark.parametrize("asked", ["", "  ", "=>", "👍", "*", "-- !"])
def test_a_query_without_words_is_refused(asked: str) -> None:
    """Nothing that an index could look for."""
    with pytest.raises(NoWordsError):
        query(asked)


def test_a_query_that_is_too_long_is_refused() -> None:
    """Nobody looks for a book."""
    with pytest.raises(ValueError, match="more than"):
        query("x" * 1_001)


def test_words_are_letters_and_digits_of_ascii() -> None:
    """Every database splits and compares them alike."""
    for text in SAMPLES:
        assert all(word.isascii() and word.isalnum() and word == word.lower() for word in words(text))


@pytest.mark.parametrize(
    ("text", "asked", "other"),
    [
        ("The port 8433 is used", "port 8443", "port 8433"), ("port 8443", "port 8443", None),
        ("retry 5 attempts", "3 attempts", "5 attempts"), ("timeout = 30", "timeout 60", "timeout = 30"),
        ("a port and 8433", "port 8443", None), ("port eight", "port 8443", None), ("8433", "8443", None),
    ],
)  # fmt: skip
def test_another_value_in_its_place_is_noticed(text: str, asked: str, other: str | None) -> None:
    """The same words with one number changed; a lone number says nothing."""
    assert near(text, query(asked)) == other


@pytest.mark.parametrize(
    "text", ["1" * 2_000_000, "a " * 400_000, "\\" * 300_000, "你" * 300_000, "\\u4f" * 100_000]
)
def test_adversarial_texts_take_bounded_time(text: str) -> None:
    """Two million digits, backslashes without end: linear, and in bounded pieces."""
    began = time.process_time()
    made = [piece for reading in variants(text) for piece in pieces(words(reading))]
    assert time.process_time() - began < 20  # a guard against exponential time, no measurement
    assert all(len(piece) <= search_words.PIECE for piece in made)
    query("port 8443 is (a+)+ the one").find(text)
    near(text[:200_000], query("a 1 a 1 a"))


def test_a_find_that_is_part_of_a_word_hides_no_whole_one() -> None:
    """Also where the two overlap, and at the very ends of a text."""
    assert query("a a").find("ba a a", 9) == [(3, 6)]
    assert query("ab").find("abab ab xab ab", 9) == [(5, 7), (12, 14)]
    assert query("ab").find("ab", 9) == [(0, 2)]
    assert query("-ab*").find("x-abc-ab", 9) == [(1, 4), (5, 8)]


def test_another_value_is_found_in_many_summaries_of_one_question() -> None:
    """What is looked for is worked out once; each text is looked at by itself."""
    asked = query("port 8443")
    assert [near(text, asked) for text in ("port 8433", "port 8443", "a port, 84", "ports 1")] == [
        "port 8433", None, "port, 84", None,
    ]  # fmt: skip
    assert near("Port: 99", asked) == "Port: 99"
