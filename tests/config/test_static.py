"""Static files are served as they lie, kept by browsers, and an image's collected ones are complete."""

import asyncio
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from django.templatetags.static import static
from django.test import AsyncClient, Client

from contextlab.web.static_files import version_of

CHECKOUT = Path(__file__).resolve().parents[2]
STATIC = CHECKOUT / "static"


def test_collecting_gathers_every_file_compressed(installation, tmp_path):
    """The image has each script and style, and beside it what a browser that takes gzip is sent."""
    env = installation | {"CONTEXTLAB_STATIC_ROOT": str(tmp_path / "static")}
    command = [sys.executable, "manage.py", "collectstatic", "--noinput", "-v", "0"]
    subprocess.run(command, cwd=CHECKOUT, env=env, check=True)
    for path in (path for path in STATIC.rglob("*") if path.is_file()):
        assert (tmp_path / "static" / path.relative_to(STATIC)).read_bytes() == path.read_bytes()
    assert (tmp_path / "static" / "vendor/htmx/2.0.11/htmx.min.js.gz").is_file()


def test_every_file_that_a_script_or_a_style_names_is_there():
    """No module imports, and no style loads, what does not exist; and each does so relative to itself."""
    for path in [*STATIC.glob("js/*.js"), *STATIC.glob("css/*.css")]:
        text = path.read_text()
        names = re.findall(r"""(?:from|import) ["']([^"']+)["']|url\(["']?([^"'#)][^"')]*)""", text)
        for name in (first or second for first, second in names):
            assert name.startswith("."), f"{path.name} names {name}"
            assert (path.parent / name).is_file(), f"{path.name} names {name}"


def test_pages_name_addresses_that_a_browser_keeps():
    """What a page loads is never asked for again, and has the bytes on disk."""
    answer = Client().get(static("js/app.js"))
    assert answer.content == (STATIC / "js" / "app.js").read_bytes()
    assert "immutable" in answer["Cache-Control"]
    assert "max-age=0" in Client().get("/static/js/app.js")["Cache-Control"]


def test_a_module_beside_it_is_kept_as_well():
    """The relative name in an import leads to the same version."""
    beside = static("js/chart.js").rpartition("/")[0] + "/canvas.js"
    assert "immutable" in Client().get(beside)["Cache-Control"]


def test_an_address_of_another_release_is_not_answered():
    """A browser never keeps today's file under yesterday's address."""
    assert Client().get("/static/000000000000/js/app.js").status_code == 404


def test_a_changed_or_renamed_file_has_another_address(tmp_path):
    """The version tells contents and names apart, and stays for the same files."""
    (tmp_path / "a.js").write_text("1")
    first = version_of([tmp_path])
    assert version_of([tmp_path]) == first
    (tmp_path / "a.js").write_text("2")
    second = version_of([tmp_path])
    (tmp_path / "a.js").rename(tmp_path / "b.js")
    assert len({first, second, version_of([tmp_path])}) == 3


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
