"""python -m bench.kills [--kills 200] [--runs 2000] [--broker URL] [--seed 1] [--json FILE] [--hurry]

Compactions by a model while workers are killed (SIGKILL): the whole worker with its pool, its main process alone, one
process of the pool; at any moment, inside the model call, before the answer is read, before the commit, behind it.
Nothing may be lost, nothing done twice, and no kill may cost more than one further request to the model.

The database is the one of DATABASE_URL (else a SQLite file), the broker that of --broker (else files); both in a data
folder of its own. The model is a server on loopback that counts. `--hurry` ends the lease of what was killed at once
instead of after its 20 seconds: the short version for tests.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.fake_openai import Exchange, FakeOpenAI, completion

CHECKOUT = Path(__file__).resolve().parents[1]
PLACES = ("asking", "answered", "committing", "committed", "anywhere")
WAYS = ("worker", "main", "child")
SESSIONS = 20
WORKERS = 2
PATIENCE = 6.0
"""Seconds for which a place is waited for; then the kill falls anywhere."""
GRACE = 120.0
"""All runs must have ended so many seconds after the last kill."""


class Model:
    """Answers after a moment and counts the requests of each run, which name themselves in the instructions."""

    def __init__(self, rng: random.Random, slowest: float) -> None:
        self.asked: Counter[str] = Counter()
        self.server = FakeOpenAI(self._answer)
        self._rng, self._slowest, self._lock = rng, slowest, threading.Lock()

    def _answer(self, exchange: Exchange) -> None:
        (name,) = set(re.findall(r"kill-test-run-\d+", json.dumps(exchange.request.body))) or {"unnamed"}
        with self._lock:
            self.asked[name] += 1
            pause = self._rng.uniform(0.02, self._slowest)
        time.sleep(pause)
        summary = {"summary": f"What {name} was about.", "goal": f"finish {name}", "completed": ["read it"]}
        document = json.dumps(completion({"content": json.dumps(summary)})).encode()
        exchange.send(200, document)


@dataclass
class Figures:
    """What is counted."""

    kills: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    states: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    doubled: int = 0
    without_result: int = 0
    worn_out: int = 0
    """Ended as failed because their worker was killed three times, which is what the product promises."""
    model_calls: int = 0
    second_requests: int = 0
    attempts: int = 0
    seconds: float = 0.0
    ended_after: float = 0.0
    faults: list[str] = field(default_factory=list)

    def passed(self) -> bool:
        """Whether every promise held."""
        return not self.faults


class Scene:
    """Workers that are killed and started again."""

    def __init__(self, folder: Path, rng: random.Random, hurry: bool) -> None:
        self.points = folder / "points"
        self.points.mkdir()
        self.rng, self.hurry = rng, hurry
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """A worker, once it has a pool."""
        command = [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "contextlab.config.celery",
            "worker",
            "-c",
            str(WORKERS),
        ]
        env = {**os.environ, "KILL_POINTS": str(self.points)}
        self.process = subprocess.Popen(
            [*command, "-l", "CRITICAL", "-I", "bench.kill_points"], cwd=CHECKOUT, env=env, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        end = time.monotonic() + 60
        while len(self.children()) < WORKERS and time.monotonic() < end:
            time.sleep(0.05)

    def children(self) -> list[int]:
        """The processes of the pool."""
        if self.process is None:
            return []
        try:
            words = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        except OSError:
            return []
        return [int(word) for word in words.split()]

    def stop(self) -> None:
        """End it, as a kill does."""
        if self.process is not None:
            self._kill_group()

    def kill(self, way: str, place: str) -> str:
        """Kill in this way once somebody comes to the place; returns where it fell."""
        sign = self._wait_for(place)
        fell = place if sign is not None else "anywhere"
        if way == "child":
            pid = sign[0] if sign else self.rng.choice(self.children() or [0])
            self._kill(pid)
            self._let_go([one.name.split("-")[2] for one in self.points.glob(f"running-{pid}-*")])
        elif way == "main" and self.process is not None:
            pool = self.children()
            self._kill(self.process.pid)
            self.process.wait()
            # Its pool notices within two seconds; what it does until then is done.
            self._wait_for_end(pool)
            self._let_go(None)
            self.start()
        else:
            self._kill_group()
            self._let_go(None)
            self.start()
        return f"{way} {fell}"

    def _wait_for(self, place: str) -> tuple[int, str] | None:
        if place == "anywhere":
            time.sleep(self.rng.uniform(0.05, 1.0))
            return None
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for sign in self.points.glob(f"{place}-*"):
                _, pid, run = sign.name.split("-")
                if int(pid) in self.children():
                    time.sleep(self.rng.uniform(0, 0.05) if place == "asking" else 0)
                    return int(pid), run
            time.sleep(0.002)
        return None

    def _kill_group(self) -> None:
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _kill(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            if pid:
                os.kill(pid, signal.SIGKILL)

    def _wait_for_end(self, pids: list[int]) -> None:
        end = time.monotonic() + 20
        while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < end:
            time.sleep(0.05)

    def _let_go(self, runs: list[str] | None) -> None:
        """In a hurry: what was killed (None = all that ran) is free at once. Signs of the dead are removed."""
        for sign in self.points.iterdir():
            if runs is None or sign.name.split("-")[2] in runs:
                sign.unlink(missing_ok=True)
        if not self.hurry:
            return
        from django.utils import timezone

        from contextlab.store.models import Run

        rows = Run.objects.filter(state="running", lease_until__isnull=False)
        rows = rows if runs is None else rows.filter(uid__in=runs)
        rows.update(lease_until=timezone.now())


def prepare(folder: Path, runs: int) -> list[uuid.UUID]:
    """Sessions, and a compaction to do for each run; no two are the same request."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from contextlab.core.policy import parse_policy
    from contextlab.services import imports
    from contextlab.services.actions import perform
    from contextlab.services.compaction import request_compaction
    from contextlab.services.compaction.requests import CompactRequest
    from contextlab.services.work import Counting
    from contextlab.services.workspaces import local_workspace
    from contextlab.store.models import Session

    paths = [_chat(folder / f"chat-{number}.json", number) for number in range(min(SESSIONS, runs))]
    for run in imports.queue_paths(local_workspace(), paths):
        perform(run, None, Counting.ALL)
    sessions = list(Session.objects.order_by("id"))
    policy = parse_policy(
        {"version": 1, "name": "kill-test", "compaction": {"kind": "llm_summary", "max_items": 4}}
    )
    asked = []
    for number in range(runs):
        wanted = CompactRequest(policy, instructions=f"This is kill-test-run-{number}.", confirm=True)
        run, new = request_compaction(sessions[number % len(sessions)], wanted)
        assert new
        asked.append(run.uid)
    return asked


