"""Settings, addresses and the Celery app; sees every layer and is seen by none.

The Celery app is loaded with the settings, so that `shared_task` finds it in every process and thread.
(Not in contextlab/__init__.py: that would drag Celery into every agent that imports contextlab.core.)
"""

from contextlab.config.celery import app as celery_app

__all__ = ["celery_app"]
