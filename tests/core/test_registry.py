"""Plug-ins: found by folder and by entry point, strangers' faults are survived, ours and duplicates are not."""

from __future__ import annotations

import logging
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from contextlab.core.errors import RegistryError, UnknownNameError
from contextlab.core.registry import PROJECTORS, Registry

MODULE = "class P:\n    kind = {kind!r}\nPLUGIN = P\n"


def package(folder: Path, monkeypatch: pytest.MonkeyPatch, **modules: str) -> str:
    """A package with these modules; returns its name."""
    name = f"plugins_{folder.name}"
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("")
    for module, text in modules.items():
        (folder / name / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    for module in ("", *(f".{module}" for module in modules)):
        monkeypatch.delitem(sys.modules, name + module, raising=False)
    return name


def registry(name: str) -> Registry[type]:
    """A registry over a package."""
    return Registry("plug-in", name, "PLUGIN", "contextlab.test_plugins")


class Entry:
    """An entry point of a stranger."""

    def __init__(self, name: str, plugin: Any) -> None:
        self.name, self.value, self.plugin = name, f"stranger:{name}", plugin

    def load(self) -> Any:
        if isinstance(self.plugin, Exception):
            raise self.plugin
        return self.plugin


def strangers(monkeypatch: pytest.MonkeyPatch, *entries: Entry) -> None:
    """Entry points that are installed."""
    monkeypatch.setattr(metadata, "entry_points", lambda **_: entries)


def test_modules_of_the_folder_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each module of the folder is a plug-in under its own name."""
    found = registry(package(tmp_path, monkeypatch, a=MODULE.format(kind="x"), b=MODULE.format(kind="y")))
    assert found.names() == ["x", "y"]
    assert found.get("x").__name__ == "P"


def test_an_unknown_name_lists_the_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking for a name that is not there tells which are."""
    found = registry(package(tmp_path, monkeypatch, a=MODULE.format(kind="x")))
    with pytest.raises(UnknownNameError, match=r"no plug-in 'z' \(known: x\)"):
        found.get("z")


@pytest.mark.parametrize("broken", ["", "class P: pass\nPLUGIN = P\n"])
def test_ours_fail_loudly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    """A module of ours without its plug-in, or a plug-in without a name, is an error."""
    found = registry(package(tmp_path, monkeypatch, a=broken))
    with pytest.raises(RegistryError):
        found.names()


def test_duplicate_names_raise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two plug-ins of one name are an error, a stranger's too."""
    name = package(tmp_path, monkeypatch, a=MODULE.format(kind="x"))
    strangers(monkeypatch, Entry("mine", type("Q", (), {"kind": "x"})))
    with pytest.raises(RegistryError, match="two plug-ins are named 'x'"):
        registry(name).names()


def test_strangers_faults_are_logged_and_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A stranger's plug-in that cannot be loaded or has no name costs only itself."""
    name = package(tmp_path, monkeypatch, a=MODULE.format(kind="x"))
    good, nameless = type("Good", (), {"kind": "good"}), type("Nameless", (), {})
    strangers(monkeypatch, Entry("bad", ImportError("gone")), Entry("odd", nameless), Entry("good", good))
    with caplog.at_level(logging.ERROR):
        assert registry(name).names() == ["good", "x"]
    assert [record.args[0] for record in caplog.records if record.args] == ["bad", "odd"]


def test_the_projectors_are_there() -> None:
    """The built-in projectors come through the same door."""
    assert {"default", "type_aware"} <= set(PROJECTORS.names())
