"""Exact token counts without a network: tiktoken, or toktok-rs where it is installed and has proved to count the same.

counter().count("hello")          o200k_base, loaded once per process
counter("cl100k_base").name       'toktok-rs 0.3.0'
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from contextlab.adapters.data_folder import data_folder
from contextlab.adapters.vocabulary import install_vocabulary
from contextlab.core.measuring.tokens import O200K, TokenCounter

__all__ = ["counter", "install_vocabulary"]

ENCODINGS = ("o200k_base", "cl100k_base")
_SELF_TEST_SECONDS = 300
_LARGE = 1_000_000  # characters; larger texts are cut at safe points and counted in pieces
# The count of the whole is the sum of the counts when a text is cut right after a line end that is followed by
# blanks and a visible character other than "/" (proved by fuzzing on both vocabularies).
_SAFE_CUT = re.compile(r"(?<=[\r\n])(?=[^\S\r\n]{0,1000}[^\s/])")
_BLANKS = 128 * 781  # whole tokens of 128 blanks each, so that a cut costs nothing in the common case
# tiktoken panics at a run of a million blanks; cut by hand such a run may cost a token of exactness.
_LONG_BLANKS = re.compile(rf"[^\S\r\n]{{{_BLANKS}}}")


def _clean(text: str) -> str:
    """The text with lone surrogates replaced, as tiktoken itself does it; JSON can carry them, UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of about a million characters whose counts add up; one piece where no cut is safe."""
    start = 0
    while len(text) - start > _LARGE:
        cut = _SAFE_CUT.search(text, start + _LARGE // 2)
        if cut is None:
            break
        yield text[start : cut.start()]
        start = cut.start()
    yield text[start:]


class _Tiktoken:
    """The reference: OpenAI's own tokenizer."""

    def __init__(self, encoding: str) -> None:
        install_vocabulary()
        import tiktoken

        self.name = f"tiktoken {metadata.version('tiktoken')}"
        self.encoding = encoding
        self._encoding = tiktoken.get_encoding(encoding)

    def count(self, text: str) -> int:
        return sum(
            self._count_piece(part) for piece in _pieces(_clean(text)) for part in _without_long_blanks(piece)
        )

    def count_many(self, texts: list[str]) -> list[int]:
        return [self.count(text) for text in texts]

    def _count_piece(self, text: str) -> int:
        # encode, not encode_ordinary: that one panics on some texts with an exception nobody catches.
        return len(self._encoding.encode(text, disallowed_special=()))


def _without_long_blanks(text: str) -> Iterator[str]:
    start = 0
    for run in _LONG_BLANKS.finditer(text):
        yield text[start : run.end()]
        start = run.end()
    if start < len(text):
        yield text[start:]


class _Toktok:
    """The same numbers, an order of magnitude faster, without ever building the ids."""

    def __init__(self, encoding: str) -> None:
        import toktok

        self.name = f"toktok-rs {metadata.version('toktok-rs')}"
        self.encoding = encoding
        self._count: Any = toktok.batch_count

    def count(self, text: str) -> int:
        return self.count_many([text])[0]

    def count_many(self, texts: list[str]) -> list[int]:
        # One thread: Celery's pool forks, and a thread pool does not survive that.
        try:
            return list(self._count(texts, self.encoding, threads=1))
        except (UnicodeEncodeError, TypeError):
            return list(self._count([_clean(text) for text in texts], self.encoding, threads=1))


@cache
def counter(encoding: str = O200K) -> TokenCounter:
    """The counter of this process for the encoding (o200k_base or cl100k_base); ValueError for any other."""
    if encoding not in ENCODINGS:
        raise ValueError(f"Unknown encoding {encoding!r}.")
    return _Toktok(encoding) if _toktok_is_proved() else _Tiktoken(encoding)


@cache
def _toktok_is_proved() -> bool:
    """Whether toktok-rs is here and agreed with tiktoken in the self-test of these two versions."""
    try:
        versions = {name: metadata.version(name) for name in ("tiktoken", "toktok-rs")}
    except metadata.PackageNotFoundError:
        return False
    stored = data_folder() / "toktok-self-test.json"
    known = _read(stored)
    if known is None or known.get("versions") != versions:
        known = {"versions": versions, "equal": _counts_agree()}
        _remember(stored, known)
    return known.get("equal") is True


def _counts_agree() -> bool:
    """Ask processes of their own: four vocabularies take 250 MB, which no worker that imports shall keep."""
    return all(_agrees_in_a_process(encoding) for encoding in ENCODINGS)


def _agrees_in_a_process(encoding: str) -> bool:
    command = [sys.executable, "-m", "contextlab.adapters.self_test", encoding]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_SELF_TEST_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def both_agree_on(texts: list[str], encoding: str) -> bool:
    """Whether both tokenizers count these texts alike."""
    return _Tiktoken(encoding).count_many(texts) == _Toktok(encoding).count_many(texts)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        known = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) else None


def _remember(path: Path, result: dict[str, Any]) -> None:
    """A data folder that cannot be written only means that the test is made again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(json.dumps(result))
    except OSError:
        pass
