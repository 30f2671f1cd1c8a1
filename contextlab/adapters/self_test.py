"""Texts on which a fast tokenizer must agree with tiktoken before it is trusted: about 120,000 characters.

python -m contextlab.adapters.self_test o200k_base      exit code 0 when it does
"""

from __future__ import annotations

import random
import sys

from contextlab.adapters.tokens import both_agree_on

_SCRIPTS = (
    "The quick brown fox doesn't jump; it's asleep. WE'LL see, I'd say. ",
    (
        "def parse(line: str) -> dict[str, int]:\n"
        "    return {k: int(v) for k, v in (p.split('=') for p in line.split(','))}\n\n"
    ),
    (
        '{"id": "call_9f8e7d", "type": "function", '
        '"arguments": "{\\"path\\": \\"/srv/app/main.py\\", \\"n\\": 12345678}"}\n'
    ),
    "日本語の文章です。中文的句子没有空格。한국어 문장도 있어요. ",
    "Привет, как дела? مرحبا بالعالم. नमस्ते दुनिया. สวัสดีชาวโลก. שלום עולם. ",
    "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 e\u0301 \u200b\ufeff ",
    "2026-11-03T10:00:00.123Z ERROR [worker-1] GET /api/v1/items?id=00123&x=%20 500 0.0123s\r\n",
    "aGVsbG8gd29ybGQhIFRoaXMgaXMgYmFzZTY0IQ== 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n",
    "\t\t    \n\n\n   \r\n\t x  \u00a0\u2003y\u3000 ",
    "<|endoftext|> <|im_start|>system <|fim_prefix|> ",
    "==================== //////// ---- ****** \\\\\\\\ ''''' 1234567890123 ",
)


def _texts() -> list[str]:
    """The scripts, repeated and mixed, and random characters; the same texts in every process."""
    dice = random.Random(20261103)  # noqa: S311 - repeatable on purpose
    texts = ["", " ", "\n", *_SCRIPTS, *(script * 60 for script in _SCRIPTS)]
    for _ in range(150):
        cuts = [script[dice.randrange(len(script)) :] for script in dice.choices(_SCRIPTS, k=4)]
        texts.append("".join(cuts))
    for top in (0x80, 0x600, 0x3000, 0xD000, 0x1F700):
        letters = "".join(chr(dice.randrange(1, top)) for _ in range(3000))
        texts += [letters.encode("utf-8", "ignore").decode()]
    texts += [" " * 5000, "a" * 5000, "\n" * 3000, "=" * 3000, " " * 999 + "x"]
    return texts


TEXTS = _texts()


if __name__ == "__main__":
    sys.exit(0 if both_agree_on(TEXTS, sys.argv[1]) else 1)
