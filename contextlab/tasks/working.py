"""What every task does: the run that it was rung for, and then what else waits."""

from __future__ import annotations

import time

from contextlab.services import runs
from contextlab.services.actions import perform
from contextlab.services.work import Action, execute
from contextlab.tasks.ringing import ring

GO_ON = 10.0
"""Seconds for which a task goes on with other runs: small logs are read faster than a message is delivered."""


def work_off(uid: str, action: Action) -> None:
    """Do the run, then for some seconds whatever waits most urgently; ring for the rest."""
    ring(execute(uid, action))
    end = time.monotonic() + GO_ON
    while time.monotonic() < end and (run := runs.first_waiting()) is not None:
        ring(perform(run))
    ring(runs.due())
