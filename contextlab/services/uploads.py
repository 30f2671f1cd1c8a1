"""Bytes that somebody sends: kept under a name of ours until they are imported, then their segments are the copy."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.db import transaction

from contextlab.importers.base import Source
from contextlab.services import runs
from contextlab.store.bulk import clean_text
from contextlab.store.models import FINISHED, LogFile, Run, Workspace

LEFT_BEHIND = 24 * 3600
"""Seconds after which an upload that no run waits for is removed."""

_NAME = re.compile(r"[0-9a-f]{32}")


class UploadTooLarge(Exception):
    """More bytes than CONTEXTLAB_MAX_UPLOAD_MB allows; the message names the limit."""

    def __init__(self, name: str, limit: int) -> None:
        self.limit = limit
        super().__init__(f"{name}: larger than the limit for uploads, {limit / 1024 / 1024:,.0f} MB.")


def accept_upload(
    workspace: Workspace, name: str, chunks: Iterable[bytes], origin: str = LogFile.Origin.UPLOAD
) -> Run:
    """Keep the bytes and queue their import. The same bytes sent twice are one file.

    `name` may hold folders with forward slashes; they tell subagents from main sessions. Raises UploadTooLarge.
    """
    relative = display_name(name)
    kept, digest = _keep(relative, chunks)
    try:
        key = hashlib.sha256(f"upload:{digest}".encode()).hexdigest()
        with transaction.atomic():
            fields = {"name": relative.rsplit("/", 1)[-1], "relative": relative, "origin": origin}
            file, _ = LogFile.objects.get_or_create(workspace=workspace, key=key, defaults=fields)
            run, new = runs.request(
                workspace, Run.Kind.IMPORT, f"import:{file.uid.hex}", target=file.uid.hex,
                params={"upload": kept.name}, unit="bytes",
            )  # fmt: skip
    except BaseException:
        kept.unlink(missing_ok=True)
        raise
    if not new:
        kept.unlink(missing_ok=True)
    return run


def source_of(file: LogFile, kept: str) -> Source:
    """The source of an upload's bytes."""
    return Source(file.name, _path(kept), relative=file.relative)


def is_there(kept: str) -> bool:
    """Whether an upload's bytes are still kept."""
    return _path(kept).exists()


def discard(kept: str | None) -> None:
    """Remove an upload's bytes: they were imported, or cannot be."""
    if kept:
        _path(kept).unlink(missing_ok=True)


def discard_left_behind() -> None:
    """Remove what no run waits for any more (a server that was killed between the two)."""
    waiting = Run.objects.filter(kind=Run.Kind.IMPORT).exclude(state__in=FINISHED)
    wanted = {params.get("upload") for params in waiting.values_list("params", flat=True)}
    for path in Path(settings.UPLOAD_DIR).iterdir():
        try:
            old = time.time() - path.stat().st_mtime > LEFT_BEHIND
        except OSError:
            continue
        if old and path.name not in wanted:
            path.unlink(missing_ok=True)


def display_name(name: str) -> str:
    """A name for people and importers: no way out of its folder, no control characters, never empty."""
    parts = clean_text(name).replace("\\", "/").split("/")
    kept = [part for raw in parts if (part := _printable(raw)) not in ("", ".", "..")]
    return "/".join(kept)[-1000:] or "upload"


def _printable(part: str) -> str:
    return "".join(letter for letter in part if letter.isprintable()).strip()[:255]


def _keep(name: str, chunks: Iterable[bytes]) -> tuple[Path, str]:
    path = Path(settings.UPLOAD_DIR) / uuid4().hex
    digest, size = hashlib.sha256(), 0
    try:
        with path.open("xb") as out:
            for chunk in chunks:
                size += len(chunk)
                if size > settings.MAX_UPLOAD_BYTES:
                    raise UploadTooLarge(name, settings.MAX_UPLOAD_BYTES)
                digest.update(chunk)
                out.write(chunk)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path, digest.hexdigest()


def _path(kept: str) -> Path:
    if not _NAME.fullmatch(kept):
        raise ValueError(f"{kept!r} is no name of an upload")
    return Path(settings.UPLOAD_DIR) / kept
