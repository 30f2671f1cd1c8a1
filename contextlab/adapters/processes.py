"""Linux: ask the kernel to end this process when its parent ends, however that happens."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(with_signal: int = signal.SIGKILL) -> None:
    """From now on this process gets the signal when its parent dies; elsewhere than on Linux, nothing."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, with_signal, 0, 0, 0)
    if os.getppid() != parent:
        # It died between the two calls: no signal will come any more.
        os.kill(os.getpid(), with_signal)
