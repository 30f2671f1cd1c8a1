"""Whatever an endpoint answers: an answer with what it took, or an error of a kind."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.adapters.asking import KEY, complete, failure
from tests.support.fake_openai import (
    Way,
    answers,
    breaks_off,
    completion,
    fails,
    refuses,
    says,
    sends,
)


@pytest.mark.parametrize(
    ("way", "kind"),
    [
        (fails(401, f"Incorrect API key provided: {KEY}", code="invalid_api_key"), "auth"),
        (fails(403, "Country not supported"), "auth"),
        (fails(402, "Insufficient Balance"), "not_allowed"),
        (fails(404, "The model `m` does not exist", code="model_not_found"), "no_model"),
        (fails(408, "too slow"), "timeout"),
        (fails(429, "Rate limit reached for requests"), "rate_limited"),
        (fails(429, "You exceeded your current quota", code="insufficient_quota"), "not_allowed"),
        (fails(500, "The server had an error"), "overloaded"),
        (fails(529, "Overloaded"), "overloaded"),
        (fails(504, "Gateway timeout"), "timeout"),
        (fails(413, "Payload Too Large"), "prompt_too_long"),
        (fails(400, "prompt is too long: 210000 tokens > 200000 maximum"), "prompt_too_long"),
        (fails(500, "context window exceeds limit (2013)"), "prompt_too_long"),
        (fails(400, "This request violates our content policy"), "refused"),
        (fails(400, "Unknown parameter: 'messages'"), "bad_answer"),
        (sends(b"<html><title>502 Bad Gateway</title>", 502, {"Content-Type": "text/html"}), "overloaded"),
        (sends(b"", 500), "overloaded"),
        (sends(b'{"detail": "no"}', 422), "bad_answer"),
        (sends(b"[1]", 400), "bad_answer"),
        (refuses("I cannot help with that"), "refused"),
        (answers(completion({"content": ""}, "content_filter")), "refused"),
        (says(" \n"), "empty"),
        (says("", "length"), "empty"),
        (answers(completion({"content": None})), "empty"),
        (answers({"error": {"message": "Provider overloaded", "code": 503}}), "overloaded"),
        (answers({"error": "something"}), "bad_answer"),
        (answers({"choices": []}), "bad_answer"),
        (answers({"choices": {"0": 1}}), "bad_answer"),
        (answers([1, 2]), "bad_answer"),
        (answers("text"), "bad_answer"),
        (answers(None), "bad_answer"),
        (answers({"choices": [{"message": "text"}]}), "bad_answer"),
        (sends(b'{"choices": [{"message": {"content": "half'), "bad_answer"),
        (sends(b"<html><title>Sign in</title></html>", 200, {"Content-Type": "text/html"}), "bad_answer"),
        (sends(b""), "bad_answer"),
        (sends(b"[" * 200_000), "bad_answer"),
        (sends(b"\xff\xfe\x00"), "bad_answer"),
        (sends(b"", 302, {"Location": "http://127.0.0.1:9/elsewhere"}), "bad_answer"),
        (sends(gzip.compress(b"{}"), 200, {"Content-Encoding": "gzip"}), "unreachable"),
        (breaks_off, "unreachable"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_whatever_goes_wrong_has_a_kind(way: Way, kind: str) -> None:
    """A status, a provider's words or a broken answer become a ModelError that names no key."""
    assert failure(way).kind == kind


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"Retry-After": "7"}, 7, 7),
        ({"Retry-After-Ms": "1500"}, 1.5, 1.5),
    ],
)
def test_the_time_to_wait_is_passed_on(headers: dict[str, str], least: float, most: float) -> None:
    """Seconds or milliseconds."""
    wait = failure(fails(429, "slow down", headers)).retry_after
    assert wait is not None
    assert least <= wait <= most


@pytest.mark.parametrize(("seconds", "least", "most"), [(90, 30, 90), (-90, 0, 0)])
def test_a_date_to_wait_for_is_a_time_to_wait(seconds: int, least: float, most: float) -> None:
    """A date is told as the seconds until then; never below zero."""
    # The date is made here: made when tests are collected, it is long past when a large suite comes to it.
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=seconds))
    wait = failure(fails(429, "slow down", {"Retry-After": date})).retry_after
    assert wait is not None
    assert least <= wait <= most


@pytest.mark.parametrize("wait", ["soon", "nan", "inf", ""])
def test_a_time_to_wait_that_is_none(wait: str) -> None:
    """Is not made up."""
    assert failure(fails(503, "no", {"Retry-After": wait})).retry_after is None


def test_contents_in_parts_are_joined() -> None:
    """Some endpoints send a message's content as a list."""
    parts = [{"type": "text", "text": "hel"}, {"type": "image"}, {"type": "text", "text": "lo"}]
    assert complete(answers(completion({"content": parts}))).text == "hello"


@pytest.mark.parametrize("usage", [None, [], {}, {"prompt_tokens": "12", "completion_tokens": -3}])
def test_usage_that_is_not_told_is_unknown(usage: object) -> None:
    """Unknown is None, never 0 and never what a wrong type says."""
    told = complete(answers(completion({"content": "x"}, usage=usage))).usage
    assert (told.input_tokens, told.output_tokens, told.cached_tokens) == (None, None, None)


def test_an_overflow_tells_the_limit() -> None:
    """The limit that a refusal names comes with the error."""
    error = failure(fails(400, "Input length 941203 exceeds the maximum allowed input"))
    assert (error.kind, error.limit, error.retryable) == ("prompt_too_long", 941_203, False)
