"""The tenant. Local mode has one; every query passes through it."""

from __future__ import annotations

import uuid

from contextlab.store.models import Workspace

LOCAL = uuid.UUID("6c6f6361-6c00-4000-8000-000000000001")


def local_workspace() -> Workspace:
    """The one workspace of local mode; made when it is first asked for."""
    workspace = Workspace.objects.order_by("id").first()
    if workspace is None:
        # No key of our own choosing: PostgreSQL's sequence would not know of it and give it out again. Of two that
        # are made at once by their uid only one stays.
        workspace = Workspace.objects.get_or_create(uid=LOCAL)[0]
    return workspace
