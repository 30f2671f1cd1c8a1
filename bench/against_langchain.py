"""The same chat messages for LangChain and for us, and what either spends on them."""

from __future__ import annotations

import json
import math
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import gen_chat
from bench.measure import CommandError
from bench.places import CACHE

PEER = Path(__file__).with_name("peer_langchain.py")


def theirs(python: Path, what: str, count: int) -> float:
    """CPU seconds that LangChain's way (see peer_langchain.py) spends on so many messages, imports not counted."""
    command = [str(python), str(PEER), str(messages_file(count)), what]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CommandError(done.stderr[-3000:])
    return float(json.loads(done.stdout))


def messages_file(count: int) -> Path:
    """So many chat messages as a file; made once."""
    path = CACHE / "logs" / f"chat-{count}.json"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(gen_chat.messages(count)))
    return path


def ours(one: Callable[[], Any], runs: int = 3) -> float:
    """CPU seconds of the fastest of some runs."""
    best = math.inf
    for _ in range(runs):
        started = time.process_time()
        one()
        best = min(best, time.process_time() - started)
    return best


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """By which power of the size the time grows: a straight line through the logarithms."""
    xs, ys = [math.log(size) for size in sizes], [math.log(one) for one in seconds]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return slope / sum((x - mean_x) ** 2 for x in xs)
