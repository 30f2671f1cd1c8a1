"""A language model behind any address that speaks OpenAI's chat completions.

    model = OpenAIModel("http://127.0.0.1:11434/v1", "qwen3")
    reply = model.complete([ModelMessage("user", "hello")], timeout=30)

| what                | rule                                                                                        |
|---------------------|---------------------------------------------------------------------------------------------|
| address, model, key | are passed in; the environment's OPENAI_* variables are not used                            |
| where to            | model_hosts.py: looked at when the connection is made; a proxy only in a server's rule      |
| time                | `timeout` is for the whole call: an answer that drips is cut off like one that never comes  |
| size                | reading stops at MAX_BYTES                                                                  |
| again               | never by itself, that is the caller's; only an option that the endpoint refuses is left     |
|                     | out, asked again without, and not sent any more                                             |
| redirects           | are not followed: the key and the transcript go where they were meant to go                 |
| errors              | ModelError with a kind, free of keys (openai_answers.py says which kind when)               |
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from contextlab.adapters.model_hosts import HostRule
from contextlab.adapters.openai_answers import read_answer, read_refusal
from contextlab.adapters.openai_client import Guard, open_client, timeouts
from contextlab.core.language_model import ModelError, ModelMessage, ModelReply

if TYPE_CHECKING:
    from openai import OpenAI

ANYWHERE = HostRule(local=True)
TIMEOUT = 120.0
"""Seconds, where the caller names none."""
MAX_BYTES = 4_000_000
"""A summary is far smaller; whatever sends more is not writing one."""
_JSON_MODE = "response_format"
_LENGTHS = ("max_completion_tokens", "max_tokens")
"""The names of the limit of an answer: OpenAI's reasoning models refuse the old one, many endpoints the new one."""
_SAYS_JSON_MODE = ("response_format", "json_object", "json mode", "json_mode")


class OpenAIModel:
    """Asks one model at one address; several threads may share it."""

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        rule: HostRule = ANYWHERE,
    ) -> None:
        """Raises ValueError for an address or a key that cannot be used; nothing is sent yet.

        `rule` says which addresses may be connected to.
        """
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the base URL must begin with http:// or https:// and name a host")
        if parts.username is not None or parts.password is not None or parts.query:
            raise ValueError("the base URL must hold no password and no query; pass the key as the key")
        key = (api_key or "").strip()
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ValueError("the key holds characters that no key has")
        self.base_url = base_url
        self.model = model
        self.timeout = timeout
        self._rule = rule
        self._key = key
        self._refused: set[str] = set()
        """Options that the endpoint does not know."""
        self._client: OpenAI | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        """Without the key."""
        return f"OpenAIModel({self.base_url!r}, {self.model!r})"

    def complete(
        self,
        messages: Sequence[ModelMessage],
        *,
        json_mode: bool = False,
        max_output_tokens: int | None = None,
        timeout: float | None = None,
    ) -> ModelReply:
        """Answer; raises ModelError."""
        body = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
        }
        self._opened()  # to load the package takes a second, which is not the model's
        started = time.perf_counter()
        until = started + (self.timeout if timeout is None else timeout)
        while True:
            options = self._options(json_mode, max_output_tokens)
            answer = self._post({**body, **options}, until)
            if isinstance(answer, bytes):
                return read_answer(answer, time.perf_counter() - started, self._key)
            refused = _refused_option(answer, options)
            if refused is None:
                raise answer
            self._refused.add(refused)

    def _options(self, json_mode: bool, max_output_tokens: int | None) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if json_mode and _JSON_MODE not in self._refused:
            options[_JSON_MODE] = {"type": "json_object"}
        names = [name for name in _LENGTHS if name not in self._refused]
        if max_output_tokens is not None and names:
            options[names[0]] = max_output_tokens
        return options

    def _post(self, body: dict[str, Any], until: float) -> bytes | ModelError:
        """The answer's bytes, or why there are none. The package's exceptions stay here: they hold the key."""
        client = self._opened()
        import openai

        late = ModelError("timeout", "the model did not answer in time")
        left = until - time.perf_counter()
        if left <= 0:
            return late
        with Guard(left, MAX_BYTES) as guard:
            try:
                ask = client.chat.completions.with_streaming_response.create
                with ask(**body, timeout=timeouts(left)) as answer:
                    return bytes(answer.read())
            except openai.APIStatusError as error:
                answered = error.response
                said = answered.content if answered.is_stream_consumed else b""
                return read_refusal(answered.status_code, answered.headers, said, self._key)
            except openai.APITimeoutError:
                return late
            except (
                Exception
            ) as error:  # what breaks off comes in the package's words, its client's, or the system's
                if guard.refused:
                    return ModelError("not_allowed", guard.refused)
                if guard.large:
                    return ModelError("bad_answer", f"the answer is larger than {MAX_BYTES:,} bytes")
                return late if guard.late else _broken_off(error)

    def _opened(self) -> OpenAI:
        """The client, made at the first call."""
        with self._lock:
            if self._client is None:
                self._client = open_client(self.base_url, self._key, self._rule)
            return self._client


def _refused_option(error: ModelError, options: Mapping[str, Any]) -> str | None:
    """The option that made the endpoint refuse; None where it was something else."""
    said = str(error).lower()
    if error.kind != "bad_answer":
        return None
    if _JSON_MODE in options and any(word in said for word in _SAYS_JSON_MODE):
        return _JSON_MODE
    # A refusal that names both limits tells which one to use; the one that was sent is the wrong one.
    return next((name for name in _LENGTHS if name in options and name in said), None)


def _broken_off(error: Exception) -> ModelError:
    """An error without its text, which may name the address with all that stands in it."""
    cause = error.__cause__ or error
    return ModelError("unreachable", f"no answer from the endpoint ({type(cause).__name__})")
