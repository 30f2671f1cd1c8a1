"""What has to be there in every process that is set up whole (pages, API, worker, manage.py)."""

from __future__ import annotations

import importlib

from django.apps import AppConfig


class ConfigApp(AppConfig):
    """Loads the Celery app, so that `shared_task` finds it in every thread.

    Not in the package's __init__, which the settings bring in: a command that only writes to the database would load
    Celery as well. (And not in contextlab/__init__.py: that would drag it into every agent that imports the core.)
    """

    name = "contextlab.config"

    def ready(self) -> None:
        """Everything is set up."""
        importlib.import_module("contextlab.config.celery")
