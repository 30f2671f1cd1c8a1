"""docs/extending.md: its projector, policy, trigger and compressor, one file each in a stranger's package, work as they
stand there, with no other edit."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
LOG = next((CHECKOUT / "contextlab" / "samples" / "claude-code").glob("*/*.jsonl"))
PARTS = {
    "A projector": "small_results",
    "A compaction policy": "prompt_list",
    "A trigger": "failed_results",
    "A compressor": "first_lines",
}
"""Headings of the page with the modules that they are written into."""
PAGE = (CHECKOUT / "docs" / "extending.md").read_text()


def code(heading: str) -> str:
    """The Python of a section: the indented lines from its docstring to the name that it offers."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    found = re.search(
        r'^    """.*?^    (?:PROJECTOR|POLICY|TRIGGER|COMPRESSOR) = \w+$', section, re.DOTALL | re.MULTILINE
    )
    assert found
    return textwrap.dedent(found[0]) + "\n"


def entry_points(*headings: str) -> str:
    """The entry points of sections as an installed package has them."""
    lines: list[str] = []
    for heading in headings:
        section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
        group, line = re.search(r'\[project\.entry-points\."([\w.]+)"\]\n\s+(\w+ = ".*?")', section).groups()  # type: ignore[union-attr]
        lines += [f"[{group}]", line.replace('"', "")]
    return "\n".join(lines) + "\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder in which the stranger's package is installed: a module each, no other edit."""
    home = tmp_path / "acme_contextlab"
    home.mkdir()
    (home / "__init__.py").write_text("")
    for heading, module in PARTS.items():
        (home / f"{module}.py").write_text(code(heading))
    meta = tmp_path / "acme_contextlab-1.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-contextlab\nVersion: 1\n")
    (meta / "entry_points.txt").write_text(entry_points(*PARTS))
    return tmp_path


def run(package: Path, *command: str) -> str:
    """What a command prints where the package is installed."""
    paths = os.pathsep.join([str(package), str(CHECKOUT)])
    data = str(package / "data")
    environment = {**os.environ, "PYTHONPATH": paths, "CONTEXTLAB_DATA": data, "CONTEXTLAB_TEST_DATA": data}
    for name in ("DATABASE_URL", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=environment, timeout=100
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_both_are_found_described_and_checked(package: Path) -> None:
    """They stand in the registries, in the schema with their options, and an error names their keys."""
    script = """
        import json
        from contextlab.core import PolicyError, parse_policy
        from contextlab.core.documents.policy_schema import options_of, parts
        words = {kind: words for _, kind, words, _ in parts()}
        document = {"version": 1, "name": "x", "projector": {"kind": "small_results", "max_chars": 0}}
        try:
            parse_policy(document)
        except PolicyError as error:
            place = error.place
        print(json.dumps([words["small_results"], words["prompt_list"], options_of("projector", "small_results"),
                          options_of("compaction", "prompt_list"), place]))
    """
    one, other, options, more, place = json.loads(run(package, "-c", textwrap.dedent(script)))
    assert one == "Tool results above a size are left out, except the newest."
    assert other == "Old turns become the list of their prompts."
    assert options == {"max_chars": {"type": ["integer", "null"], "minimum": 1, "default": 2000}}
    assert list(more) == ["max_turns"]
    assert place == "projector.max_chars"


def test_both_stand_on_the_page_in_the_schema_and_in_the_api(package: Path, prepared_data: Path) -> None:
    """The policies page begins a policy from each, the schema describes them, the API lists and takes them."""
    script = """
        import json, os
        os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
        import django
        django.setup()
        from django.test import Client
        from contextlab.services.workspaces import local_workspace
        local_workspace()
        client = Client(headers={"host": "127.0.0.1"})
        page = client.get("/policies").content.decode()
        begun = client.get("/policies/new?compaction=prompt_list").content.decode()
        schema = client.get("/policies/schema.json").json()["$defs"]
        document = {"version": 1, "name": "acme", "projector": {"kind": "small_results", "max_chars": 9},
                    "compaction": {"kind": "prompt_list"}}
        kept = client.post("/api/policies/", document, "application/json")
        listed = client.get("/api/policies/").json()
        print(json.dumps({
            "page": ["?projector=small_results" in page, "?compaction=prompt_list" in page],
            "begun": "my prompt_list" in begun,
            "schema": [[one["title"] for one in schema[key]["oneOf"]] for key in ("projector", "compaction")],
            "parts": [part["kind"] for part in listed["parts"]],
            "kept": kept.status_code,
            "does": [one["does"] for one in listed["results"] if one["name"] == "acme"],
        }))
    """
    shutil.copytree(prepared_data, package / "data")
    told = json.loads(run(package, "-c", textwrap.dedent(script)))
    assert told["page"] == [True, True]
    assert told["begun"]
    assert "small_results" in told["schema"][0]
    assert "prompt_list" in told["schema"][1]
    assert set(PARTS.values()) <= set(told["parts"])
    assert told["kept"] == 201
    assert told["does"] == ["small_results (max_chars 9); compacts by prompt_list"]


def test_trigger_and_compressor_work_on_a_log(package: Path) -> None:
    """A document that names them compacts when the trigger says so, and the summary is the compressor's."""
    document = {
        "version": 1,
        "name": "acme",
        "compaction": {"kind": "incremental_window", "compressor": {"kind": "first_lines"}},
        "trigger": {"kind": "any_of", "triggers": [{"kind": "failed_results", "min_failures": 2}]},
    }
    path = package / "acme.json"
    path.write_text(json.dumps(document))
    given = (str(LOG), "--policy", str(path), "--json", "--estimate")
    notes = [
        note
        for line in run(package, "-m", "contextlab", "replay", *given).splitlines()
        for note in json.loads(line)["report"]["notes"]
    ]
    assert any("compacted here: failed results >= 2" in note for note in notes)
    answer = json.loads(run(package, "-m", "contextlab", "compact", *given))
    assert answer["compacted"] is True
    lines = answer["result"]["summary"].splitlines()
    assert len(lines) > 3
    assert all(line.strip() for line in lines), "first lines only"


def test_both_work_on_a_log(package: Path) -> None:
    """A document that names them replays a session and compacts its memory."""
    document = {
        "version": 1,
        "name": "acme",
        "projector": {"kind": "small_results", "max_chars": 500},
        "compaction": {"kind": "prompt_list", "max_turns": 4},
    }
    path = package / "acme.json"
    path.write_text(json.dumps(document))
    given = (str(LOG), "--policy", str(path), "--json", "--estimate")
    reports = [
        json.loads(line)["report"] for line in run(package, "-m", "contextlab", "replay", *given).splitlines()
    ]
    assert any(report["dropped_items"] for report in reports)
    assert any("compacted here: turns > 4" in note for report in reports for note in report["notes"])
    answer = json.loads(run(package, "-m", "contextlab", "compact", *given))
    assert answer["compacted"] is True
    assert answer["result"]["completed"][0]["items"]
