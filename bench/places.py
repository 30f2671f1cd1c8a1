"""Where the benchmarks keep what they make: generated logs, the peers' environment, databases to throw away."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.measure import CommandError, note, run
from contextlab.adapters.data_folder import CHECKOUT, data_folder

CACHE = data_folder() / "bench"
PEERS = ("claude-code-transcripts==0.6", "claude-code-log==1.7.0")
LANGCHAIN = ("langchain-core==1.8.3", "langchain==1.5.2")
GENERATORS = CHECKOUT.parent / "shared" / "bench"
"""Generators of an outer project, preferred where they are (CONTEXTLAB_BENCH_GENERATORS names another place)."""
POSTGRES = "CONTEXTLAB_BENCH_PG"
"""Variable with the address of a PostgreSQL server on which databases may be made and dropped."""


def claude_log(*options: str) -> Path:
    """A generated Claude Code transcript; made once for the same options."""
    folder = Path(os.environ.get("CONTEXTLAB_BENCH_GENERATORS", GENERATORS))
    outer = folder / "gen_claude.py"
    maker = "outer" if outer.is_file() else "own"
    path = CACHE / "logs" / f"{maker}{'_'.join(options)}.jsonl".replace("--", "-")
    if path.is_file():
        return path
    note(f"making {path.name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [str(outer)] if maker == "outer" else ["-m", "bench.gen_claude"]
    part = path.with_suffix(".part")
    run([sys.executable, *command, *options, "-o", str(part)], cwd=CHECKOUT)
    part.rename(path)
    return path


def long_session(turns: int) -> Path:
    """A session of so many turns with short answers. Sizes have seeds of their own: equal ones would be one session."""
    return claude_log("--turns", str(turns), "--steps", "1", "--seed", str(turns))


def peers() -> dict[str, Path] | str:
    """The peers' commands by name, installed into an environment of their own; or why they cannot be had."""
    folder = CACHE / "peers"
    commands = {name.partition("==")[0]: folder / "bin" / name.partition("==")[0] for name in PEERS}
    if all(path.exists() for path in commands.values()):
        return commands
    note("installing the peers from PyPI, once")
    try:
        run([sys.executable, "-m", "venv", str(folder)])
        run([str(folder / "bin" / "pip"), "install", "-q", *PEERS])
    except CommandError as error:
        shutil.rmtree(folder, ignore_errors=True)
        return f"the peers cannot be installed: {str(error).splitlines()[-1]}"
    return commands


def langchain() -> Path | str:
    """A Python that has LangChain, in an environment of its own; or why it cannot be had."""
    folder = CACHE / "langchain"
    python, ready = folder / "bin" / "python", folder / "ready"
    wanted = " ".join(LANGCHAIN)
    if ready.is_file() and ready.read_text() == wanted:
        return python
    note("installing LangChain from PyPI, once")
    try:
        run([sys.executable, "-m", "venv", str(folder)])
        run([str(folder / "bin" / "pip"), "install", "-q", *LANGCHAIN])
    except CommandError as error:
        shutil.rmtree(folder, ignore_errors=True)
        return f"LangChain cannot be installed: {str(error).splitlines()[-1]}"
    ready.write_text(wanted)
    return python


def own_command(*arguments: str) -> list[str]:
    """The product's command line, as it is installed beside this interpreter."""
    return [str(Path(sys.executable).with_name("contextlab")), *arguments]


class Installation:
    """A data folder and a migrated, empty database that can be had anew as often as one likes."""

    def __init__(self, folder: Path, server: str | None) -> None:
        self.folder = folder
        self.server = server
        self.name = f"bench_{os.getpid()}"
        self._template = folder.with_name(folder.name + "-template")

    def prepare(self) -> None:
        """Make the database that the others are copied from."""
        if self.server is not None:
            self._psql(f'CREATE DATABASE "{self.name}_template"')
        run([sys.executable, "manage.py", "migrate", "-v", "0"], self.env(template=True), CHECKOUT)
        # What pip does for packages, the peers among them: without it every process would compile ours anew.
        run([sys.executable, "-m", "compileall", "-q", "contextlab"], self.env(template=True), CHECKOUT)
        # Unpack the vocabulary and test the fast tokenizer before anything is measured.
        count = "from contextlab.adapters.tokens import counter; counter().count('x')"
        run([sys.executable, "-c", count], self.env(template=True), CHECKOUT)

    def env(self, template: bool = False) -> dict[str, str]:
        """The environment of a process that works here."""
        values = {**os.environ, "DJANGO_SETTINGS_MODULE": "contextlab.config.settings"}
        values["CONTEXTLAB_DATA"] = str(self._template if template else self.folder)
        values.pop("DATABASE_URL", None)
        if self.server is not None:
            name = f"{self.name}_template" if template else self.name
            values["DATABASE_URL"] = f"{self.server.rpartition('/')[0]}/{name}"
        return values

    def renew(self) -> None:
        """An empty database again."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self._template, self.folder)
        if self.server is not None:
            self._psql(f'DROP DATABASE IF EXISTS "{self.name}" WITH (FORCE)')
            self._psql(f'CREATE DATABASE "{self.name}" TEMPLATE "{self.name}_template"')

    def remove(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self._template, ignore_errors=True)
        if self.server is not None:
            for name in (self.name, f"{self.name}_template"):
                self._psql(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def _psql(self, statement: str) -> None:
        import psycopg

        assert self.server is not None
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(statement.encode())


@contextmanager
def installation(server: str | None = None) -> Iterator[Installation]:
    """An installation on SQLite, or on the PostgreSQL server of this address; removed afterwards."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        made = Installation(Path(folder) / "data", server)
        try:
            made.prepare()
            yield made
        finally:
            made.remove()


def postgres() -> str | None:
    """The address of the PostgreSQL server to measure on, None without one."""
    return os.environ.get(POSTGRES) or None


def ask(made: Installation, module: str, *arguments: str) -> str:
    """The output of a helper that runs inside an installation; what it costs is not measured."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(
        command, env=made.env(), cwd=CHECKOUT, check=True, capture_output=True, text=True
    ).stdout
