"""The one folder on disk where everything that ContextLab keeps lies."""

from __future__ import annotations

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent


def data_folder() -> Path:
    """The folder of CONTEXTLAB_DATA, else `.data` in the checkout; it need not exist yet."""
    named = os.environ.get("CONTEXTLAB_DATA", "").strip()
    return Path(named).expanduser().resolve() if named else CHECKOUT / ".data"
