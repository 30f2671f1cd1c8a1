"""A real worker on the real broker: killed in the middle it finishes after the restart, and once; it follows logs."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.services.test_ingest import busy_log

pytestmark = [pytest.mark.broker, pytest.mark.slow, pytest.mark.timeout(180)]

CHECKOUT = Path(__file__).resolve().parents[2]
CONTEXTLAB = [sys.executable, "-m", "contextlab"]
WORKER = [
    sys.executable,
    "-m",
    "celery",
    "-A",
    "contextlab.config.celery",
    "worker",
    "-c",
    "2",
    "-l",
    "ERROR",
]
HEAD = """
import os, signal, sys, time
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.config.settings")
import django; django.setup()
from django.db.models import Max
from django.utils import timezone
from contextlab.services import imports, health
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import *
from contextlab.tasks import ring
"""
QUEUE_AND_KILL = f"""{HEAD}
ring(imports.queue_paths(local_workspace(), [sys.argv[2]]))
model, least = {{"import": (ItemRecord, 500), "projection": (StepReport, 1)}}[sys.argv[3]]
while model.objects.count() < least:
    time.sleep(0.005)
os.killpg(int(sys.argv[1]), signal.SIGKILL)
time.sleep(0.2)
run = Run.objects.get(kind="import")
print(ItemRecord.objects.count())
# The lease of a dead worker runs out after 20 seconds; the test does not wait for that.
Run.objects.update(lease_until=timezone.now())
"""
WAIT = f"""{HEAD}
while Run.objects.filter(state__in=["queued", "running"]).exists() or not health.check().ok:
    time.sleep(0.1)
session = Session.objects.get()
print(Run.objects.get(kind="import").state, Run.objects.get(kind="import").attempts, session.items, session.steps,
      ItemRecord.objects.count(), StepRecord.objects.count(), StepReport.objects.count(), session.counted)
"""
FOLLOW = f"""{HEAD}
while StepReport.objects.count() < 10:
    time.sleep(0.1)
for session in Session.objects.order_by("native_id"):
    print(session.native_id, session.items, View.objects.get(session=session).steps)
"""


@pytest.fixture
def worker(installation):
    """Starts workers; whatever still runs at the end is killed with its children."""
    started = []

    def start():
        process = subprocess.Popen(WORKER, cwd=CHECKOUT, env=installation, start_new_session=True)
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def script(installation, code, *args):
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=CHECKOUT, env=installation, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("phase", ["import", "projection"])
def test_a_worker_killed_in_the_middle_loses_and_doubles_nothing(
    installation, migrated, worker, tmp_path, phase
):
    """SIGKILL for the whole process group: no chance to tidy up."""
    path = tmp_path / "s1.jsonl"
    turns = 3000
    path.write_bytes(busy_log(turns=turns).data)
    process = worker()
    (landed,) = script(installation, QUEUE_AND_KILL, str(process.pid), str(path), phase)
    process.wait()
    items = turns * 5 + 1
    assert 500 <= int(landed) <= items
    worker()
    begun = time.monotonic()
    state, attempts, *rows, counted = script(installation, WAIT)
    assert state in ("done", "noop")
    assert (attempts, counted) == ("2", "True")
    assert rows == [str(count) for count in (items, 2 * turns, items, 2 * turns, 2 * turns)]
    assert time.monotonic() - begun < 60


def test_a_log_that_grows_is_followed_without_a_click(installation, migrated, worker, tmp_path):
    """Its folder is watched; every two seconds is soon enough."""
    logs = tmp_path / "logs"
    logs.mkdir()
    lines = busy_log(turns=4).data.splitlines(keepends=True)
    (logs / "s1.jsonl").write_bytes(b"".join(lines[:9]))
    done = subprocess.run(
        [*CONTEXTLAB, "import", "--watch", str(logs)], cwd=CHECKOUT, env=installation, check=False
    )
    assert done.returncode == 0
    worker()
    (logs / "s1.jsonl").write_bytes(b"".join(lines))
    (logs / "s2.jsonl").write_bytes(busy_log(turns=1, session="s2").data)
    assert script(installation, FOLLOW) == ["s1", "21", "8", "s2", "6", "2"]
