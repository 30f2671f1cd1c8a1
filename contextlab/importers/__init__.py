"""The importers, found and chosen: every module of this folder that names a FORMAT is one.

Strangers add theirs with an entry point of the group `contextlab.importers` that names such a module or object. The
format of a file is told by its content alone, from its first 256 KB; neither its name nor a label in it counts.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from typing import Any, cast

from contextlab.core.events import FileReport
from contextlab.importers.base import Importer, SessionEvents, Source, UnknownFormat, UnreadableFile
from contextlab.importers.guess import guess, guess_binary

__all__ = ["HEAD_BYTES", "UnknownFormat", "UnreadableFile", "detect", "importers", "read_file"]

HEAD_BYTES = 256 * 1024
GROUP = "contextlab.importers"
NAMES = ("FORMAT", "LABEL", "CANNOT_CONTAIN", "sniff", "read")

logger = logging.getLogger(__name__)


class ImporterError(TypeError):
    """An importer lacks a name, or two of them claim one format."""


@cache
def importers() -> tuple[Importer, ...]:
    """All importers: ours in the order of their names, then those of other packages.

    Raises ImporterError for one of ours that is incomplete and for a format that two importers claim; a stranger's
    that cannot be loaded is logged and left out.
    """
    found: dict[str, Importer] = {}
    for importer in (*_ours(), *_strangers()):
        if importer.FORMAT in found:
            raise ImporterError(f"two importers claim the format {importer.FORMAT!r}")
        found[importer.FORMAT] = importer
    return tuple(found.values())


def detect(source: Source) -> Importer:
    """The importer that is surest of the content; raises UnknownFormat, or UnreadableFile where nothing can be read."""
    head = _head(source)
    if not head.strip(b"\x00 \t\r\n"):
        raise UnreadableFile(f"{source.name}: is empty")
    surest, best = 0, None
    for importer in importers():
        if (sure := importer.sniff(head)) > surest:
            surest, best = sure, importer
    if best is None:
        raise UnknownFormat(_unknown(source.name, guess(head)))
    return best


def read_file(source: Source, report: FileReport) -> SessionEvents:
    """The events of a file of any known format; raises like `detect`, never on content afterwards."""
    importer = detect(source)
    report.format = importer.FORMAT
    report.cannot_contain = tuple(importer.CANNOT_CONTAIN)
    return importer.read(source, report)


def _head(source: Source) -> bytes:
    try:
        with source.open() as stream:
            return stream.read(HEAD_BYTES)
    except UnreadableFile as error:
        if (what := guess_binary(source)) is not None:
            raise UnknownFormat(_unknown(source.name, what)) from error
        raise


def _unknown(name: str, what: str | None) -> str:
    known = ", ".join(f"{importer.LABEL} ({importer.FORMAT})" for importer in importers())
    seems = f"it looks like {what}, which has no importer yet" if what else "its content fits no known log"
    return (
        f"{name}: unknown format: {seems}. Supported: {known}. Anything else can be written as contextlab-events, "
        "one JSON object a line (docs/formats/contextlab-events.md)."
    )


def _ours() -> list[Importer]:
    found = []
    for entry in sorted(pkgutil.iter_modules(__path__), key=lambda entry: entry.name):
        module = importlib.import_module(f"{__name__}.{entry.name}")
        if hasattr(module, "FORMAT"):
            found.append(_complete(module, module.__name__))
    return found


def _strangers() -> list[Importer]:
    found = []
    for entry in entry_points(group=GROUP):
        try:
            found.append(_complete(entry.load(), entry.value))
        except Exception:
            logger.exception("the importer %s cannot be loaded and is left out", entry.value)
    return found


def _complete(candidate: Any, where: str) -> Importer:
    missing = [name for name in NAMES if not hasattr(candidate, name)]
    if missing:
        raise ImporterError(f"{where} is no importer: it has no {', '.join(missing)}")
    return cast(Importer, candidate)
