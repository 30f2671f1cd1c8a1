"""What the documentation shows works as it stands there."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from contextlab.core import BUILTINS, parse_policy
from contextlab.core.documents.options import LIMITS, TIERS
from contextlab.core.events import FileReport
from contextlab.importers.base import Source
from contextlab.importers.lines import records
from tests.importers.reading import read

DOCS = Path(__file__).resolve().parents[2] / "docs"


def indented(page: str, start: str) -> str:
    """The indented block of a page that begins with `start`."""
    blocks = re.findall(r"(?:^(?: {4}.*)?\n)+", (DOCS / page).read_text(), re.MULTILINE)
    return next(text for block in blocks if (text := textwrap.dedent(block).strip("\n")).startswith(start))


def test_the_example_importer_reads_a_log() -> None:
    """The module shown in extending.md has all names, tells its own logs, and yields turns and steps."""
    module = ModuleType("acme")
    exec(indented("extending.md", '"""Acme agent logs'), module.__dict__)
    assert {"FORMAT", "LABEL", "CANNOT_CONTAIN", "sniff", "read"} <= set(vars(module))
    log = b'{"acme_run": 1}\n{"who": "person", "id": "1", "text": "hi"}\n{"who": "model", "id": "2", "text": "hello"}\n'
    assert module.sniff(log) > 50
    events = [type(event).__name__ for _, event in module.read(Source("x", data=log), FileReport())]
    assert events == ["SessionStart", "TurnStart", "ItemEvent", "StepEvent", "ItemEvent"]
    assert records


def test_the_example_of_events_is_a_session() -> None:
    """The lines shown in logs.md are read without a complaint."""
    made = read(indented("logs.md", '{"format": "contextlab-events"'))
    assert (made.report.skipped, made.report.warnings) == ([], [])
    (step,) = made.session.timeline.steps
    assert (step.model, step.input, step.output) == ("gpt-5.5", 412, 38)
    assert len(made.session.timeline.turns_list) == 1


def test_the_example_policy_is_one() -> None:
    """The document shown in policies.md is valid."""
    assert parse_policy(json.loads(indented("policies.md", "{\n"))).name == "small-window"


@pytest.mark.parametrize("name", [*BUILTINS, *LIMITS, *TIERS])
def test_every_policy_and_option_is_described(name: str) -> None:
    """A name that somebody can write into a policy stands in policies.md."""
    assert f"`{name}`" in (DOCS / "policies.md").read_text(), f"describe {name} in docs/policies.md"


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_links_lead_somewhere(page: str) -> None:
    """Links to other pages and pictures of the repository exist."""
    _check_links(DOCS / page)


def test_links_of_the_readme_lead_somewhere() -> None:
    """The same for the first page that anybody reads."""
    _check_links(DOCS.parent / "README.md")


def _check_links(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []
