"""Static files are served as they lie, and an image's collected ones are complete."""

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from django.test import AsyncClient, Client

CHECKOUT = Path(__file__).resolve().parents[2]


def test_collecting_finds_every_file_that_a_stylesheet_names(installation, tmp_path):
    """The build of the image would fail here, on a missing file or reference."""
    env = installation | {"CONTEXTLAB_STATIC_ROOT": str(tmp_path / "static")}
    command = [sys.executable, "manage.py", "collectstatic", "--noinput", "-v", "0"]
    subprocess.run(command, cwd=CHECKOUT, env=env, check=True)
    manifest = json.loads((tmp_path / "static" / "staticfiles.json").read_text())
    assert "vendor/htmx/2.0.11/htmx.min.js" in manifest["paths"]


HTMX = "/static/vendor/htmx/2.0.11/htmx.min.js"
HTMX_FILE = CHECKOUT / "static" / "vendor" / "htmx" / "2.0.11" / "htmx.min.js"


def test_a_file_is_served_whole_with_its_type():
    """The bytes on disk, a type, and no word that other sites may read it."""
    answer = Client().get(HTMX)
    assert answer.content == HTMX_FILE.read_bytes()
    assert answer["Content-Type"].startswith("text/javascript")
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_an_unchanged_file_is_not_sent_again():
    """The browser asks with the date it knows and gets an empty 304."""
    known = Client().get(HTMX)["Last-Modified"]
    again = Client().get(HTMX, headers={"If-Modified-Since": known})
    assert (again.status_code, again.content) == (304, b"")


def test_only_the_length_is_told_to_a_head_request():
    """HEAD has the length of the file and no body."""
    answer = Client().head(HTMX)
    assert (answer["Content-Length"], answer.content) == (str(HTMX_FILE.stat().st_size), b"")


def test_an_asgi_server_gets_it_without_a_warning():
    """The suite turns warnings into errors, and Django warns of a file that is streamed there."""
    with ThreadPoolExecutor(1) as pool:  # a browser test may have left an event loop in this thread
        answer = pool.submit(asyncio.run, AsyncClient().get(HTMX)).result()
    assert answer.content == HTMX_FILE.read_bytes()


def test_no_file_outside_is_reachable():
    """A path that climbs up finds nothing."""
    assert Client().get("/static/../manage.py").status_code == 404
    assert Client().get("/static/%2e%2e/manage.py").status_code == 404
