"""The one folder on disk where everything that ContextLab keeps lies."""

from __future__ import annotations

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent


def data_folder() -> Path:
    """The folder of CONTEXTLAB_DATA, else `.data` in the checkout; it need not exist yet.

    Installed without a checkout it is the user's own data folder ($XDG_DATA_HOME/contextlab).
    """
    named = os.environ.get("CONTEXTLAB_DATA", "").strip()
    if named:
        return Path(named).expanduser().resolve()
    if (CHECKOUT / "manage.py").is_file():
        return CHECKOUT / ".data"
    shared = os.environ.get("XDG_DATA_HOME", "").strip() or "~/.local/share"
    return Path(shared).expanduser() / "contextlab"
