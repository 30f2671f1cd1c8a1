"""A workspace's own policies: versions, names, what is refused, and the views that are made by them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contextlab.core.documents.policy_text import PolicyTextError
from contextlab.core.errors import UnknownNameError
from contextlab.core.policy import parse_policy
from contextlab.queries import fires
from contextlab.queries import policies as reads
from contextlab.services import opening, policies
from contextlab.services.actions import perform
from contextlab.services.policy_preview import MOST_ITEMS, NoPreview, preview
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import PolicyCompaction, PolicyDocument, PolicyVersion, Session, StepReport, View
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log

pytestmark = [pytest.mark.django_db, pytest.mark.database]

TOML = '# ours\nversion = 1\nname = "small"  # a name\n\n[projector]\nkind = "default"\nmax_items = 4\n'
RULES = {"kind": "rule_based", "keep_recent": 2}


def text(name: str = "mine", **more: Any) -> str:
    """A document as text."""
    return json.dumps({"version": 1, "name": name, "projector": {"kind": "default", "max_items": 4}, **more})


def made(name: str = "mine", **more: Any) -> PolicyDocument:
    """A policy of the workspace."""
    return policies.create(local_workspace(), text(name, **more))


@pytest.fixture
def session(tmp_path: Any) -> Session:
    """A small session with turns, calls and results."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    return import_well(path)


def view_of(session: Session, name: str) -> View:
    """The session's view of this name, made."""
    _, run = opening.open_view(session, name)
    if run is not None:
        perform(run)
    return View.objects.get(session=session, name=name)


def test_a_policy_is_kept_as_it_was_typed() -> None:
    """The text stays with its comments, the document is what it says, and the first version is there."""
    policy = policies.create(local_workspace(), TOML)
    assert (policy.name, policy.version, policy.text) == ("small", 1, TOML)
    assert policy.document["projector"] == {"kind": "default", "max_items": 4}
    assert policy.policy_hash == parse_policy(policy.document).hash
    assert PolicyVersion.objects.get(policy=policy).text == TOML


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mine", "there is a policy 'mine' already"),
        ("keep-all", "comes with ContextLab"),
        ("rule-based", "comes with ContextLab"),
        ("recorded", "another kind of view"),
        ("branch-3", "another kind of view"),
        (" spaced", "begin or end with a space"),
        ("two\nlines", "on one line"),
        ("x" * 81, "80 characters"),
    ],
)
def test_names_that_cannot_be_given(name: str, words: str) -> None:
    """A name that means something else, or is taken, is refused with its line; nothing is written."""
    made("mine")
    with pytest.raises(PolicyTextError, match=words) as caught:
        policies.create(local_workspace(), text(name))
    assert caught.value.place == "name"
    assert PolicyDocument.objects.count() == 1
    assert PolicyVersion.objects.count() == 1


def test_saving_adds_a_version() -> None:
    """A save is a new version, the ones before stay as they were; the same text again is none."""
    policy = made()
    first = policy.text
    policies.save(policy, text(mode="reference"), 1)
    policies.save(policy, policy.text, 2)
    assert PolicyDocument.objects.get().version == 2
    assert [row.text for row in PolicyVersion.objects.order_by("version")] == [first, policy.text]


def test_of_two_that_save_at_the_same_time_the_second_is_told() -> None:
    """Saving over a version that is no longer in force writes nothing."""
    policy, other = made(), PolicyDocument.objects.get()
    policies.save(policy, text(mode="reference"), 1)
    with pytest.raises(policies.Stale):
        policies.save(other, text(require_gain=False), 1)
    assert PolicyDocument.objects.get().document.get("mode") == "reference"
    assert PolicyVersion.objects.count() == 2


def test_a_document_that_is_wrong_changes_nothing() -> None:
    """Saving what cannot be used leaves the policy as it was."""
    policy = made()
    with pytest.raises(PolicyTextError, match=r"projector\.max_itemz"):
        policies.save(policy, text(projector={"kind": "default", "max_itemz": 1}), 1)
    assert PolicyDocument.objects.get().version == 1


@pytest.mark.parametrize("typed", [TOML, text("small")])
def test_copies_get_names_of_their_own(typed: str) -> None:
    """A copy differs by its name alone, comments and all; copies of copies are numbered."""
    policy = policies.create(local_workspace(), typed)
    one, other = policies.duplicate(policy), policies.duplicate(policy)
    assert [one.name, other.name] == ["my small", "my small 2"]
    assert one.policy_hash == policy.policy_hash
    assert ("# ours" in one.text) == ("# ours" in typed)
    assert policies.duplicate(other).name == "my small 3"


def test_a_new_policy_begins_from_one_of_the_package() -> None:
    """Every built-in policy and preset can be begun from, under a free name."""
    for line in reads.package_policies():
        created = policies.create(local_workspace(), policies.text_from(local_workspace(), line.name))
        assert created.name == f"my {line.name}"
    with pytest.raises(UnknownNameError):
        policies.text_from(local_workspace(), "nobody")


