"""What comes back from an address that speaks chat completions: an answer, or a refusal in a provider's own words.

| status or words                                      | kind of ModelError                             |
|------------------------------------------------------|------------------------------------------------|
| the prompt is too long (core/summarising/overflow.py), 413       | prompt_too_long, with the limit it names       |
| a content filter, a refusal in place of an answer    | refused                                        |
| 401, 403                                             | auth                                           |
| 402, a quota that is used up                         | not_allowed                                    |
| 404                                                  | no_model                                       |
| 408, 504, 524                                        | timeout                                        |
| 429                                                  | rate_limited, with the time to wait            |
| 500, 502, 503, 529 and other 5xx                     | overloaded, with the time to wait              |
| no text                                              | empty                                          |
| a text that was cut off                              | no error: a reply that says so                 |
| anything else, a redirect, HTML, cut JSON            | bad_answer                                     |
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from contextlab.core.language_model import ModelError, ModelReply, ModelUsage
from contextlab.core.redaction import redact
from contextlab.core.summarising.overflow import is_overflow, learned_limit

_KINDS = {401: "auth", 403: "auth", 402: "not_allowed", 404: "no_model", 408: "timeout", 429: "rate_limited",
          504: "timeout", 524: "timeout"}  # fmt: skip
_QUOTA = re.compile(
    r"insufficient_quota|exceeded your current quota|insufficient (?:balance|credits?)", re.IGNORECASE
)
_FILTER = re.compile(r"content[_ ](?:policy|filter)|content management policy|safety system", re.IGNORECASE)
_CUT = ("length", "content_filter")
"""Why an answer with a text in it ends before its end."""
_TELL = 300
"""Characters of a provider's own words that are passed on."""
_WORDS = {
    "auth": "the endpoint does not accept the key",
    "not_allowed": "the account may not make this request",
    "no_model": "the endpoint does not know this model or this address",
    "timeout": "the model did not answer in time",
    "rate_limited": "the endpoint asks to slow down",
    "overloaded": "the endpoint cannot answer now",
    "prompt_too_long": "the prompt is too long for the model",
    "refused": "the model refused to answer",
    "empty": "the model answered with nothing",
    "bad_answer": "the endpoint's answer cannot be used",
}


def read_answer(body: bytes, seconds: float, key: str) -> ModelReply:
    """The reply in an answer's bytes; raises ModelError."""
    document = _json(body)
    if document is None:
        raise _error("bad_answer", _excerpt(body), key)
    if isinstance(document, dict) and document.get("error"):  # some endpoints send errors with status 200
        raise _from_words(_said(document), _code(document), key)
    choice = _first(document.get("choices") if isinstance(document, dict) else None)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise _error("bad_answer", "it has no message", key)
    text = _text(message.get("content"))
    refusal = message.get("refusal")
    if not text.strip():
        _raise_for_no_text(refusal, choice.get("finish_reason"), key)
    return ModelReply(text, _usage(document, seconds), choice.get("finish_reason") in _CUT)


def read_refusal(status: int, headers: Mapping[str, str], body: bytes, key: str) -> ModelError:
    """The error that an answer with a status of 300 or more is."""
    document = _json(body)
    said = _said(document) if isinstance(document, dict) else _excerpt(body)
    if 300 <= status < 400:
        return _error("bad_answer", f"a redirect ({status}), which is not followed", key)
    kind = _from_words(said, status, key).kind
    wait = _wait(headers) if kind in ("rate_limited", "overloaded") else None
    return _error(kind, f"{status} {said}".strip(), key, wait)


def _from_words(said: str, status: int | None, key: str) -> ModelError:
    """The kind that a status and a provider's words make together; words that are clear go before the status."""
    if is_overflow(said) or status == 413:
        kind = "prompt_too_long"
    elif _QUOTA.search(said):
        kind = "not_allowed"
    elif _FILTER.search(said) and status not in (401, 403):
        kind = "refused"
    else:
        kind = _KINDS.get(status or 0) or ("overloaded" if (status or 0) >= 500 else "bad_answer")
    return _error(kind, said, key)


def _error(kind: str, said: str, key: str, wait: float | None = None) -> ModelError:
    limit = learned_limit(said) if kind == "prompt_too_long" else None
    words = redact(said.replace(key, "[key]") if key else said)
    words = " ".join(words[: 4 * _TELL].split())[:_TELL]
    return ModelError(kind, f"{_WORDS[kind]}: {words}" if words else _WORDS[kind], wait, limit)


def _raise_for_no_text(refusal: object, reason: object, key: str) -> None:
    if isinstance(refusal, str) and refusal.strip():
        raise _error("refused", refusal, key)
    if reason == "content_filter":
        raise _error("refused", "a content filter held it back", key)
    raise _error("empty", "its limit was used up before any text" if reason == "length" else "", key)


def _json(body: bytes) -> Any:
    """The document, None where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _said(document: Mapping[str, Any]) -> str:
    """The provider's own words: OpenAI nests them, others do not."""
    error = document.get("error", document)
    if not isinstance(error, Mapping):
        return str(error)
    parts = [error.get(name) for name in ("code", "type", "message", "msg", "detail")]
    return " ".join(str(part) for part in parts if part not in (None, ""))


def _code(document: Mapping[str, Any]) -> int | None:
    error = document.get("error")
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _first(choices: object) -> Mapping[str, Any]:
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    return {}


def _text(content: object) -> str:
    """A message's content: a text, or a list of parts of which the texts count."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _usage(document: Mapping[str, Any], seconds: float) -> ModelUsage:
    usage = document.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    cached = usage.get("prompt_cache_hit_tokens") if cached is None else cached
    model = document.get("model")
    return ModelUsage(
        _number(usage.get("prompt_tokens")),
        _number(usage.get("completion_tokens")),
        _number(cached),
        seconds,
        model if isinstance(model, str) else None,
    )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks to wait: as a number, or until a date."""
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) / scale
        except ValueError:
            try:
                seconds = (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
            except (TypeError, ValueError):
                continue
        if seconds == seconds and seconds != float("inf"):
            return max(0.0, seconds)
    return None


def _excerpt(body: bytes) -> str:
    """The beginning of what is no JSON, for people: the title of a page of HTML."""
    text = body[:2_000].decode("utf-8", "replace")
    title = re.search(r"<title[^>]*>([^<]*)", text, re.IGNORECASE)
    if title:
        return f"a page named {title[1].strip()!r}"
    return "" if not text.strip() else f"no JSON: {text[:100]!r}"
