"""App configuration of the store."""

from django.apps import AppConfig


class StoreConfig(AppConfig):
    """All tables of ContextLab."""

    name = "contextlab.store"
    label = "store"
    default_auto_field = "django.db.models.BigAutoField"
