"""The openai package's client with limits: of time for the whole call, of bytes, of what goes out, and of where to.

    with Guard(seconds, most_bytes) as guard:
        client.chat.completions...          # guard.late, guard.large, guard.refused: why it broke off

Its own time limit begins anew with every byte that arrives, so that an answer which drips never ends; it reads error
pages of any size; and it sends an organisation and a project from the environment to whatever address it is given.
"""

from __future__ import annotations

import socket
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar, Token
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self
from urllib.parse import urlsplit

from contextlab.adapters.model_hosts import HostRule, resolve

if TYPE_CHECKING:
    import httpcore2
    import httpx2
    from openai import OpenAI

CONNECT_SECONDS = 10.0
_OUT = ("openai-organization", "openai-project")
"""Headers that the package takes from the environment."""
_TELLING = "x-stainless-"
"""Headers that describe this machine; but by one of them the package remembers how to hand the answer over."""
_REMEMBERED = "x-stainless-raw-response"


class BrokenOffError(Exception):
    """An answer that is not read to its end."""


class Guard:
    """Watches over one call in this thread: shuts its connection when the time is up, reads only so much."""

    def __init__(self, seconds: float, most_bytes: int) -> None:
        """The time begins when the guard is entered."""
        self.late = self.large = False
        self.refused = ""
        """Why the address may not be connected to."""
        self.most_bytes = most_bytes
        self._timer = threading.Timer(seconds, self._time_is_up)
        self._timer.daemon = True
        self._socket: socket.socket | None = None
        self._token: Token[Guard | None] | None = None

    def __enter__(self) -> Self:
        """Begin."""
        self._token = _guard.set(self)
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End; the connection is nobody's business any more."""
        self._timer.cancel()
        self._socket = None
        if self._token is not None:
            _guard.reset(self._token)

    def trace(self, event: str, told: dict[str, Any]) -> None:
        """Told by the client what it does: remembers the connection once there is one."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._socket = told["return_value"].get_extra_info("socket")
            if self.late:
                self._shut()

    def bounded(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """The parts up to the limit; raises BrokenOffError behind it."""
        read = 0
        for part in parts:
            read += len(part)
            if read > self.most_bytes:
                self.large = True
                raise BrokenOffError
            yield part

    def _time_is_up(self) -> None:
        self.late = True
        self._shut()

    def _shut(self) -> None:
        connection = self._socket
        if connection is not None:
            with suppress(OSError):  # it may be closed already
                connection.shutdown(socket.SHUT_RDWR)


_guard: ContextVar[Guard | None] = ContextVar("guard", default=None)


def open_client(base_url: str, key: str, rule: HostRule) -> OpenAI:
    """A client that never asks twice, never follows a redirect, and connects only where the rule lets it.

    Of the environment it takes certificates and, where the rule is a server's, a proxy: that one then has the address.
    """
    # Imported here: it takes half a second, and most of what imports adapters never asks a model.
    import httpx2
    from openai import OpenAI

    def going_out(request: httpx2.Request) -> None:
        for name in [name.lower() for name in request.headers]:
            if name in _OUT or (name.startswith(_TELLING) and name != _REMEMBERED):
                del request.headers[name]
        if not key:
            request.headers.pop("Authorization", None)
        # What is compressed would be large only here, behind the limit.
        request.headers["Accept-Encoding"] = "identity"
        if (guard := _guard.get()) is not None:
            request.extensions = {**request.extensions, "trace": guard.trace}

    def coming_in(response: httpx2.Response) -> None:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise BrokenOffError("compressed, though it was asked not to be")
        if (guard := _guard.get()) is not None:
            response.stream = _bounded_stream(response, guard)

    http = httpx2.Client(
        event_hooks={"request": [going_out], "response": [coming_in]},
        follow_redirects=False,
        transport=_transport(base_url, rule),
    )
    return OpenAI(base_url=base_url, api_key=key or "none", max_retries=0, http_client=http)


def _transport(base_url: str, rule: HostRule) -> httpx2.HTTPTransport:
    import httpcore2
    import httpx2

    # A connection that was left open would be one the guard has not seen.
    limits = httpx2.Limits(max_keepalive_connections=0)
    proxy = None if rule.local else _proxy_for(base_url)
    if proxy is not None:
        return httpx2.HTTPTransport(proxy=proxy, limits=limits)
    transport = httpx2.HTTPTransport(limits=limits)
    transport._pool = httpcore2.ConnectionPool(
        ssl_context=httpx2.create_ssl_context(), max_keepalive_connections=0, network_backend=_backend(rule)
    )
    return transport


def _proxy_for(base_url: str) -> str | None:
    """The proxy that the environment names for an address."""
    parts = urlsplit(base_url)
    if urllib.request.proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def _backend(rule: HostRule) -> httpcore2.NetworkBackend:
    """Connects to an address that was looked at, not to a name that could be another one by then."""
    import httpcore2

    class Checked(httpcore2.SyncBackend):
        def connect_tcp(self, host: str, port: int, *given: Any, **more: Any) -> httpcore2.NetworkStream:
            try:
                addresses = resolve(host, port)
            except (OSError, UnicodeError) as error:
                raise httpcore2.ConnectError(f"no address ({type(error).__name__})") from None
            for address in addresses:
                if reason := rule.name(host) or rule.address(host, address):
                    _refuse(reason)
            return self._first(addresses, port, *given, **more)

        def _first(
            self, addresses: Sequence[str], port: int, *given: Any, **more: Any
        ) -> httpcore2.NetworkStream:
            failed: Exception = httpcore2.ConnectError("no address")
            for address in addresses:
                try:
                    return super().connect_tcp(address, port, *given, **more)
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                    failed = error
            raise failed

    return Checked()


def _refuse(reason: str) -> NoReturn:
    if (guard := _guard.get()) is not None:
        guard.refused = reason
    raise BrokenOffError(reason)


def timeouts(seconds: float) -> httpx2.Timeout:
    """How long one read or write may last."""
    import httpx2

    return httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


def _bounded_stream(response: httpx2.Response, guard: Guard) -> httpx2.SyncByteStream:
    import httpx2

    inner: httpx2.SyncByteStream = response.stream  # type: ignore[assignment]  # the client is not an async one

    class Bounded(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            return guard.bounded(iter(inner))

        def close(self) -> None:
            inner.close()

    return Bounded()
