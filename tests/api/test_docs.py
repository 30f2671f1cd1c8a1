"""docs/api.md: every command in it works as it stands there, against a server with the sample sessions."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from contextlab.services.samples import ensure_samples
from tests.api.test_bad_input import LISTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed"),
]


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_every_command_answers_json(live_server, tmp_path: Path) -> None:
    """The commands run one after the other in one shell, as a reader would type them; each answers with JSON."""
    ensure_samples()
    script = "\n".join(blocks("sh")).replace("http://127.0.0.1:8000", live_server.url)
    script = script.replace("/tmp/", f"{tmp_path}/")
    lines = [f"{line}; echo" if line.startswith("curl") else line for line in script.splitlines()]
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines() if line]
    assert len(answers) == sum(line.startswith("curl") for line in lines)
    *good, bad = answers
    assert not any(isinstance(answer.get("error"), dict) for answer in good)
    assert bad["error"]["place"] == "query: sort"


def test_examples_of_answers_are_json_with_real_keys() -> None:
    """The objects shown are answers: their keys are those that the API gives."""
    item, error = (json.loads(block) for block in blocks("json"))
    assert {"verdict", "reason", "in_context", "replaced_by"} <= set(item)
    assert set(error["error"]) == {"code", "message", "place"}


@pytest.mark.parametrize("path", [path.removesuffix("1/items/") for path in LISTS])
def test_every_list_is_described(path: str) -> None:
    """No list is missing from the table of addresses."""
    assert f"{path}`" in PAGE.read_text()
