"""`contextlab up`: prepare the database, then keep a web server and a worker running until told to stop."""

from __future__ import annotations

import argparse
import http.client
import ipaddress
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from pathlib import Path
from types import FrameType
from typing import IO

from contextlab.adapters.data_folder import data_folder
from contextlab.cli._children import Child

NAME = "up"
HELP = "start ContextLab on this machine and print its address"
NEEDS_DJANGO = False

_PORT = 8000
_PORTS_TRIED = 50
_PATIENCE = 10.0  # seconds for a running job at the end; it is taken up again at the next start
_TICK = 0.2
_CRASHES_BEFORE_READY = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=_port, default=_PORT, help=f"first port to try (default {_PORT})")
    parser.add_argument(
        "--host", type=_loopback, default="127.0.0.1", help="a loopback address; no other is taken"
    )
    parser.add_argument("--no-worker", action="store_true", help="the web server only")
    parser.add_argument("--open", action="store_true", help="open the browser")


def _port(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port (1 to 65535)")
    return int(text)


def _loopback(text: str) -> str:
    host = "127.0.0.1" if text == "localhost" else text
    try:
        if ipaddress.ip_address(host).is_loopback:
            return host
    except ValueError:
        pass
    raise argparse.ArgumentTypeError("nobody logs in here, so it listens on loopback only (127.0.0.1, ::1)")


def run(args: argparse.Namespace) -> int:
    data = data_folder()
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (data / "up.lock").open("a+")
    except OSError as error:
        print(f"The data folder {data} cannot be used: {error.strerror}.", file=sys.stderr)
        return 1
    with lock:
        if not _take(lock):
            lock.seek(0)
            print(f"ContextLab already runs on {data}: {lock.read().strip() or 'it is just starting'}")
            return 0
        return _up(args, data, lock)


def _take(lock: IO[str]) -> bool:
    """Whether this is the only supervisor of the data folder. The lock goes when the process does."""
    try:
        import fcntl
    except (
        ImportError
    ):  # no such locks on Windows; two supervisors do no harm, runs are claimed in the database
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _up(args: argparse.Namespace, data: Path, lock: IO[str]) -> int:
    with _listen(args.host, args.port) as listener:
        stopped = _Stopped()
        print(f"Preparing {data} ...", flush=True)
        if _prepare(stopped) != 0:
            return 0 if stopped else 1
        # A quick end of the web server, and a quick one of the worker: what it does is leased and taken up again.
        web = Child(
            "web server",
            ["-m", "contextlab.config.serve", "--fd", str(listener.fileno())],
            signal.SIGTERM,
            (listener.fileno(),),
        )
        worker = Child("worker", _worker_command(), signal.SIGQUIT)
        children = [web] if args.no_worker else [web, worker]
        try:
            return _supervise(args, children, listener, lock, stopped)
        finally:
            _end(children)


def _worker_command() -> list[str]:
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return ["-m", "celery", "-q", "-A", "contextlab.config.celery", "worker", "--pool", "prefork", *quiet]


class _Stopped:
    """True once a signal has asked to stop; the second one is not waited for."""

    def __init__(self) -> None:
        self._asked = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._asked = True

    def __bool__(self) -> bool:
        return self._asked


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket on the port, or on the next free one, with a line saying so.

    The supervisor keeps it open: a crashed web server is replaced without the address being lost.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in [*range(port, min(port + _PORTS_TRIED, 65536)), 0]:
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
            listener.listen(128)
        except OSError:
            listener.close()
            continue
        if candidate != port:
            print(f"Port {port} is taken; using {listener.getsockname()[1]}.")
        return listener
    raise SystemExit(f"No free port on {host}.")


def _prepare(stopped: _Stopped) -> int:
    """Migrate and so on, in a process that ends and gives its memory back."""
    process = subprocess.Popen([sys.executable, "-m", "contextlab.config.prepare"], start_new_session=True)
    while process.poll() is None:
        if stopped:
            process.terminate()
            process.wait()
            return 1
        time.sleep(0.05)
    return process.returncode


def _supervise(
    args: argparse.Namespace, children: list[Child], listener: socket.socket, lock: IO[str], stopped: _Stopped
) -> int:
    for child in children:
        child.start()
    web = children[0]
    ready = False
    while not stopped:
        for child in children:
            child.tend()
        if not ready and web.running and _answers(listener):
            ready = True
            _announce(args, listener, lock)
        if not ready and web.crashes >= _CRASHES_BEFORE_READY:
            print("The web server does not start; the reason stands above.", file=sys.stderr)
            return 1
        time.sleep(_TICK)
    print("\nStopping ...", flush=True)
    return 0


def _answers(listener: socket.socket) -> bool:
    host, port = listener.getsockname()[:2]
    connection = http.client.HTTPConnection(host, port, timeout=2)
    try:
        connection.request("GET", "/health")
        connection.getresponse()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True


def _announce(args: argparse.Namespace, listener: socket.socket, lock: IO[str]) -> None:
    host, port = listener.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    lock.truncate(0)
    lock.write(address)
    lock.flush()
    print(f"\n  ContextLab is running at {address}\n  Ctrl-C stops it.\n", flush=True)
    if args.open:
        webbrowser.open(address)


def _end(children: list[Child]) -> None:
    """Stop all; a second Ctrl-C while waiting takes them down at once."""
    deadline = time.monotonic() + _PATIENCE
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for child in children:
            child.ask_to_stop()
        for child in children:
            child.end(deadline)
    except KeyboardInterrupt:
        for child in children:
            child.end(time.monotonic())