def test_a_session_is_seen_under_a_policy_of_ones_own(session: Session) -> None:
    """A view by its name is made by its document, and anew when it was changed."""
    policy = made()
    view = view_of(session, "mine")
    last = StepReport.objects.get(view=view, step=session.steps)
    assert (view.policy_hash, last.projected_entries) == (policy.policy_hash, 4)
    policies.save(policy, text(projector={"kind": "default", "max_items": 2}), 1)
    view = view_of(session, "mine")
    assert StepReport.objects.get(view=view, step=session.steps).projected_entries == 2
    with pytest.raises(UnknownNameError, match="mine"):
        opening.open_view(session, "nobody")


def test_views_go_with_their_policy(session: Session) -> None:
    """Views follow a new name, and are removed with the policy."""
    policy = made()
    view = view_of(session, "mine")
    policies.save(policy, text("yours"), 1)
    assert View.objects.get(pk=view.pk).name == "yours"
    policies.delete(policy)
    assert not View.objects.filter(pk=view.pk).exists()
    assert not PolicyVersion.objects.exists()


def test_a_view_that_compacts_tells_where(session: Session) -> None:
    """Made compactions are rows with their figures and summaries, marks on the chart, and notes of their steps."""
    made("rules", compaction=RULES, trigger={"kind": "items", "max_items": 12}, projector={"kind": "default"})
    view = view_of(session, "rules")
    rows = list(PolicyCompaction.objects.filter(view=view))
    assert rows
    first = rows[0]
    assert (first.made, first.rule, first.threshold, first.method) == (True, "items > 12", 12, "rules")
    assert "no model wrote it" in first.summary
    marks = [(mark["kind"], mark["step"]) for mark in view.chart["marks"]]
    assert marks == [("compaction", row.step) for row in rows]
    report = StepReport.objects.get(view=view, step=first.step)
    assert report.notes[0].startswith("compacted here: items > 12")
    assert report.summarised_items == first.summarised
    standing = fires.summary_before(view.pk, session.steps)
    assert standing is not None
    assert standing.step == rows[-1].step


def test_a_view_whose_policy_needs_a_model_marks_the_place(session: Session) -> None:
    """No model is asked: the first place is marked, and the steps behind it say so."""
    trigger = {"kind": "items", "max_items": 12}
    made("asks", compaction={"kind": "llm_summary"}, trigger=trigger, projector={"kind": "default"})
    view = view_of(session, "asks")
    (row,) = PolicyCompaction.objects.filter(view=view)
    assert (row.made, row.reason) == (False, "needs_model")
    assert [mark["kind"] for mark in view.chart["marks"]] == ["would_fire"]
    last = StepReport.objects.get(view=view, step=session.steps)
    assert last.notes[0] == f"after an unmade compaction (step {row.step})"


def test_compactions_of_a_view_are_exchanged_when_it_is_made_anew(session: Session) -> None:
    """A view that no longer compacts keeps no row of it."""
    policy = made("rules", compaction=RULES, trigger={"kind": "items", "max_items": 12})
    view = view_of(session, "rules")
    assert PolicyCompaction.objects.filter(view=view).exists()
    policies.save(policy, text("rules"), 1)
    view_of(session, "rules")
    assert not PolicyCompaction.objects.filter(view=view).exists()


def test_a_view_whose_policy_cannot_be_used_any_more_says_so(session: Session) -> None:
    """A plug-in that was taken away costs the view, with a reason, and nothing else."""
    made()
    view, run = opening.open_view(session, "mine")
    View.objects.filter(pk=view.pk).update(
        policy={"version": 1, "name": "mine", "projector": {"kind": "gone"}}
    )
    assert run is not None
    perform(run)
    run.refresh_from_db()
    assert run.state == "failed"
    assert "gone" in run.error


def test_a_preview_is_what_the_view_will_be(session: Session) -> None:
    """A look at a policy gives the figures of the view at that step, and writes nothing."""
    document = json.loads(text("rules", compaction=RULES, trigger={"kind": "items", "max_items": 12}))
    seen = preview(session, parse_policy(document), session.steps)
    assert not View.objects.filter(name="rules").exists()
    policies.create(local_workspace(), json.dumps(document))
    view = view_of(session, "rules")
    report = StepReport.objects.get(view=view, step=session.steps)
    assert seen.whole
    assert seen.report.projected_items == report.projected_items
    assert seen.counts["summarised"] == report.summarised_items
    assert [fire.step for fire in seen.fires] == [
        row.step for row in PolicyCompaction.objects.filter(view=view)
    ]
    assert sum(run.items for run in seen.runs) == seen.runs[-1].last + 1


def test_a_preview_is_bounded(session: Session) -> None:
    """When time is up it shows how far it came; a session that is too large, or empty, is refused with words."""
    keep = parse_policy(json.loads(text()))
    seen = preview(session, keep, seconds=0, now=iter(range(1_000)).__next__)
    assert (seen.step, seen.whole) == (1, False)
    session.items = MOST_ITEMS + 1
    with pytest.raises(NoPreview, match="in the background"):
        preview(session, keep)
    session.items, session.steps = 3, 0
    with pytest.raises(NoPreview, match="no model call"):
        preview(session, keep)


def test_differences_are_line_by_line() -> None:
    """What changed between two versions is told line by line."""
    assert reads.difference("a\nb\n", "a\nc\n") == [("same", "a"), ("gone", "b"), ("new", "c")]
