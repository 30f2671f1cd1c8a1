"""The static files of an image, collected with hashed names, are complete."""

import json
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def test_collecting_finds_every_file_that_a_stylesheet_names(installation, tmp_path):
    """The build of the image would fail here, on a missing file or reference."""
    env = installation | {"CONTEXTLAB_STATIC_ROOT": str(tmp_path / "static")}
    command = [sys.executable, "manage.py", "collectstatic", "--noinput", "-v", "0"]
    subprocess.run(command, cwd=CHECKOUT, env=env, check=True)
    manifest = json.loads((tmp_path / "static" / "staticfiles.json").read_text())
    assert "vendor/htmx/2.0.11/htmx.min.js" in manifest["paths"]
