"""A stand-in for an endpoint that speaks OpenAI's chat completions, on loopback, with every way to misbehave.

    with FakeOpenAI(says("hello"), fails(429, "slow down", {"Retry-After": "7"})) as server:
        OpenAIModel(server.url, "m")...
        server.requests[0].body["messages"]

Each request is answered by the next way of the script, the last way for all that follow.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

USAGE = {
    "prompt_tokens": 120,
    "completion_tokens": 30,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 100},
}


@dataclass
class Request:
    """One request as it came in."""

    path: str
    headers: Mapping[str, str]
    """By name in lower case."""
    body: dict[str, Any]


@dataclass
class Exchange:
    """What a way of answering works with."""

    handler: BaseHTTPRequestHandler
    request: Request
    closing: threading.Event

    def send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer."""
        self.begin(status, {"Content-Length": str(len(body)), **(headers or {})})
        self.handler.wfile.write(body)

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Status and headers."""
        self.handler.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | dict(headers)).items():
            self.handler.send_header(name, value)
        self.handler.end_headers()


Way = Callable[[Exchange], None]


def completion(message: Mapping[str, Any], reason: str = "stop", **more: Any) -> dict[str, Any]:
    """A chat completion as OpenAI sends it."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    document = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m-2026", "choices": [choice]}
    return {**document, "usage": USAGE, **more}


def says(text: str, reason: str = "stop") -> Way:
    """An ordinary answer."""
    return answers(completion({"content": text}, reason))


def calls(tool: str, arguments: Mapping[str, Any], call_id: str = "call_1") -> Way:
    """An answer that calls a tool."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": call_id, "type": "function", "function": function}
    return answers(completion({"content": None, "tool_calls": [call]}, "tool_calls"))


def refuses(words: str) -> Way:
    """The model will not."""
    return answers(completion({"content": None, "refusal": words}))


def answers(document: object, status: int = 200) -> Way:
    """Any document."""
    return sends(json.dumps(document).encode(), status)


def sends(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Way:
    """Any bytes."""
    return lambda exchange: exchange.send(status, body, headers)


def fails(status: int, words: str, headers: Mapping[str, str] | None = None, code: str | None = None) -> Way:
    """An error as OpenAI words it."""
    body = {"error": {"message": words, "type": "error", "param": None, "code": code}}
    return sends(json.dumps(body).encode(), status, headers)


def hangs(exchange: Exchange) -> None:
    """No answer, ever."""
    exchange.closing.wait(30)


def drips(exchange: Exchange) -> None:
    """An answer of which a byte comes now and then."""
    exchange.begin(200, {"Content-Length": "100000"})
    while not exchange.closing.wait(0.05):
        exchange.handler.wfile.write(b" ")


def drips_headers(exchange: Exchange) -> None:
    """The same before the answer has even begun."""
    exchange.handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not exchange.closing.wait(0.05):
        exchange.handler.wfile.write(b"x")


def breaks_off(exchange: Exchange) -> None:
    """The connection ends in the middle."""
    exchange.begin(200, {"Content-Length": "1000"})
    exchange.handler.wfile.write(b'{"choices": [{"mess')
    exchange.handler.close_connection = True


def pours(size: int, status: int = 200) -> Way:
    """An answer of that many bytes."""

    def way(exchange: Exchange) -> None:
        exchange.begin(status, {"Content-Length": str(size)})
        for _ in range(size // 100_000):
            exchange.handler.wfile.write(b"x" * 100_000)

    return way


def refusing(options: Mapping[str, str], then: Way) -> Way:
    """Refuses requests that have one of these options (by name: in which words), and answers others."""

    def way(exchange: Exchange) -> None:
        unwanted = [words for name, words in options.items() if name in exchange.request.body]
        (fails(400, unwanted[0]) if unwanted else then)(exchange)

    return way


@dataclass
class FakeOpenAI:
    """The server. `requests` holds all that came in."""

    script: list[Way]
    requests: list[Request] = field(default_factory=list)

    def __init__(self, *script: Way) -> None:
        """Answer in these ways, one after the other."""
        self.script = list(script)
        self.requests = []
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        """Start."""
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop, and let go of what hangs."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        body = json.loads(handler.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in handler.headers.items()}
        request = Request(handler.path, headers, body)
        self.requests.append(request)
        way = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        way(Exchange(handler, request, self._closing))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        answer = self._answer

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what some tests are about."""
