"""The tenant. Local mode has one; every query passes through it."""

from __future__ import annotations

from contextlab.store.models import Workspace


def local_workspace() -> Workspace:
    """The one workspace of local mode; made when it is first asked for."""
    workspace = Workspace.objects.order_by("id").first()
    return workspace or Workspace.objects.get_or_create(pk=1)[0]