def _chat(path: Path, number: int) -> Path:
    messages: list[dict[str, Any]] = []
    for turn in range(8):
        messages.append(
            {"role": "user", "content": f"Question {turn} of talk {number}: " + "what about it? " * 30}
        )
        messages.append(
            {"role": "assistant", "content": f"Answer {turn} of talk {number}: " + "like this. " * 60}
        )
    path.write_text(json.dumps(messages))
    return path


def judge(asked: list[uuid.UUID], model: Model, figures: Figures) -> None:
    """Compare what is stored with what was asked."""
    from contextlab.store.models import CompactionJob, MemoryVersion, ModelAnswer, Run, View

    runs = {run.uid: run for run in Run.objects.filter(uid__in=asked)}
    figures.runs = len(asked)
    figures.states = Counter(run.state for run in runs.values())
    figures.lost = sum(uid not in runs or runs[uid].state in ("queued", "running") for uid in asked)
    figures.attempts = sum(run.attempts for run in runs.values())
    for job in CompactionJob.objects.filter(run__uid__in=asked).select_related("run"):
        memories = MemoryVersion.objects.filter(compaction=job).count()
        if memories > 1 or ModelAnswer.objects.filter(job=job).count() > 1:
            figures.doubled += 1
        done = job.run.state == "done"
        worn_out = job.run.state == "failed" and job.run.attempts == 3 and "died three times" in job.run.error
        figures.worn_out += worn_out
        complete = memories == 1 and job.result and job.usage and job.raw_reply
        if done != bool(memories) or (done and not complete) or not (done or worn_out):
            figures.without_result += 1
            what = (
                f"{job.run.state}, {memories} memories, usage {job.usage is not None}, {job.run.error[:80]}"
            )
            figures.faults.append(f"run {job.run.uid}: {what}")
    branches = View.objects.filter(kind=View.Kind.BRANCH).count()
    figures.model_calls = sum(model.asked.values())
    figures.second_requests = sum(count - 1 for count in model.asked.values() if count > 1)
    kills = sum(figures.kills.values())
    checks = {
        f"{figures.lost} lost": figures.lost == 0,
        f"{figures.doubled} doubled": figures.doubled == 0,
        f"{branches} branches for {figures.states['done']} done": branches == figures.states["done"],
        f"{figures.model_calls} model calls for {figures.runs} runs and {kills} kills":
            figures.model_calls <= figures.runs + kills,
        f"a run was asked for {max(model.asked.values(), default=0)} times": max(model.asked.values(), default=0) <= 3,
        f"the last ended {figures.ended_after:.0f} s after the last kill": figures.ended_after <= GRACE,
    }  # fmt: skip
    figures.faults += [said for said, good in checks.items() if not good]


