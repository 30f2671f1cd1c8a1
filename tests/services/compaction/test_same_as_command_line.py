"""`contextlab compact` and a stored compaction are the same compaction: sections, figures, what became of each item."""

import json
from pathlib import Path

import pytest

from contextlab.cli import main
from contextlab.services.work import Counting
from contextlab.store.models import Session
from tests.services.compaction.doing import asked, done
from tests.services.doing import import_path

pytestmark = [pytest.mark.django_db, pytest.mark.database]

LOGS = Path(__file__).resolve().parents[2] / "logs"
SAMPLES = Path(__file__).resolve().parents[3] / "contextlab" / "samples"
FILES = [
    *sorted(path for path in SAMPLES.rglob("*.json*") if "subagents" not in path.parts),
    LOGS / "codex" / "compacted.jsonl",
    LOGS / "tau-bench" / "airline.json",
    LOGS / "swe-agent" / "with-queries.traj",
    LOGS / "mini-swe-agent" / "solved.traj.json",
    LOGS / "contextlab-events" / "loop.jsonl",
]
FIGURES = (
    "source_items", "projected_items", "dropped_items", "pinned_items", "summarised_items", "source_chars",
    "projected_chars", "source_tokens", "projected_tokens", "token_source",
)  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name[:40])
@pytest.mark.parametrize("middle", [False, True], ids=["now", "middle"])
def test_the_command_line_says_what_is_stored(path, middle, capsys):
    """On real-shaped logs of agents, after the last step and as if before one in the middle."""
    run = import_path(path, Counting.ALL)
    session = Session.objects.filter(file__uid=run.target, role="").order_by("id").first()
    assert session is not None
    step = max(1, session.steps // 2) if middle else None
    words = ["compact", str(path), "--session", session.native_id, "--keep-recent", "3", "--json"]
    assert main([*words, *(["--before-step", str(step)] if step else [])]) == 0
    told = json.loads(capsys.readouterr().out)
    job = done(asked(session, policy="rule-based", keep_recent=3, before_step=step))
    assert (job.run.state == "done") == told["compacted"]
    if not told["compacted"]:
        assert told["reason"] == job.reason
        return
    assert job.result == told["result"]
    assert {name: job.report[name] for name in FIGURES} == {name: told["report"][name] for name in FIGURES}
    gone = {
        place
        for first, last, verdict, _ in job.fates
        if verdict == "summarised"
        for place in range(first, last + 1)
    }
    summarised = {one["position"] for one in told["verdicts"] if one["verdict"] == "summarised"}
    assert gone <= summarised
