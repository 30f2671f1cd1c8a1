"""A real worker on the real broker, killed in the middle: the run is finished after the restart, and once."""

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
while ItemRecord.objects.count() < 500:
    time.sleep(0.005)
os.killpg(int(sys.argv[1]), signal.SIGKILL)
time.sleep(0.2)
run = Run.objects.get(kind="import")
print(run.state, ItemRecord.objects.count())
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


def test_a_worker_killed_in_the_middle_of_an_import_loses_and_doubles_nothing(installation, worker, tmp_path):
    """SIGKILL for the whole process group: no chance to tidy up."""
    path = tmp_path / "s1.jsonl"
    turns = 3000
    path.write_bytes(busy_log(turns=turns).data)
    subprocess.run(
        [sys.executable, "-m", "contextlab", "migrate", "-v0"], cwd=CHECKOUT, env=installation, check=True
    )
    process = worker()
    state, landed = script(installation, QUEUE_AND_KILL, str(process.pid), str(path))
    process.wait()
    items = turns * 5 + 1
    assert state == "running"
    assert 500 <= int(landed) < items
    worker()
    begun = time.monotonic()
    found = script(installation, WAIT)
    assert found == ["done", "2", *map(str, (items, 2 * turns, items, 2 * turns, 2 * turns)), "True"]
    assert time.monotonic() - begun < 60
