"""A task for tests of the broker: it leaves a file behind."""

from pathlib import Path

from celery import shared_task


@shared_task(name="tests.ring")
def ring(path: str) -> None:
    Path(path).write_text("rung")