def kill_them(scene: Scene, asked: list[uuid.UUID], kills: int, figures: Figures) -> None:
    """The kills, evenly over the ways and places, then patience until everything has ended."""
    from contextlab.store.models import FINISHED, Run
    from contextlab.tasks import ring

    left = Run.objects.filter(uid__in=asked).exclude(state__in=FINISHED)
    ring(list(left[:4]))
    scene.start()
    plan = [(way, place) for way in WAYS for place in PLACES]
    # As many children as workers, of which half are killed without their pool.
    plan += [("child", place) for place in PLACES]
    scene.rng.shuffle(plan)
    for number in range(kills):
        if not left.exists():
            figures.faults.append(f"all runs had ended after {number} kills: ask for more runs")
            break
        _let_them_work(left, len(asked) - len(asked) * number // (kills + 1))
        way, place = plan[number % len(plan)]
        fell = scene.kill(way, place)
        figures.kills[fell] += 1
        print(f"{number + 1:4} {way} {place}: {fell}, {left.count()} runs left", file=sys.stderr, flush=True)
    begun = time.monotonic()
    while left.exists() and time.monotonic() - begun < GRACE + 30:
        time.sleep(0.2)
    figures.ended_after = time.monotonic() - begun


def _let_them_work(left: Any, most: int) -> None:
    """Wait until the runs have come as far as the kills, so that these fall on many runs and not on a few.

    A worker that makes no headway for a while is killed all the same.
    """
    end = time.monotonic() + 2 * PATIENCE
    while left.count() > most and time.monotonic() < end:
        time.sleep(0.05)


def set_up(folder: Path, broker: str, model: Model) -> None:
    """Make this process, and those that it starts, work in a folder of their own with a queue and a model of theirs."""
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "contextlab.config.settings", "CONTEXTLAB_DATA": str(folder / "data"),
        "CONTEXTLAB_BROKER_URL": broker, "CONTEXTLAB_QUEUE": f"kills-{uuid.uuid4().hex}",
        "CONTEXTLAB_MODEL_BASE_URL": model.server.url, "CONTEXTLAB_MODEL": "m", "CONTEXTLAB_MODEL_KEY": "",
        "CONTEXTLAB_WORKERS": str(WORKERS),
    }  # fmt: skip
    import django

    django.setup()


def main() -> int:
    """Run it; exit code 1 when a promise did not hold."""
    parser = argparse.ArgumentParser(prog="python -m bench.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--broker", default="filesystem://localhost", metavar="URL")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--slowest", type=float, default=0.5, help="seconds for the slowest answer of the model"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--hurry", action="store_true")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    figures, model = Figures(), Model(random.Random(given.seed), given.slowest)
    with tempfile.TemporaryDirectory(prefix="contextlab-kills-") as name, model.server:
        folder = Path(name)
        set_up(folder, given.broker, model)
        asked = prepare(folder, given.runs)
        scene = Scene(folder, rng, given.hurry)
        begun = time.monotonic()
        try:
            kill_them(scene, asked, given.kills, figures)
        finally:
            scene.stop()
        figures.seconds = time.monotonic() - begun
        judge(asked, model, figures)
    text = json.dumps(
        {**figures.__dict__, "broker": given.broker.partition(":")[0], "seed": given.seed}, indent=1
    )
    print(text)
    if given.json:
        given.json.write_text(text)
    return 0 if figures.passed() else 1


if __name__ == "__main__":
    sys.exit(main())
