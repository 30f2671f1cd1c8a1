"""Celery tasks; every module with tasks is imported here by name."""
