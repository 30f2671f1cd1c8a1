"""Settings work with nothing set, and nonsense fails at the start, with the variable's name."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from contextlab.config import env
from contextlab.config.broker import transport_options
from contextlab.config.files import private_folder, secret_key

CHECKOUT = Path(__file__).resolve().parents[2]
SERVER = {"CONTEXTLAB_MODE": "server", "CONTEXTLAB_ALLOWED_HOSTS": "lab.example"}


def check(installation: dict[str, str], *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Django's checks in a process of its own under these variables."""
    return subprocess.run(
        [sys.executable, "manage.py", "check", *options],
        cwd=CHECKOUT, env=installation | variables, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_yes_or_no_is_read_in_the_usual_words(monkeypatch):
    """1, true, yes and on mean yes; empty means not set."""
    for word, expected in [("1", True), ("TRUE", True), ("off", False), ("", True), ("  ", True)]:
        monkeypatch.setenv("CONTEXTLAB_X", word)
        assert env.flag("CONTEXTLAB_X", default=True) is expected


@pytest.mark.parametrize("value", ["maybe", "2"])
def test_an_unclear_yes_or_no_is_refused(monkeypatch, value):
    """Nobody has to find out later how a word was understood."""
    monkeypatch.setenv("CONTEXTLAB_X", value)
    with pytest.raises(ImproperlyConfigured, match="CONTEXTLAB_X"):
        env.flag("CONTEXTLAB_X", default=True)


@pytest.mark.parametrize("value", ["many", "0", "11", "-1", "1.5", "٣"])
def test_a_number_has_bounds(monkeypatch, value):
    """A number outside, or no number, is refused with the bounds."""
    monkeypatch.setenv("CONTEXTLAB_X", value)
    with pytest.raises(ImproperlyConfigured, match="CONTEXTLAB_X must be a whole number from 1 to 10"):
        env.number("CONTEXTLAB_X", 5, least=1, most=10)


def test_a_list_is_split_at_commas(monkeypatch):
    """Blanks and empty parts do not count."""
    monkeypatch.setenv("CONTEXTLAB_X", " a, b ,,")
    assert env.names("CONTEXTLAB_X") == ["a", "b"]


@pytest.mark.parametrize(
    "variables",
    [
        {"CONTEXTLAB_MODE": "production"},
        {"CONTEXTLAB_MODE": "server"},
        {**SERVER, "CONTEXTLAB_ALLOWED_HOSTS": "*"},
        {**SERVER, "CONTEXTLAB_DEBUG": "1"},
        {"CONTEXTLAB_SECRET_KEY": "short"},
        {"CONTEXTLAB_BROKER_URL": "carrier-pigeon://x"},
    ],
    ids=lambda variables: "+".join(variables),
)
def test_nonsense_fails_loudly_and_names_the_variable(installation, variables):
    """A wrong value stops the start and says which variable it is."""
    done = check(installation, **variables)
    assert done.returncode != 0
    assert list(variables)[-1] in done.stderr or "CONTEXTLAB_ALLOWED_HOSTS" in done.stderr


@pytest.mark.parametrize(
    "url", ["mysql://joe:hunter22@db/x", "nonsense", "postgres://joe:hunter22@db:port/x"]
)
def test_a_wrong_database_address_is_refused_without_its_password(installation, url):
    """The error names the variable and keeps the secret."""
    done = check(installation, DATABASE_URL=url)
    assert done.returncode != 0
    assert "DATABASE_URL" in done.stderr
    assert "hunter22" not in done.stderr


def test_server_mode_passes_the_deployment_check(installation):
    """Django finds nothing to warn of in the settings of a server."""
    done = check(installation, "--deploy", "--fail-level", "WARNING", "--tag", "security", **SERVER)
    assert done.returncode == 0, done.stderr


def test_the_secret_key_is_made_once_and_private(tmp_path):
    """Only the owner can read it, and the next start reads the same."""
    path = tmp_path / "secret_key"
    key = secret_key(path)
    assert len(key) >= 50
    assert secret_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_an_emptied_secret_key_is_not_used(tmp_path):
    """A damaged file is told of; signing with an empty key would be worse."""
    (tmp_path / "secret_key").write_text("")
    with pytest.raises(ImproperlyConfigured, match="secret_key"):
        secret_key(tmp_path / "secret_key")


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path):
    """The error says which folder, and which variable chooses another."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ImproperlyConfigured, match="CONTEXTLAB_DATA"):
        private_folder(tmp_path / "file" / "data")


def test_the_filesystem_broker_stays_inside_the_data_folder(tmp_path, monkeypatch):
    """None of its folders is in the working directory or the system's temporary one."""
    monkeypatch.chdir(tmp_path)
    options = transport_options("filesystem://localhost", tmp_path / "data", 1800)
    folders = [value for name, value in options.items() if "folder" in name]
    assert len(folders) == 4
    assert all(folder.startswith(str(tmp_path / "data")) for folder in folders)
    assert os.listdir(tmp_path) == ["data"]


def test_redis_does_not_deliver_a_running_task_again():
    """Its patience is longer than the longest task."""
    assert transport_options("redis://localhost", Path("/unused"), 1800)["visibility_timeout"] > 1800


def test_an_installation_of_nothing_works(installation):
    """No variable but the data folder, which does not exist yet: the checks pass."""
    bare = {name: installation[name] for name in ("PATH", "CONTEXTLAB_DATA", "HOME") if name in installation}
    assert check(bare).returncode == 0
