"""docs/stores.md: what it names is there, and its coordinator does what the page says."""

from __future__ import annotations

import importlib
import re
import textwrap
from pathlib import Path

from contextlab.core.items import Item, Kind
from contextlab.core.state import InMemoryStateStore
from tests.support.store_contracts import check_state_store

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "stores.md").read_text()


def test_what_the_page_names_is_there() -> None:
    """Each class stands where the table says."""
    names = re.findall(r"`(contextlab(?:\.\w+)+\.[A-Z]\w+)`", PAGE)
    assert len(names) >= 7
    for name in names:
        module, _, what = name.rpartition(".")
        assert hasattr(importlib.import_module(module), what), name


def test_the_coordinator_of_the_page_summarises_once() -> None:
    """Nine turns go on as they are, ten become a summary that is stored, and the next call goes on from it."""
    section = PAGE.split("## A coordinator")[1].split("\n## ")[0]
    code = textwrap.dedent("\n".join(re.findall(r"^    .*", section, re.MULTILINE)))
    made = code.rpartition("done =")[0]
    names: dict = {}
    exec(compile(made, "docs/stores.md", "exec"), names)
    history = [Item(f"u{n}", Kind.USER, f"question {n}") for n in range(9)]
    for expected in (False, True):
        names["history"] = history
        exec(compile(code.removeprefix(made), "docs/stores.md", "exec"), names)
        assert names["done"].compressed is expected
        history = [*history, Item(f"u{len(history)}", Kind.USER, "another")]
    assert names["done"].state.covered_until == "u9"


def test_the_contract_functions_of_the_page_hold_for_ours() -> None:
    """They can be called as the page says."""
    check_state_store(InMemoryStateStore(), "name")
