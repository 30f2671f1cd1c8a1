"""Refusals of prompts that are too long, in the words of many providers."""

from __future__ import annotations

import pytest

from contextlab.core.summarising.overflow import is_overflow, learned_limit

OVERFLOWS = [
    (("This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens "
     "(9000 in the messages, 1000 in the functions). Please reduce the length of the messages."), 8192),
    ("Your input exceeds the context window of this model. Please adjust your input and try again.", None),
    ("context_length_exceeded", None),
    ("prompt is too long: 210000 tokens > 200000 maximum", 200_000),
    ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length", 200_000),
    ("request_too_large Request exceeds the maximum size", None),
    ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
    ("Input is too long for requested model.", None),
    ("Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 32_768),
    ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4096),
    ("the request exceeds the available context size. try increasing the context size", None),
    ("input length exceeds maximum context length", None),
    ("The number of tokens to keep from the initial prompt is greater than the context length.", None),
    (("Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context "
     "length of only 4096 tokens"), 4096),
    ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072),
    ("Please reduce the length of the messages or completion. Current length is 10000 while limit is 8192", 8192),
    ("too many tokens: the total number of tokens in the prompt cannot exceed 4081", 4081),
    ("Range of input length should be [1, 98304]", 98_304),
    ("context window exceeds limit (2013)", None),
    ("Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)", 262_144),
    ("prompt token count of 100,000 exceeds the limit of 64,000", 64_000),
    ("Prompt exceeds max length", None),
    ("Input length 941203 exceeds the maximum allowed input", 941_203),
    ("Request too large for m in organization o on tokens per min (TPM): Limit 30000, Requested 40000.", 30_000),
    ("Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576", 1_048_576),
    ("`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 6000 `inputs` tokens", 4097),
]  # fmt: skip
OTHERS = [
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
    "Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 20000, Requested 15000",
    "Number of request tokens has exceeded your per-minute rate limit",
    "Too many requests, slow down",
    "temperature is too large",
    "Invalid 'tools[0].function.name': string too long",
    "You exceeded your current quota, please check your plan and billing details",
    "response_format type is unavailable",
    "Request timed out: the answer took too long",
    "",
]


@pytest.mark.parametrize(("words", "limit"), OVERFLOWS)
def test_an_overflow_is_known_in_every_providers_words(words: str, limit: int | None) -> None:
    """It is told from other refusals, with the limit where one is named."""
    assert is_overflow(words)
    assert learned_limit(words) == limit


@pytest.mark.parametrize("words", OTHERS)
def test_other_refusals_are_none(words: str) -> None:
    """A rate, a quota, the answer's own limit: a shorter prompt would not help."""
    assert not is_overflow(words)


def test_a_long_text_is_read_quickly() -> None:
    """Whatever an endpoint sends."""
    for piece in ("context exceed ", "prompt ", "> ", "1,000", "messages[1]"):
        learned_limit(piece * 100_000)
        is_overflow(piece * 100_000)
