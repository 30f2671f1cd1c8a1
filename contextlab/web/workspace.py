"""Whose data a request is about. Every read and write of a page passes through it."""

from __future__ import annotations

from django.http import HttpRequest

from contextlab.services.workspaces import local_workspace
from contextlab.store.models import Workspace


def workspace_of(request: HttpRequest) -> Workspace:  # noqa: ARG001 - accounts will tell it from the request
    """The workspace of the request: in local mode the only one."""
    return local_workspace()
