"""Counting is exact, needs no network, and no text can break it."""

import hashlib
import os
import random
import socket
import subprocess
import sys
from importlib.util import find_spec

import pytest

from contextlab.adapters import tokens, vocabulary
from contextlab.adapters.tokens import counter, install_vocabulary

fast = pytest.mark.skipif(find_spec("toktok") is None, reason="toktok-rs is not installed")


@pytest.fixture(scope="module")
def reference():
    return tokens._Tiktoken("o200k_base")


def test_counting_needs_no_network(installation):
    """With every connection refused, a fresh installation counts in both encodings."""
    script = """
import socket
def refuse(*a, **k): raise AssertionError("network")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
import contextlab.adapters.tokens as t
print(t.counter().count("hello world"), t._Tiktoken("o200k_base").count("hello world"))
print(t._Tiktoken("cl100k_base").count("hello"))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], env=installation, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["2", "2", "1"]
    assert socket.socket.connect  # nothing was changed in this process


def test_installing_twice_writes_once(tmp_path, monkeypatch):
    """The second installation finds the files right and leaves them alone."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "elsewhere")
    first = install_vocabulary(tmp_path)
    before = {path: path.stat().st_ino for path in first.iterdir()}
    assert install_vocabulary(tmp_path) == tmp_path
    assert {path: path.stat().st_ino for path in tmp_path.iterdir()} == before
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(tmp_path)


def test_a_damaged_file_is_replaced(tmp_path, monkeypatch):
    """A cut-off file from a crash would send tiktoken to the network: it is written anew."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "elsewhere")
    file = vocabulary.FILES[0]
    (tmp_path / file.cache_name).write_bytes(b"half")
    install_vocabulary(tmp_path)
    assert hashlib.sha256((tmp_path / file.cache_name).read_bytes()).hexdigest() == file.sha256


def test_a_data_folder_that_cannot_be_made_is_no_obstacle(tmp_path, monkeypatch):
    """The vocabulary then goes to the system's temporary folder."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CONTEXTLAB_DATA", str(tmp_path / "file" / "data"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "elsewhere")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert install_vocabulary().parent == tmp_path


def test_special_tokens_in_a_text_are_text(reference):
    """A transcript that quotes <|endoftext|> is counted, not refused."""
    assert reference.count("<|endoftext|>") > 1
    assert counter().count("<|endoftext|>") == reference.count("<|endoftext|>")


@pytest.mark.parametrize("text", ["\ud800 lone", "a\udfff", "\ud83d\ude00"])
def test_lone_surrogates_are_counted(reference, text):
    """JSON can carry half a character; it counts as the replacement character."""
    assert counter().count(text) == reference.count(text) > 0


@pytest.mark.parametrize("blank", [" ", "\t", "\u3000"])
def test_a_million_blanks_do_not_kill_the_process(reference, blank):
    """tiktoken panics here with an exception that `except Exception` does not catch."""
    assert reference.count(blank * 1_000_000 + "x") > 1000


def test_a_long_text_counts_like_its_whole(reference):
    """Cutting at safe points changes no count."""
    dice = random.Random(3)
    lines = [
        "def f(x):",
        "    return x + 1",
        "",
        "\t// tail /",
        "/slash first",
        "日本語。",
        "  \u00a0 odd",
        "{'a': 1}",
    ]
    text = "\n".join(dice.choices(lines, k=150_000)) + "\r\nend"
    assert len(text) > 1_000_000
    assert len(list(tokens._pieces(text))) > 1
    assert reference.count(text) == reference._count_piece(text)


def test_many_are_counted_in_order(reference):
    """One number for each text."""
    texts = ["a", "", "hello world", "x" * 50]
    assert counter().count_many(texts) == [reference.count(text) for text in texts]
    assert counter().count("") == 0


def test_another_encoding_is_refused():
    """A name that is not shipped would mean a download."""
    with pytest.raises(ValueError, match="p50k_base"):
        counter("p50k_base")


@fast
def test_the_fast_path_is_tested_once_for_these_versions(monkeypatch, tmp_path):
    """The result is kept in the data folder and asked again only for other versions."""
    monkeypatch.setenv("CONTEXTLAB_DATA", str(tmp_path))
    calls = []
    monkeypatch.setattr(tokens, "_counts_agree", lambda: calls.append(1) or True)
    for _ in range(2):
        assert tokens._toktok_is_proved.__wrapped__()
    assert calls == [1]
    (tmp_path / "toktok-self-test.json").write_text('{"versions": {"tiktoken": "0"}, "equal": true}')
    assert tokens._toktok_is_proved.__wrapped__()
    assert calls == [1, 1]


@fast
def test_a_fast_path_that_differs_is_not_used(monkeypatch, tmp_path):
    """Speed never costs a wrong number."""
    monkeypatch.setenv("CONTEXTLAB_DATA", str(tmp_path))
    assert tokens.both_agree_on(["some words"], "o200k_base")
    monkeypatch.setattr(tokens._Toktok, "count_many", lambda self, texts: [0 for _ in texts])
    assert not tokens.both_agree_on(["some words"], "o200k_base")


@fast
@pytest.mark.parametrize("python", ["/bin/false", "/nowhere/python"])
def test_a_self_test_that_fails_or_cannot_run_proves_nothing(monkeypatch, tmp_path, python):
    """The test runs in a process of its own, so that its vocabularies do not stay in memory."""
    monkeypatch.setenv("CONTEXTLAB_DATA", str(tmp_path))
    monkeypatch.setattr(tokens.sys, "executable", python)
    assert not tokens._toktok_is_proved.__wrapped__()


@fast
def test_the_self_test_passes_with_the_versions_that_are_installed(monkeypatch, tmp_path):
    """Whoever installed the fast tokenizer gets it."""
    monkeypatch.setenv("CONTEXTLAB_DATA", str(tmp_path))
    assert tokens._toktok_is_proved.__wrapped__()
