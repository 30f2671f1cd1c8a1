"""Numbers of tokens that no call can have are unknown, and the import report says where they stood."""

from __future__ import annotations

from typing import Any

import pytest

from tests.importers.claude_log import Log, text
from tests.importers.codex_log import Rollout
from tests.importers.reading import lines, read

IMPOSSIBLE = [-5, 2**63, 10**400]


def claude(tokens: Any) -> bytes:
    log = Log()
    log.user("go")
    log.answer("m1", text("ok"), usage={"input_tokens": tokens, "output_tokens": 3})
    return log.data


def codex(tokens: Any) -> bytes:
    log = Rollout()
    log.task("t1")
    log.say("user", "go")
    log.say("assistant", "ok")
    last = {"input_tokens": tokens, "cached_input_tokens": 0, "output_tokens": 3, "total_tokens": 3}
    log.event("token_count", info={"total_token_usage": {"total_tokens": 3}, "last_token_usage": last})
    return log.text().encode()


def chat(tokens: Any) -> bytes:
    usage = {"prompt_tokens": tokens, "completion_tokens": 3}
    return lines({"role": "user", "content": "go"}, {"role": "assistant", "content": "ok", "usage": usage})


@pytest.mark.parametrize("tokens", IMPOSSIBLE, ids=["negative", "beyond 64 bits", "400 digits"])
@pytest.mark.parametrize("log", [claude, codex, chat])
def test_an_impossible_figure_is_unknown_and_told(log: Any, tokens: int) -> None:
    """The rest of the usage stays; the warning names the line and the figure."""
    made = read(log(tokens))
    (step,) = made.session.timeline.steps
    assert (step.input, step.output) == (None, 3)
    (warning,) = made.report.warnings
    name = "prompt_tokens" if log is chat else "input_tokens"
    assert f"{name} is no number of tokens; it is unknown" in warning
    assert warning.startswith("line ")


@pytest.mark.parametrize("log", [claude, codex, chat])
def test_possible_figures_are_not_told(log: Any) -> None:
    """Also zero and a million."""
    for tokens in (0, 1_000_000):
        made = read(log(tokens))
        assert made.report.warnings == []
        assert made.session.timeline.steps[0].input == tokens
