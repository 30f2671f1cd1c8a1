"""python -m bench.live_kills [--broker URL] [--json FILE]

A live session compacts itself, and its worker is killed (SIGKILL) in the middle: inside the model call, before the
answer is read, before the commit, behind it. The agent goes on meanwhile. Its memory is the old one or the new one,
whole; nothing is doubled, and the run ends as done, or as failed with a reason.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from bench import kills
from bench.kills import PLACES, Model, Scene

POLICY = {
    "version": 1, "name": "live-kills", "compaction": {"kind": "llm_summary", "max_items": 4},
    "trigger": {"kind": "items", "max_items": 12},
}  # fmt: skip
PATIENCE = 90.0
"""Seconds in which a run must have ended after its worker was killed."""


class Agent:
    """One that lives in a session of its own."""

    def __init__(self, name: str) -> None:
        from contextlab.services.live.opening import open_live, read_wish
        from contextlab.services.workspaces import local_workspace

        workspace = local_workspace()
        wish = read_wish({"id": name, "policy": POLICY, "allow_model": True}, workspace.pk)
        self.view = open_live(workspace, wish)[0]
        self.sent: list[str] = []

    def turn(self) -> Any:
        """A prompt, and a step with its answer; returns what was decided."""
        from contextlab.services.live.intake import take_events
        from contextlab.store.models import View

        number = len(self.sent) // 2 + 1
        words = f"what was said in turn {number} " * 20
        view = View.objects.select_related("session__file", "live").get(pk=self.view.pk)
        events = [
            {"type": "item", "id": f"u{number}", "kind": "user", "text": words},
            {"type": "step", "id": f"s{number}"},
            {"type": "item", "id": f"a{number}", "kind": "assistant", "text": words},
        ]
        self.sent += [f"u{number}", f"a{number}"]
        taken = take_events(view, "\n".join(map(json.dumps, events)).encode())
        assert taken.read
        return taken.decision

    def memory(self) -> tuple[int, list[str]]:
        """Version and items of the memory in force."""
        from contextlab.services.live.memory import read_live
        from contextlab.store.models import View

        held = read_live(View.objects.select_related("session", "live").get(pk=self.view.pk))
        return held.version.version if held.version else 0, [item.id for item in held.snapshot.items]


def killed_at(place: str, scene: Scene) -> dict[str, Any]:
    """Kill the worker of an automatic compaction there; what was found afterwards."""
    from contextlab.services.live.deciding import settle
    from contextlab.store.models import FINISHED, CompactionJob, ItemRecord, MemoryVersion, ModelAnswer, Run
    from contextlab.store.models.policies import PolicyDecisions
    from contextlab.tasks import ring

    agent = Agent(f"{place}-{uuid.uuid4().hex[:8]}")
    while (decided := agent.turn()).outcome != "queued":
        assert decided.outcome == "not_due", decided
    (run,) = decided.queued
    before = agent.memory()
    ring([run])
    fell = scene.kill("worker", place)
    while_dead = agent.memory()
    agent.turn()
    end = time.monotonic() + PATIENCE
    while Run.objects.filter(pk=run.pk).exclude(state__in=FINISHED).exists() and time.monotonic() < end:
        time.sleep(0.1)
    run.refresh_from_db()
    job = CompactionJob.objects.get(run=run)
    settle(agent.view)
    version, items = agent.memory()
    versions = MemoryVersion.objects.filter(view=agent.view)
    # Paused: the decision before the next step, while the run had not ended.
    fired = PolicyDecisions.objects.filter(view=agent.view).exclude(outcome__in=["not_due", "paused"])
    summarised = [
        name
        for first, last, verdict, _ in job.fates
        if verdict == "summarised"
        for name in agent.sent[first : last + 1]
    ]
    return {
        "place": place, "fell": fell, "state": run.state, "error": run.error, "attempts": run.attempts,
        "before": before[0], "while_dead": while_dead[0], "version": version,
        "old_or_new": while_dead[1] == (before[1] if while_dead[0] == 1 else items[: len(while_dead[1])]),
        "versions": list(versions.order_by("id").values_list("version", flat=True)),
        "answers": ModelAnswer.objects.filter(job=job).count(),
        "compactions": CompactionJob.objects.filter(base_view=agent.view).count(),
        "rows": ItemRecord.objects.filter(session=agent.view.session).count() == len(agent.sent),
        "whole": sorted(items + (summarised if version > 1 else [])) == sorted(agent.sent),
        "decisions": list(fired.values_list("outcome", flat=True)),
    }  # fmt: skip


def main() -> int:
    """Kill once at each place."""
    parser = argparse.ArgumentParser(prog="python -m bench.live_kills", description=__doc__)
    parser.add_argument("--broker", default="filesystem://localhost", metavar="URL")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    model = Model(random.Random(1), 0.3)
    with tempfile.TemporaryDirectory(prefix="contextlab-kills-") as name, model.server:
        folder = Path(name)
        os.environ["KILL_WAITS"] = "1"
        kills.PATIENCE = 30.0  # for each there is one run, not many
        kills.set_up(folder, given.broker, model)
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        scene = Scene(folder, random.Random(1), hurry=True)
        scene.start()
        try:
            found = [killed_at(place, scene) for place in PLACES if place != "anywhere"]
        finally:
            scene.stop()
    text = json.dumps({"sessions": found, "model_calls": sum(model.asked.values())}, indent=1)
    print(text)
    if given.json:
        given.json.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
