"""Options of the message broker, by the kind of its address."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from contextlab.config.files import private_folder

_KNOWN = ("filesystem", "redis", "rediss", "amqp", "amqps", "memory")


def transport_options(url: str, data_dir: Path, time_limit: int) -> dict[str, Any]:
    """What kombu's transport for this address needs; an unknown kind is an error."""
    scheme = urlsplit(url).scheme
    if scheme not in _KNOWN:
        raise ImproperlyConfigured(f"CONTEXTLAB_BROKER_URL must begin with one of {', '.join(_KNOWN)}.")
    if scheme == "filesystem":
        return _folders(private_folder(data_dir / "broker"))
    if scheme in ("redis", "rediss"):
        # Longer than the longest task, else it is delivered twice. Lost messages come back after
        # `interval * throttle` seconds beyond it; kombu's 10 x 10 would add 100 s.
        return {
            "visibility_timeout": 2 * time_limit,
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
            "socket_timeout": 30,
            "socket_keepalive": True,
        }
    return {}


def _folders(root: Path) -> dict[str, Any]:
    """One folder for both directions. Left unset, the control folder would be made in the working
    directory and the processed one shared with every other installation through /tmp."""
    queue = str(private_folder(root / "queue"))
    return {
        "data_folder_in": queue,
        "data_folder_out": queue,
        "processed_folder": str(private_folder(root / "processed")),
        "control_folder": str(private_folder(root / "control")),
        "polling_interval": 0.1,
    }
