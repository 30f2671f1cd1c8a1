"""The product's own settings over a data folder that is thrown away.

pytest-django loads settings before any conftest.py, so the folder has to be chosen here.
DATABASE_URL and CONTEXTLAB_BROKER_URL are respected: the same tests run on PostgreSQL and Redis.
"""

import atexit
import os
import shutil
import tempfile

if "CONTEXTLAB_TEST_DATA" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="contextlab-test-")
    os.environ["CONTEXTLAB_TEST_DATA"] = _folder
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
# Of several processes that share the tests each has a folder of its own.
os.environ["CONTEXTLAB_DATA"] = os.path.normpath(
    os.path.join(os.environ["CONTEXTLAB_TEST_DATA"], os.environ.get("PYTEST_XDIST_WORKER", ""))
)

from contextlab.config.settings import *  # noqa: F403

# Plain connections: a pool's threads would hold the test database open while it is dropped.
DATABASES["default"].get("OPTIONS", {}).pop("pool", None)  # noqa: F405
