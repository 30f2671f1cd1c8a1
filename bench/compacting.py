"""A compaction as a worker does it, timed inside an installation; the model's answer takes no time.

    python -m bench.compacting MESSAGES.json RUNS

Imports the chat, compacts it RUNS times, each time into a branch of its own, and prints the CPU seconds of each run:
claiming, reading memory, plan, prompt, keeping and parsing the answer, checks, commit.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import django

KEPT = 20
POLICY = {"version": 1, "name": "b7", "compaction": {"kind": "llm_summary", "max_items": KEPT}}
ANSWER = '{"goal": "ship it", "completed": ["wrote the parser"], "pending": ["tests"]}'


def main() -> int:
    """Import, compact, print."""
    django.setup()
    from contextlab.adapters.processes import tune_for_reading
    from contextlab.core.testing import ScriptedModel
    from contextlab.services.compaction import models, read_request, request_compaction

    models.open_model = lambda: ScriptedModel([ANSWER])
    session = _imported(Path(sys.argv[1]))
    tune_for_reading()  # as every worker does when it starts
    spent = []
    for number in range(int(sys.argv[2])):
        request = read_request({"policy": POLICY, "confirm": True})
        spent.append(_seconds(request_compaction(session, request, f"b7-{number}")[0]))
    print(json.dumps({"items": session.items, "seconds": spent}))
    return 0


def _imported(path: Path) -> Any:
    from contextlab.services import imports
    from contextlab.services.actions import perform
    from contextlab.services.workspaces import local_workspace
    from contextlab.store.models import Run, Session

    imports.queue_paths(local_workspace(), [path])
    # The import, and then what it asked for: counting, the recorded view.
    while (run := Run.objects.filter(state="queued").order_by("id").first()) is not None:
        perform(run)
    return Session.objects.get()


def _seconds(run: Any) -> float:
    from contextlab.services.actions import perform

    started = time.process_time()
    perform(run)
    seconds = time.process_time() - started
    run.refresh_from_db()
    if run.state != "done":
        raise SystemExit(f"the compaction ended as {run.state}: {run.error}")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
