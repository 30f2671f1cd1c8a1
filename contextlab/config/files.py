"""What settings.py needs on disk: the data folder and the secret key in it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def private_folder(path: Path) -> Path:
    """Make the folder, readable by its owner only, and return it."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {path} cannot be made ({error.strerror}); set CONTEXTLAB_DATA to one that can."
        ) from error
    return path


def secret_key(path: Path) -> str:
    """The key kept in the file, made on first use (mode 0600).

    Web server and worker start at the same moment: the file is written aside and linked into place,
    so that nobody reads half a key and only the first one counts.
    """
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as handle:
            handle.write(secrets.token_urlsafe(64))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    key = path.read_text().strip()
    if len(key) < 50:
        raise ImproperlyConfigured(f"{path} does not hold a secret key; delete it to have a new one made.")
    return key
