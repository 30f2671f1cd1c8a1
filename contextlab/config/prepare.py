"""What has to be true before anything runs: tables up to date, vocabulary unpacked, sample sessions once.

python -m contextlab.config.prepare
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.config.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", interactive=False, verbosity=0)

    from contextlab.adapters.tokens import counter

    counter()  # unpacks the files and tests the fast path, once, before web server and worker both would
    _samples()


def _samples() -> None:
    """The sample sessions of the very first start. Without them everything still works, so a failure is only told."""
    try:
        samples = importlib.import_module("contextlab.services.samples")
    except ModuleNotFoundError as error:
        if error.name in ("contextlab.services", "contextlab.services.samples"):
            return
        raise
    try:
        samples.ensure_samples()
    except Exception:
        traceback.print_exc()
        sys.stderr.write("The sample sessions could not be imported (see above); it starts without them.\n")


if __name__ == "__main__":
    main()
