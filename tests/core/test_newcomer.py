"""docs/extending.md: its projector and its policy, one file each in a stranger's package, work as they stand there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
LOG = next((CHECKOUT / "contextlab" / "samples" / "claude-code").glob("*/*.jsonl"))
PAGE = (CHECKOUT / "docs" / "extending.md").read_text()


def code(heading: str) -> str:
    """The Python of a section: the indented lines from its docstring to the name that it offers."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    found = re.search(r'^    """.*?^    (?:PROJECTOR|POLICY) = \w+$', section, re.DOTALL | re.MULTILINE)
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
    """A folder in which the stranger's package is installed: two modules, no other edit."""
    home = tmp_path / "acme_contextlab"
    home.mkdir()
    (home / "__init__.py").write_text("")
    (home / "small_results.py").write_text(code("A projector"))
    (home / "prompt_list.py").write_text(code("A compaction policy"))
    meta = tmp_path / "acme_contextlab-1.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-contextlab\nVersion: 1\n")
    (meta / "entry_points.txt").write_text(entry_points("A projector", "A compaction policy"))
    return tmp_path


def run(package: Path, *command: str) -> str:
    """What a command prints where the package is installed."""
    paths = os.pathsep.join([str(package), str(CHECKOUT)])
    environment = {**os.environ, "PYTHONPATH": paths, "CONTEXTLAB_DATA": str(package / "data")}
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


def test_both_are_in_the_policy_list(package: Path) -> None:
    """The policies page shows them among the parts, to begin a policy from."""
    script = """
        import os
        os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
        import django
        django.setup()
        from contextlab.queries.policies import installed_parts
        print([part.kind for part in installed_parts() if part.begins])
    """
    told = run(package, "-c", textwrap.dedent(script))
    assert "'small_results'" in told
    assert "'prompt_list'" in told


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
