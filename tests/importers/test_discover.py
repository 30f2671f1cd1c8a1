"""Finding logs in files, folders and the agents' own trees."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contextlab.importers import discover as module
from contextlab.importers.discover import discover, well_known_folders


def grow(root: Path, *names: str) -> None:
    """Make files with these paths."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}\n")


def found(*paths: Path) -> list[str]:
    """Relative paths of what is found."""
    return [source.relative for source in discover(paths)]


def test_folder_gives_its_logs_in_order(tmp_path: Path) -> None:
    """Logs of all endings are found at any depth; other files, hidden folders and offloads are left out."""
    grow(
        tmp_path,
        "b/s2.jsonl",
        "a/s1.jsonl",
        "a/x.traj",
        "a/y.json",
        "notes.md",
        ".git/z.json",
        "a/tool-results/t.json",
    )
    assert found(tmp_path) == ["a/s1.jsonl", "a/x.traj", "a/y.json", "b/s2.jsonl"]


def test_named_file_is_taken_whatever_it_is_called(tmp_path: Path) -> None:
    """A file that was asked for by name is a source, also one that does not exist: opening it says so."""
    grow(tmp_path, "session.log")
    assert found(tmp_path / "session.log", tmp_path / "gone") == ["session.log", "gone"]


def test_plain_file_wins_over_its_twin(tmp_path: Path) -> None:
    """Where both exist the compressed copy is not read a second time."""
    grow(tmp_path, "r1.jsonl", "r1.jsonl.zst", "r2.jsonl.zst")
    assert found(tmp_path) == ["r1.jsonl", "r2.jsonl.zst"]


def test_companion_goes_with_its_log(tmp_path: Path) -> None:
    """agent-x.meta.json is no log of its own; it belongs to agent-x.jsonl, in a folder and for a single file."""
    grow(tmp_path, "s1/subagents/agent-x.jsonl", "s1/subagents/agent-x.meta.json")
    for path in (tmp_path, tmp_path / "s1/subagents/agent-x.jsonl"):
        (source,) = discover([path])
        assert source.companions == {"agent-x.meta.json": tmp_path / "s1/subagents/agent-x.meta.json"}


def test_agents_own_folder_means_its_logs(tmp_path: Path) -> None:
    """Of ~/.claude and ~/.codex only the logs are read, not settings and caches."""
    grow(tmp_path, ".claude/settings.json", ".claude/todos/1.json", ".claude/projects/p/s.jsonl")
    grow(tmp_path, ".codex/auth.json", ".codex/sessions/2026/r.jsonl", ".codex/archived_sessions/a.jsonl")
    assert found(tmp_path / ".claude") == ["projects/p/s.jsonl"]
    assert found(tmp_path / ".codex") == ["sessions/2026/r.jsonl", "archived_sessions/a.jsonl"]


def test_links_are_followed_once(tmp_path: Path) -> None:
    """A loop of links ends, and a file under two names is read once."""
    grow(tmp_path, "a/s.jsonl")
    (tmp_path / "a/loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "t.jsonl").symlink_to(tmp_path / "a/s.jsonl")
    assert len(found(tmp_path)) == 1
    (tmp_path / "a/self.jsonl").symlink_to(tmp_path / "a/self.jsonl")
    assert len(found(tmp_path)) == 1


def test_newest_first(tmp_path: Path) -> None:
    """On request the newest comes first, with size and time of change."""
    grow(tmp_path, "old.jsonl", "new.jsonl")
    os.utime(tmp_path / "old.jsonl", (1000, 1000))
    os.utime(tmp_path / "new.jsonl", (2000, 2000))
    sources = discover([tmp_path], newest_first=True)
    assert [(source.name, source.modified, source.size) for source in sources] == [
        ("new.jsonl", 2000, 3),
        ("old.jsonl", 1000, 3),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_folder_is_named(tmp_path: Path) -> None:
    """A folder that may not be read is told; the others are read."""
    grow(tmp_path, "a/s.jsonl", "b/t.jsonl")
    (tmp_path / "a").chmod(0)
    problems: list[str] = []
    assert len(discover([tmp_path], problems=problems)) == 1
    assert "a: Permission denied" in problems[0]
    (tmp_path / "a").chmod(0o700)


def test_huge_folder_is_cut_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More files than any agent writes: the rest is left out, and that is said."""
    monkeypatch.setattr(module, "FILES_LIMIT", 3)
    grow(tmp_path, *(f"s{number}.jsonl" for number in range(5)))
    problems: list[str] = []
    assert len(discover([tmp_path], problems=problems)) == 3
    assert "more than 3 files" in problems[0]


def test_well_known_folders_follow_the_agents_variables(tmp_path: Path) -> None:
    """CLAUDE_CONFIG_DIR and CODEX_HOME move the folders; without them they are below the home."""
    assert [path.relative_to(tmp_path).as_posix() for _, path in well_known_folders({}, tmp_path)] == [
        ".claude/projects",
        ".codex/sessions",
        ".codex/archived_sessions",
    ]
    moved = well_known_folders({"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x"}, tmp_path)
    assert [path.as_posix() for _, path in moved] == ["/c/projects", "/x/sessions", "/x/archived_sessions"]
