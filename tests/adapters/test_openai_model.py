"""A model at an address that speaks chat completions: what it is asked, how long, how often."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from contextlab.adapters.openai_model import MAX_BYTES, OpenAIModel
from contextlab.core.compaction import Deps
from contextlab.core.language_model import ModelError
from contextlab.core.summarising.asking import ask
from tests.adapters.asking import ASKED, KEY, complete, failure
from tests.support.fake_openai import (
    FakeOpenAI,
    Way,
    drips,
    drips_headers,
    fails,
    hangs,
    pours,
    refusing,
    says,
)

JSON_MODE = {"response_format": "'response_format.type' must be 'json_schema' or 'text'"}


def test_an_answer_comes_with_what_it_took() -> None:
    """Text, input, output and cached tokens, seconds, and the model's own name for itself."""
    reply = complete(says("hello"))
    assert reply.text == "hello"
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (120, 30, 100)
    assert usage.model == "m-2026"
    assert usage.seconds is not None
    assert 0 < usage.seconds < 5


def test_the_request_holds_what_was_asked_and_nothing_of_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Messages, model and key as given; no organisation, project or key of the environment, no telling headers."""
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "from-the-environment")
    with FakeOpenAI(says("x")) as server:
        OpenAIModel(server.url, "m", KEY).complete(ASKED)
        OpenAIModel(server.url, "m").complete(ASKED)
    with_key, without = server.requests
    assert with_key.path == "/v1/chat/completions"
    assert with_key.body == {
        "model": "m",
        "messages": [{"role": one.role, "content": one.content} for one in ASKED],
    }
    assert with_key.headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in without.headers
    sent = json.dumps([dict(request.headers) for request in server.requests]).lower()
    assert "from-the-environment" not in sent
    assert "stainless-os" not in sent
    assert "stainless-runtime" not in sent


def test_nothing_is_imported_before_the_first_call() -> None:
    """Half a second for the package is paid by those who ask a model, and by nobody else."""
    code = "import sys\nfrom contextlab.adapters.openai_model import OpenAIModel\nOpenAIModel('http://x/v1', 'm')\n"
    code += "print('openai' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("way", [hangs, drips, drips_headers])
def test_the_time_limit_is_for_the_whole_call(way: Way) -> None:
    """No answer, and one that comes byte by byte, end when the time is up."""
    started = time.perf_counter()
    error = failure(way, timeout=0.4)
    assert error.kind == "timeout"
    assert error.retryable
    assert time.perf_counter() - started < 3


def test_the_caller_sets_the_time() -> None:
    """The time of a call goes before that of the model; none left is a timeout without a request."""
    with FakeOpenAI(hangs) as server:
        model = OpenAIModel(server.url, "m", timeout=60)
        for seconds in (0.2, 0):
            with pytest.raises(ModelError) as caught:
                model.complete(ASKED, timeout=seconds)
            assert caught.value.kind == "timeout"
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [200, 500])
def test_reading_stops_at_a_limit(status: int) -> None:
    """Of an answer, or an error page, of 10 MB no more than the limit is read."""
    error = failure(pours(10_000_000, status))
    assert error.kind == "bad_answer"
    assert f"{MAX_BYTES:,}" in str(error)


def test_nobody_there() -> None:
    """An address where nothing listens is unreachable, and the error does not tell the address."""
    with FakeOpenAI(says("x")) as server:
        url = server.url
    with pytest.raises(ModelError) as caught:
        OpenAIModel(url, "m", KEY).complete(ASKED)
    assert caught.value.kind == "unreachable"
    assert "127.0.0.1" not in str(caught.value)


def test_it_never_asks_again_by_itself() -> None:
    """One call, one request: who pays decides about the next."""
    with FakeOpenAI(fails(500, "no")) as server, pytest.raises(ModelError):
        OpenAIModel(server.url, "m").complete(ASKED)
    assert len(server.requests) == 1


def test_an_endpoint_without_json_mode_is_asked_again_without_it_and_remembered() -> None:
    """The option that is refused is left out at once, and at the next call from the beginning."""
    with FakeOpenAI(refusing(JSON_MODE, says('{"goal": "g"}'))) as server:
        model = OpenAIModel(server.url, "m")
        assert model.complete(ASKED, json_mode=True).text == '{"goal": "g"}'
        assert ask(ASKED, Deps(model=model)).text == '{"goal": "g"}'
    assert ["response_format" in request.body for request in server.requests] == [True, False, False]


@pytest.mark.parametrize(
    ("refused", "sent"),
    [
        ({}, ["max_completion_tokens"]),
        ({"max_completion_tokens": "Unrecognized request argument supplied: max_completion_tokens"},
         ["max_completion_tokens", "max_tokens"]),
        ({"max_completion_tokens": "unknown field max_completion_tokens", "max_tokens": "no max_tokens here"},
         ["max_completion_tokens", "max_tokens", None]),
    ],
)  # fmt: skip
def test_the_limit_of_the_answer_goes_under_the_name_that_is_known(
    refused: dict[str, str], sent: list[str | None]
) -> None:
    """The new name, then the old, then none at all."""
    with FakeOpenAI(refusing(refused, says("x"))) as server:
        OpenAIModel(server.url, "m").complete(ASKED, max_output_tokens=50)
    named = [[name for name in request.body if name.startswith("max_")] for request in server.requests]
    assert [names[0] if names else None for names in named] == sent


@pytest.mark.parametrize(
    "url", ["ftp://x/v1", "x/v1", "http://", "http://me:secret@x/v1", "https://x/v1?key=secret"]
)
def test_an_address_that_cannot_be_used_is_refused(url: str) -> None:
    """No other scheme, no secret inside it, and the error does not repeat it."""
    with pytest.raises(ValueError, match="base URL") as caught:
        OpenAIModel(url, "m")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["a b", "a\nb", "sk-\u00e9"])
def test_a_key_that_cannot_be_one_is_refused(key: str) -> None:
    """Before a client puts it into an error about headers."""
    with pytest.raises(ValueError, match="key") as caught:
        OpenAIModel("http://x/v1", "m", key)
    assert key not in str(caught.value)


def test_the_key_is_in_no_log_no_repr_and_no_chain(caplog: pytest.LogCaptureFixture) -> None:
    """At the loudest level of logging, and with all errors that an error came from."""
    caplog.set_level(logging.DEBUG)
    with FakeOpenAI(fails(401, f"bad key {KEY}")) as server:
        model = OpenAIModel(server.url, "m", KEY)
        with pytest.raises(ModelError) as caught:
            model.complete(ASKED)
    assert KEY not in repr(model)
    assert KEY not in caplog.text
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_threads_share_a_model() -> None:
    """Calls at the same time do not disturb each other's time limits."""
    with FakeOpenAI(says("x")) as server:
        model = OpenAIModel(server.url, "m", timeout=5)
        texts: list[str] = []
        threads = [threading.Thread(target=_into(texts, model)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert texts == ["x"] * 6


def _into(texts: list[str], model: OpenAIModel) -> Callable[[], None]:
    return lambda: texts.append(model.complete(ASKED).text)
