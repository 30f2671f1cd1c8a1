"""A child process of the supervisor: started, watched, started again when it crashed, stopped for good."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial

from contextlab.adapters.processes import die_with_parent

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_HEALTHY_AFTER = 60.0  # seconds without a crash after which the next pause is the first again


class Child:
    """One process in a session of its own, so that Ctrl-C in the terminal reaches the supervisor only."""

    def __init__(
        self, name: str, command: Sequence[str], orphan_signal: int, fds: Sequence[int] = ()
    ) -> None:
        """`orphan_signal` is what the child gets when the supervisor dies; `fds` stay open in it."""
        self.name = name
        self.crashes = 0
        self._command = [sys.executable, *command]
        self._orphan_signal = orphan_signal
        self._fds = tuple(fds)
        self._process: subprocess.Popen[bytes] | None = None
        self._started = self._start_again = 0.0
        self._pause = _FIRST_PAUSE

    def start(self) -> None:
        # preexec_fn is safe here: the supervisor has one thread only.
        self._process = subprocess.Popen(
            self._command,
            start_new_session=True,
            pass_fds=self._fds,
            preexec_fn=partial(die_with_parent, os.getpid(), self._orphan_signal),  # noqa: PLW1509
        )
        self._started = time.monotonic()

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def tend(self) -> None:
        """Notice a crash, and start the child again once its pause is over."""
        now = time.monotonic()
        if self._process is not None:
            if not self.running:
                self._crashed(now)
        elif now >= self._start_again:
            self.start()

    def _crashed(self, now: float) -> None:
        assert self._process is not None
        if now - self._started > _HEALTHY_AFTER:
            self._pause = _FIRST_PAUSE
        code = self._process.returncode
        print(
            f"The {self.name} ended ({_reason(code)}); starting it again in {self._pause:.0f} s.",
            file=sys.stderr,
        )
        self._sweep()
        self.crashes += 1
        self._start_again = now + self._pause
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)

    def ask_to_stop(self) -> None:
        """Ask politely; the child finishes what it is doing."""
        if self.running:
            assert self._process is not None
            self._process.send_signal(signal.SIGTERM)

    def end(self, deadline: float) -> None:
        """Wait until `deadline` (monotonic seconds), then take down whatever is left of it."""
        if self._process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, deadline - time.monotonic()))
        self._sweep()

    def _sweep(self) -> None:
        """Kill the child's whole group: a pool process may have outlived its worker."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None


def _reason(code: int | None) -> str:
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"
