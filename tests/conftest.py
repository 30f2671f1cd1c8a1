"""What all tests share: the browser or a visible reason why there is none, and installations of their own."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

CHECKOUT = Path(__file__).resolve().parent.parent
UNWANTED = ("DJANGO_SETTINGS_MODULE", "CONTEXTLAB_TEST_DATA", "PYTEST_CURRENT_TEST")
"""Variables that processes of an installation of its own must not have."""
NO_BROWSER = "no Chromium found: apt-get install chromium, or set CHROMIUM=/path/to/it"
BUSY = ".htmx-request, .htmx-swapping, .htmx-added, .htmx-settling"
PREPARE = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "contextlab.config.settings"
import django; django.setup()
from django.core.management import call_command
from contextlab.adapters.tokens import counter
call_command("migrate", interactive=False, verbosity=0)
counter()
"""
# Playwright's synchronous API keeps an event loop running in this thread; Django would refuse its database.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


def chromium() -> str | None:
    """The browser's path, or None."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


@pytest.hookimpl(tryfirst=True)  # before -m looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what drives a browser and what uses the database, and settle what happens without a browser.

    Browser tests are skipped with a reason where there is no browser; with REQUIRE_BROWSER=1 they fail.
    """
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if "page" in fixtures:
            item.add_marker(pytest.mark.browser)
            if chromium() is None and os.environ.get("REQUIRE_BROWSER") != "1":
                item.add_marker(pytest.mark.skip(reason=NO_BROWSER))
        elif item.get_closest_marker("django_db") or fixtures & {"db", "transactional_db"}:
            item.add_marker(pytest.mark.database)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Debian's Chromium instead of one that Playwright would have to download."""
    path = chromium()
    if path is None:
        pytest.fail(f"REQUIRE_BROWSER=1, but {NO_BROWSER}")
    # CI runs as root, where Chromium's sandbox refuses to start.
    args = ["--no-sandbox", "--disable-dev-shm-usage"]
    return {**browser_type_launch_args, "executable_path": path, "args": args}


class LiveApp:
    """A running server and a page on it. `problems` collects script errors and blocked content."""

    def __init__(self, url: str, page: Any) -> None:
        from playwright.sync_api import expect

        self.url, self.page, self.problems = url, page, []
        page.set_default_timeout(15_000)
        expect.set_options(timeout=15_000)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda line: line.type == "error" and self.problems.append(line.text))

    def open(self, path: str = "/") -> Any:
        """Go to a path of the server; returns the page."""
        self.page.goto(self.url + path)
        return self.page

    def press(self, *keys: str) -> None:
        """Press keys one after the other, each as soon as the page hears it.

        A page that was just navigated to has its address before its scripts have run, and what htmx swaps in is
        shown before it is wired: a key pressed then is lost, or follows a link in the plain way.
        """
        from playwright.sync_api import expect

        for key in keys:
            expect(self.page.locator("html[data-ready]")).to_be_attached(timeout=15_000)
            expect(self.page.locator(BUSY)).to_have_count(0, timeout=15_000)
            self.page.keyboard.press(key)


@pytest.fixture(scope="session", autouse=True)
def product_serves_static_files() -> Iterator[None]:
    """Django's server for tests would answer static files itself, under plain addresses alone; the product does."""
    from django.contrib.staticfiles.handlers import StaticFilesHandler

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StaticFilesHandler, "_should_handle", lambda _handler, _path: False)
        yield


@pytest.fixture
def live_app(live_server: Any, page: Any) -> Iterator[LiveApp]:
    """The server with a browser page on it; a script error or a blocked resource fails the test."""
    app = LiveApp(live_server.url, page)
    yield app
    assert app.problems == []


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of an installation of its own, for processes started by a test.

    With DATABASE_URL on PostgreSQL it gets a database of its own, dropped afterwards.
    """
    env = {name: value for name, value in os.environ.items() if name not in UNWANTED}
    env["CONTEXTLAB_DATA"] = str(tmp_path / "data")
    env["CONTEXTLAB_QUEUE"] = f"test-{uuid.uuid4().hex}"
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    url = env.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        yield env
        return
    import psycopg

    name = f"contextlab_{env['CONTEXTLAB_QUEUE']}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        yield env | {"DATABASE_URL": f"{url.rsplit('/', 1)[0]}/{name}"}
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def prepared_data() -> Path:
    """A data folder with its tables and a tested tokenizer, made once for all processes of a run.

    Either takes seconds of processor time.
    """
    shared = Path(os.environ["CONTEXTLAB_TEST_DATA"])
    folder = shared / "prepared"
    with closing(sqlite3.connect(shared / "turn.sqlite3", timeout=120, isolation_level=None)) as turn:
        turn.execute("BEGIN EXCLUSIVE")  # the other processes wait here, and find the folder
        if not folder.exists():
            unfinished = shared / "unfinished"
            env = {
                name: value for name, value in os.environ.items() if name not in (*UNWANTED, "DATABASE_URL")
            }
            _prepare(env | {"CONTEXTLAB_DATA": str(unfinished)})
            unfinished.rename(folder)
    return folder


@pytest.fixture
def migrated(installation: dict[str, str], request: pytest.FixtureRequest) -> None:
    """The installation's database has its tables, and its tokenizer is tested."""
    if installation.get("DATABASE_URL", "").startswith("postgres"):
        _prepare(installation)
    else:
        shutil.copytree(request.getfixturevalue("prepared_data"), installation["CONTEXTLAB_DATA"])


def _prepare(env: dict[str, str]) -> None:
    subprocess.run([sys.executable, "-c", PREPARE], cwd=CHECKOUT, env=env, check=True, timeout=120)


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_keepdb: bool) -> bool:
    """Whether the tests' database is used as it lies there; on SQLite it is a copy of one with tables."""
    return django_db_keepdb or connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, request: pytest.FixtureRequest) -> None:
    """On SQLite the tests' database begins as a copy of one with tables; Django still asks what it lacks."""
    if connection.vendor == "sqlite":
        prepared: Path = request.getfixturevalue("prepared_data")
        shutil.copy(prepared / "db.sqlite3", settings.DATABASES["default"]["TEST"]["NAME"])
        for result in prepared.glob("toktok-self-test.json"):  # none where toktok-rs is not installed
            shutil.copy(result, settings.DATA_DIR)
