"""Whether a provider refused a prompt for its length, and what limit it named.

Providers have no common code for this, only wordings; they change, and some come with the wrong status. The patterns
want a word for the prompt beside the complaint: an output limit that is too large, a tool's name that is too long
or too many requests a minute are not meant.

| provider (wording)                        | pattern that takes it                                                 |
|-------------------------------------------|-----------------------------------------------------------------------|
| OpenAI, vLLM, DeepSeek, OpenRouter, xAI   | maximum context length, maximum prompt length                         |
| OpenAI Responses, MiniMax                 | exceeds the context window, context window exceeds                    |
| Anthropic, Bedrock, Together              | prompt/input is too long, exceed context limit, request_too_large     |
| Gemini, Copilot                           | token count exceeds                                                   |
| Mistral, vLLM                             | too large for model with, longer than the maximum model length        |
| llama.cpp, Ollama, LM Studio              | context size, exceeds ... context length                              |
| Cohere, Kimi, Qwen, Zhipu                 | too many tokens, exceeded model token limit, range of input length    |
| Groq, Cerebras                            | reduce the length of the messages                                     |
"""

from __future__ import annotations

import re

_SUBJECT = r"(?:prompts?|inputs?|contexts?|messages?|conversation|requests?|token count|tokens)"
_LENGTH = r"(?:length|size|window|limit|tokens?|token limit|maximum|max)"
_OVERFLOWS = (
    r"context_length_exceeded|context_window_exceeded|request_too_large|exceed_context_size|max_prompt_tokens_exceeded",
    r"maximum (?:context|prompt|input) (?:length|size)",
    rf"{_SUBJECT}\b[^.\n]{{0,60}}\bexceed(?:s|ed|ing)?\b[^.\n]{{0,60}}\b{_LENGTH}\b",
    rf"{_SUBJECT}\b[^.\n]{{0,60}}\bexceed(?:s|ed)?\b the [^.\n]{{0,40}}allowed",
    r"context (?:window|length|size)\b[^.\n]{0,20}\bexceed",
    r"\binputs`? tokens \+ [^\n]{0,40} must be <=|\btokens in (?:the )?request more than max\b",
    r"\b(?:prompts?|inputs?|contexts?|conversation)\b[^.\n]{0,40}\b(?:is |are |was |too )+(?:long|large|big)\b",
    r"\brequests? (?:is |are )?too large\b",
    r"\btoo large for model with\b",
    r"\blonger than the maximum model length\b",
    r"\btoo many (?:input |prompt )?tokens\b(?! per)",
    r"\brange of input length\b",
    r"\breduce the length of (?:the|your) (?:messages|prompt|input)",
    r"\bgreater than the context length\b|\bcontext the overflows\b|\bcontext overflow",
    r"'?messages?(?:\[\d+\])?[^'\n]{0,30}'?: string too long",
)
_OVERFLOW = re.compile("|".join(f"(?:{one})" for one in _OVERFLOWS), re.IGNORECASE)
# The limit of the answer, or of a minute, not of the prompt.
_SOMETHING_ELSE = re.compile(
    r"max_(?:completion_|output_)?tokens\b[^.\n]{0,20}\btoo (?:large|high)|exceeded [^.\n]{0,20}per[- ]minute",
    re.IGNORECASE,
)
_NUMBER = r"(\d{1,3}(?:[,_]\d{3})+|\d+)"
_LIMITS = (
    re.compile(rf"(?:>|<=)\s*{_NUMBER}"),
    re.compile(
        rf"(?:maximum|limit|window|allowed|at most|cannot exceed|length of|n_ctx)\b[^\d.\n]{{0,40}}{_NUMBER}",
        re.I,
    ),
    re.compile(rf"{_NUMBER}\s*(?:tokens? )?maximum", re.I),
    re.compile(rf"\[\s*\d+\s*,\s*{_NUMBER}\s*\]"),
)
_LEAST = 2_048
"""Smaller numbers are codes, versions and counts of other things."""
_READ = 4_000
"""Characters of a refusal that are looked at."""


def is_overflow(text: str) -> bool:
    """Whether the text of an error says that the prompt was too long for the model."""
    text = text[:_READ]
    return _OVERFLOW.search(text) is not None and _SOMETHING_ELSE.search(text) is None


def learned_limit(text: str) -> int | None:
    """Tokens that the model takes at most, as far as a refusal tells; None where it names no number.

    Where it names only the size that it refused, that is the answer: the limit is below it.
    """
    text = text[:_READ]
    for pattern in _LIMITS:
        if found := [size for one in pattern.findall(text) if (size := _size(one)) >= _LEAST]:
            return found[0]
    sizes = [size for one in re.findall(_NUMBER, text) if (size := _size(one)) >= _LEAST]
    return min(sizes, default=None)


def _size(number: str) -> int:
    return int(number.replace(",", "").replace("_", "")[:18])
