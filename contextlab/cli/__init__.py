"""The console command `contextlab`.

One file per command in this folder. It exposes NAME, HELP, NEEDS_DJANGO, `add_arguments(parser)` and
`run(args) -> exit code`, and imports what is heavy inside `run`. The file's name is the command's
(`import_.py` is `import`); files that begin with `_` are no commands. Every other first word goes to Django, so
`contextlab migrate` and all of manage.py work too.

Exit codes: 0 done, 1 a finding that was asked for or a failure, 2 wrong usage, 3 nothing could be read.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from contextlab import __version__


class Command(Protocol):
    """What a file in this folder exposes."""

    NAME: str
    HELP: str
    NEEDS_DJANGO: bool

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(words)
    except BrokenPipeError:
        # `contextlab replay ... | head` is no failure; keep the interpreter from writing once more at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def _dispatch(words: list[str]) -> int:
    files = _files()
    first = words[0] if words else "--help"
    if first in ("-h", "--help"):
        print(_overview(files))
        return 0 if words else 2
    if first == "--version":
        print(f"contextlab {__version__}")
        return 0
    if first not in files:
        return _django(words)
    command = _load(files[first])
    parser = argparse.ArgumentParser(prog=f"contextlab {command.NAME}", description=command.HELP)
    command.add_arguments(parser)
    args = parser.parse_args(words[1:])
    if command.NEEDS_DJANGO:
        _set_up_django()
    return command.run(args)


def _files() -> dict[str, str]:
    """Command names and the modules that hold them, without importing any."""
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    return {name.rstrip("_"): name for name in modules if not name.startswith("_")}


def _load(module: str) -> Command:
    return cast(Command, importlib.import_module(f"{__name__}.{module}"))


def _overview(files: dict[str, str]) -> str:
    commands = [_load(module) for module in files.values()]
    lines = [f"  {command.NAME:<10} {command.HELP}" for command in commands]
    return "\n".join(
        [
            "usage: contextlab COMMAND ...",
            "",
            "See what an agent's model saw at every step.",
            "",
            *lines,
            "",
            "contextlab COMMAND --help tells more. Django's own commands work too: contextlab migrate, shell, ...",
        ]
    )


def _set_up_django() -> None:
    """As django.setup(), with the tables alone: our own commands show no pages and ring for no worker."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.config.settings")
    from logging.config import dictConfig

    from django.apps import apps
    from django.conf import settings

    dictConfig(settings.LOGGING)
    apps.populate(["contextlab.store"])


def _django(words: list[str]) -> int:
    """Hand the command line to Django; a word that it does not know either is wrong usage."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.config.settings")
    from django.core.management import execute_from_command_line, get_commands

    if words[0] not in {*get_commands(), "help", "version"}:
        print(f"contextlab: unknown command {words[0]!r}; contextlab --help lists them.", file=sys.stderr)
        return 2
    execute_from_command_line(["contextlab", *words])
    return 0
