"""Settings, addresses and the Celery app; sees every layer and is seen by none."""
