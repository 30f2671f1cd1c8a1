"""Finding logs: files, folders, whole `projects/` trees of Claude Code and `sessions/` trees of Codex.

Only names are looked at here, to leave out what cannot be a log; what a file really is its content tells later.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from contextlab.importers.streams import Source

ENDINGS = (".jsonl", ".ndjson", ".json", ".traj")
"""Endings of logs, plain or with `.zst` or `.gz` behind them. A file that is named by itself may end in anything."""

COMPRESSED = (".zst", ".gz")
COMPANION = ".meta.json"
FILES_LIMIT = 200_000
"""More files than this are no folder of logs but a whole disk."""

_NEVER = frozenset({"node_modules", "__pycache__", "tool-results"})
_CLAUDE_HOME = ("settings.json", "history.jsonl", "todos", "shell-snapshots", "statsig")
_CODEX_HOME = ("config.toml", "auth.json", "history.jsonl", "log")


def discover(
    paths: Iterable[Path | str], newest_first: bool = False, problems: list[str] | None = None
) -> list[Source]:
    """The sources below the paths, each file once, in the order of their names (or the newest first).

    A path that does not exist, or is no folder, is a source of its own: opening it tells what is wrong. Folders
    that cannot be read, and a folder of more than FILES_LIMIT files, are named in `problems`. A plain file wins
    over its compressed twin; `agent-x.meta.json` is a companion of `agent-x.jsonl`.
    """
    found: dict[tuple[int, int] | str, Source] = {}
    problems = problems if problems is not None else []
    for path in map(Path, paths):
        if os.path.isdir(path):
            for root in _log_roots(path):
                for source in _below(root, path, problems):
                    found.setdefault(_identity(source), source)
        else:
            found.setdefault(str(path), _source(path, path.name, None))
    sources = list(found.values())
    if newest_first:
        sources.sort(key=lambda source: (-(source.modified or 0.0), str(source.path)))
    return sources


def well_known_folders(env: Mapping[str, str], home: Path) -> list[tuple[str, Path]]:
    """Where the agents keep their logs: (label, folder), whether the folder exists or not.

    CLAUDE_CONFIG_DIR and CODEX_HOME move the folders, as they do for the agents themselves.
    """
    claude = Path(env["CLAUDE_CONFIG_DIR"]).expanduser() if env.get("CLAUDE_CONFIG_DIR") else home / ".claude"
    codex = Path(env["CODEX_HOME"]).expanduser() if env.get("CODEX_HOME") else home / ".codex"
    return [
        ("Claude Code", claude / "projects"),
        ("Codex", codex / "sessions"),
        ("Codex, archived", codex / "archived_sessions"),
    ]


def _log_roots(path: Path) -> list[Path]:
    """The folders of logs inside an agent's own folder (which holds settings and caches too), else the path itself."""
    for inner, signs in ((("projects",), _CLAUDE_HOME), (("sessions", "archived_sessions"), _CODEX_HOME)):
        roots = [path / name for name in inner if os.path.isdir(path / name)]
        if roots and any(os.path.exists(path / sign) for sign in signs):
            return roots
    return [path]


def _below(root: Path, asked: Path, problems: list[str]) -> Iterator[Source]:
    count = 0
    for folder, files in _folders(root, problems):
        names = set(files)
        for name in sorted(files):
            if not _may_be_log(name, names):
                continue
            count += 1
            if count > FILES_LIMIT:
                problems.append(f"{asked}: more than {FILES_LIMIT} files; the rest was left out")
                return
            companion = _stem(name) + COMPANION
            path = folder / name
            relative = path.relative_to(asked).as_posix()
            yield _source(path, relative, folder / companion if companion in names else None)


def _folders(root: Path, problems: list[str]) -> Iterator[tuple[Path, list[str]]]:
    """Every folder below with the names of its files, in order; links are followed, but no folder is read twice."""
    waiting = [root]
    seen: set[tuple[int, int]] = set()
    while waiting:
        folder = waiting.pop()
        try:
            status = folder.stat()
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as entries:
                inner, files = _sorted_out(entries)
        except OSError as error:
            problems.append(f"{folder}: {error.strerror or 'cannot be read'}")
            continue
        yield folder, files
        waiting.extend(folder / name for name in sorted(inner, reverse=True))


def _sorted_out(entries: Iterator[os.DirEntry[str]]) -> tuple[list[str], list[str]]:
    inner, files = [], []
    for entry in entries:
        if entry.name.startswith("."):
            continue
        try:
            if entry.is_dir():
                if entry.name not in _NEVER:
                    inner.append(entry.name)
            elif entry.is_file():
                files.append(entry.name)
        except OSError:
            continue
    return inner, files


def _may_be_log(name: str, names: set[str]) -> bool:
    if name.endswith(COMPANION):
        return False
    for ending in COMPRESSED:
        if name.endswith(ending):
            plain = name[: -len(ending)]
            return plain.endswith(ENDINGS) and plain not in names
    return name.endswith(ENDINGS)


def _stem(name: str) -> str:
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return name.rsplit(".", 1)[0]


def _source(path: Path, relative: str, companion: Path | None) -> Source:
    source = Source(path.name, path=path, relative=relative)
    if companion is None and relative == path.name:
        beside = path.parent / (_stem(path.name) + COMPANION)
        companion = beside if path.name.startswith("agent-") and os.path.isfile(beside) else None
    if companion is not None:
        source.companions[companion.name] = companion
    try:
        status = path.stat()
        source.size, source.modified = status.st_size, status.st_mtime
    except (OSError, ValueError):
        pass
    return source


def _identity(source: Source) -> tuple[int, int] | str:
    """One file under two names is read once."""
    try:
        status = os.stat(source.path or "")
    except OSError:
        return str(source.path)
    return status.st_dev, status.st_ino
