"""Processes that must not outlive the one that started them, however that one ends; and how they treat memory."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import threading
import time

_PR_SET_PDEATHSIG = 1
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGE, _KEPT = 64 * 1024, 128 * 1024


def die_with_parent(parent: int, with_signal: int) -> None:
    """Linux: have the kernel send this process the signal when its parent dies. Elsewhere nothing happens.

    For processes that a main thread starts: what counts for the kernel is the death of the starting thread.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, with_signal, 0, 0, 0)
    if os.getppid() != parent:
        # It died before the call: no signal will come any more.
        os.kill(os.getpid(), with_signal)


def exit_when_orphaned(every_seconds: float = 2.0) -> None:
    """Start a thread that ends this process at once when its parent is gone.

    For the worker's pool processes: they may be started by a thread that ends before they do.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(every_seconds)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="exit-when-orphaned", daemon=True).start()


def tune_for_reading() -> None:
    """For processes that read logs, as every worker does: when memory is looked through, and when it is given back."""
    _collect_seldom()
    _give_memory_back()


def _collect_seldom() -> None:
    """Millions of short-lived objects are held by no cycle: looking for cycles after every 700 of them costs some four
    percent of an import and finds nothing."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _give_memory_back() -> None:
    """With glibc: buffers of a batch go back to the system when they are let go.

    Left alone it keeps what it once had for large blocks; a log of 1 GB then peaks some 50 MB higher.
    """
    if sys.platform != "linux":
        return
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return  # another C library
    set_option(_M_MMAP_THRESHOLD, _LARGE)
    set_option(_M_TRIM_THRESHOLD, _KEPT)
