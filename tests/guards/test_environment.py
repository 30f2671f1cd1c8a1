"""The environment is made once, again when something it depends on changed, and without what has no wheel here."""

from pathlib import Path

import pytest

from scripts import environment


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project folder with lock files, where pip only records what it was asked."""
    for name in ("requirements.lock", "requirements-dev.lock", "pyproject.toml", "scripts/environment.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("django==5\ntoktok-rs==0.3.0\n")
    calls: list[list[str]] = []

    def pip(*args: str) -> int:
        lock = Path(args[-1])
        calls.append(lock.read_text().split() if lock.is_file() else list(args))
        return 1 if "--only-binary" in args and not environment.HAS_WHEEL else 0

    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(environment, "HAS_WHEEL", True, raising=False)
    monkeypatch.setattr(environment, "pip", pip)
    monkeypatch.setattr(environment, "create", lambda: (tmp_path / ".venv").mkdir(exist_ok=True))
    return calls


def test_a_second_time_does_nothing(project):
    """What is already right is left alone, also when less is asked for than is there."""
    environment.main("dev")
    before = len(project)
    environment.main("dev")
    environment.main("run")
    assert len(project) == before == 2


def test_a_changed_lock_installs_again(project):
    """A new version in the lock file is in the environment after the next start."""
    environment.main("run")
    (environment.ROOT / "requirements.lock").write_text("django==6\n")
    environment.main("run")
    assert project[2] == ["django==6"]


def test_the_tools_are_added_when_they_are_needed(project):
    """An environment made for running is not enough for testing."""
    environment.main("run")
    environment.main("dev")
    assert len(project) == 4


def test_without_a_wheel_the_optional_package_is_left_out(project, monkeypatch):
    """On a system that toktok-rs has no wheel for, everything else is installed."""
    monkeypatch.setattr(environment, "HAS_WHEEL", False)
    environment.main("run")
    assert project[1] == ["django==5"]


def test_a_failed_installation_says_so_and_is_tried_again(project, monkeypatch):
    """Nothing is taken for right that was not finished."""
    monkeypatch.setattr(environment, "pip", lambda *args: 1)
    with pytest.raises(SystemExit, match="failed"):
        environment.main("run")
    assert not environment.is_right("run")
