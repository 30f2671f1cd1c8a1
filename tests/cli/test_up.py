"""`contextlab up` with real processes: it starts, heals, stops, and leaves nothing behind."""

import contextlib
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.broker,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks processes up in /proc"),
]
PATIENCE = 90


class Up:
    """A supervisor started by a test, and everything that belongs to its data folder."""

    def __init__(self, env: dict[str, str], *options: str) -> None:
        self.env = env
        self.lines: list[str] = []
        self._queue: queue.Queue[str] = queue.Queue()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "contextlab", "up", *options],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1,
        )  # fmt: skip
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._queue.put(line)
        self.process.stdout.close()

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Wait for a line of output; fails with all that was said when it does not come."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                self.lines.append(self._queue.get(timeout=0.2))
            except queue.Empty:
                if self.process.poll() is not None and self._queue.empty():
                    break
                continue
            if found := re.search(pattern, self.lines[-1]):
                return found
        pytest.fail(f"no line {pattern!r} in:\n{''.join(self.lines)}")

    def address(self) -> str:
        return self.wait_for(r"running at (http://\S+)")[1]

    def pids(self, *words: str) -> list[int]:
        """The processes of this data folder, but for the supervisor, whose command line has all the words."""
        mine = f"CONTEXTLAB_DATA={self.env['CONTEXTLAB_DATA']}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes().split(b"\0")
                command = (folder / "cmdline").read_bytes().decode()
            except OSError:
                continue
            if mine in environment and all(word in command for word in words):
                found.append(int(folder.name))
        return [pid for pid in found if pid != self.process.pid]

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def eventually(condition) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False


def answers(address: str) -> bool:
    """Whether any page, be it an error page, comes back."""
    try:
        urllib.request.urlopen(address, timeout=10).close()
    except urllib.error.HTTPError as error:
        error.close()
    except OSError:
        return False
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def up(installation, migrated):
    """Starts supervisors where one has run before; whatever a failing test leaves is killed."""
    yield from supervisors(installation)


@pytest.fixture
def first_up(installation):
    """Starts supervisors where there is nothing yet."""
    yield from supervisors(installation)


def supervisors(installation):
    started: list[Up] = []

    def start(*options: str) -> Up:
        started.append(Up(installation, "--port", str(free_port()), *options))
        return started[-1]

    yield start
    for one in started:
        for pid in [one.process.pid, *one.pids()]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        one.process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_and_a_signal_stops_everything(first_up, number):
    """Web server and worker run, the address answers, Ctrl-C ends both with exit code 0 and no orphan."""
    running = first_up()
    assert answers(running.address())
    assert eventually(lambda: running.pids("celery"))
    assert running.stop(number) == 0
    assert eventually(lambda: not running.pids())


def test_a_killed_supervisor_leaves_no_orphan(up):
    """Also kill -9 takes web server, worker and the worker's pool along."""
    running = up()
    running.address()
    assert eventually(lambda: len(running.pids("celery")) >= 2)
    running.process.kill()
    assert eventually(lambda: not running.pids())


def test_a_killed_worker_leaves_no_orphan_and_comes_back(up):
    """The pool goes with its worker, and the supervisor starts a new one."""
    running = up()
    running.address()
    assert eventually(lambda: len(running.pids("celery")) >= 3)
    before = set(running.pids("celery"))
    os.kill(min(before), signal.SIGKILL)
    running.wait_for("The worker ended .*SIGKILL")
    assert eventually(lambda: len(set(running.pids("celery")) - before) >= 3)
    assert eventually(lambda: not before & set(running.pids("celery")))
    assert running.stop() == 0


def test_a_killed_web_server_comes_back_at_the_same_address(up):
    """Nobody has to look for a new address after a crash."""
    running = up("--no-worker")
    address = running.address()
    os.kill(running.pids("serve")[0], signal.SIGKILL)
    running.wait_for("The web server ended")
    assert eventually(lambda: answers(address))
    assert running.stop() == 0


def test_a_taken_port_means_the_next_one(installation, up):
    """It says so and goes on."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        running = up("--no-worker", "--port", str(port))
        running.wait_for(f"Port {port} is taken")
        assert answers(running.address())
        assert running.stop() == 0


def test_a_second_one_on_the_same_data_says_where_the_first_is(up):
    """Starting twice by mistake does not start two workers."""
    first = up("--no-worker")
    address = first.address()
    second = up("--no-worker")
    second.wait_for(f"already runs on .*{address}")
    assert second.process.wait(PATIENCE) == 0
    assert first.stop() == 0


def test_only_loopback_is_listened_on(installation):
    """Without a log-in nothing may be reachable from another machine."""
    done = subprocess.run(
        [sys.executable, "-m", "contextlab", "up", "--host", "0.0.0.0"],
        env=installation, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "loopback" in done.stderr
