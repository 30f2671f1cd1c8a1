"""What a command cost: CPU seconds of its whole process tree, wall time, peak memory; and what PostgreSQL spent."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from contextlab.adapters.data_folder import CHECKOUT

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True, frozen=True)
class Cost:
    """CPU (user + system) and wall in seconds; peak resident memory of the largest process in MB."""

    cpu: float
    wall: float
    peak_mb: float


class CommandError(RuntimeError):
    """A measured command ended with an error; its output is the message."""


def run(command: list[str], env: dict[str, str] | None = None, cwd: Path | None = None) -> Cost:
    """Run a command to its end and say what it and all its children cost; raises CommandError."""
    started = time.perf_counter()
    process = subprocess.Popen(command, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    output = process.stdout.read()
    # wait4 gives the figures of this child and of everything that it waited for, and of nothing else.
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise CommandError(f"{' '.join(command)}\n{output.decode(errors='replace')[-3000:]}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


@dataclass(slots=True, frozen=True)
class Watched:
    """What a command cost until a watcher said that it sees what it waits for, and to its end."""

    first: Cost
    whole: Cost


def run_watched(
    command: list[str], watcher: list[str], env: dict[str, str], server: Callable[[], float]
) -> Watched:
    """Run a command beside a watcher, which says a line when it is warm and one when it sees it; raises CommandError.

    `server` is the CPU that a database server has spent so far; it is part of both costs, with what the watcher's
    own queries took of it.
    """
    with subprocess.Popen(watcher, env=env, stdout=subprocess.PIPE, cwd=CHECKOUT) as eyes:
        assert eyes.stdout is not None
        eyes.stdout.readline()
        before, started = server(), time.perf_counter()
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        try:
            eyes.stdout.readline()
            wall = time.perf_counter() - started
            first = Cost(tree_cpu(process.pid) + server() - before, wall, 0.0)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            eyes.kill()
    if process.returncode != 0:
        raise CommandError(" ".join(command))
    wall, cpu = time.perf_counter() - started, usage.ru_utime + usage.ru_stime + server() - before
    return Watched(first, Cost(cpu, wall, usage.ru_maxrss / 1024))


def tree_cpu(pid: int) -> float:
    """CPU seconds of a running process, of its living descendants, and of those that they have waited for."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (parent := _stat(int(entry.name))):
            children.setdefault(parent[0], []).append(int(entry.name))
    total, waiting = 0.0, [pid]
    while waiting:
        current = waiting.pop()
        if figures := _stat(current):
            total += figures[1]
        waiting += children.get(current, [])
    return total


def _stat(pid: int) -> tuple[int, float] | None:
    """Parent and CPU seconds (own, and of children waited for) of a process; None when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return int(fields[1]), sum(int(field) for field in fields[11:15]) / TICKS


def postmaster() -> int | None:
    """Process id of the PostgreSQL server of this machine, None when there is none to be seen."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().split(b"\x00")
        except OSError:
            continue
        if command[0].endswith(b"/postgres") and b"-D" in command:
            return int(entry.name)
    return None


def postgres_cpu() -> float:
    """CPU seconds that the PostgreSQL server has spent so far, backends included (0 when there is none)."""
    pid = postmaster()
    return 0.0 if pid is None else tree_cpu(pid)


def note(text: str) -> None:
    """Tell the person who waits what is being done."""
    print(f"  {text}", file=sys.stderr, flush=True)
