"""What a person or an agent gets wrong, and what a model does: a clear word, and memory is as it was."""

import json

import pytest

from contextlab.core.items import KIND_CODE, Kind
from contextlab.queries.compaction import compaction_page
from contextlab.services import compaction, runs
from contextlab.services.compaction import BadRequest, read_request
from contextlab.services.compaction.requests import LONGEST_INSTRUCTIONS
from contextlab.store.models import ItemRecord, MemoryVersion, OffloadRecord, Run, View
from tests.importers.claude_log import Log
from tests.services.compaction.doing import STRUCTURED, asked, by_model, done, seen
from tests.services.compaction.test_agreeing import RULES, items_of
from tests.services.doing import import_well
from tests.support.fake_openai import FakeOpenAI, breaks_off, drips, drips_headers, fails, pours, says, sends
from tests.support.odd_escapes import chat_log

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def refused(session, **values):
    """Place and words of a request that is refused, which its preview is, too."""
    with pytest.raises(BadRequest) as caught:
        asked(session, **values)
    return caught.value.place, str(caught.value)


def test_pins_larger_than_the_budget(session):
    """All of them stay, the result says that they alone are over it, and the preview said so before."""
    pins = [item.id for item in items_of(session)]
    values = {"policy": STRUCTURED, "pins": pins}
    told = compaction.preview(session, read_request(values))
    job = done(asked(session, **values))
    assert job.run.state in ("noop", "done")
    assert told.pinned == len(pins)
    (note,) = told.notes
    assert note.startswith("pinned_over_budget: the pinned items alone are ")
    assert note.endswith(" of 4 entries")
    assert note in (job.run.result.get("note"), *((job.report or {}).get("notes") or ()))
    assert not [run for run in job.fates if run[2] in ("dropped", "summarised")]


def test_pins_that_fit_are_not_mentioned(session):
    """No warning where there is nothing to warn of."""
    assert compaction.preview(session, read_request({"policy": STRUCTURED})).notes == []


def test_an_empty_session(tmp_path):
    """A log in which nothing was ever in a context has no memory to compact."""
    log = Log("s9")
    log.user("hello")
    path = tmp_path / "s9.jsonl"
    path.write_bytes(log.data)
    session = import_well(path)
    ItemRecord.objects.filter(session=session).update(kind=KIND_CODE[Kind.UI])
    assert refused(session, policy=RULES) == ("session", "There is nothing in this memory yet.")
    told = compaction.preview(session, read_request({"policy": RULES}))
    assert (told.compacts, told.reason, told.items_total) == (False, "nothing_to_summarise", 0)


def test_a_session_that_is_being_read(session):
    """Neither looked at nor compacted before its log is read."""
    runs.request(session.workspace, Run.Kind.IMPORT, "import:again", target=session.file.uid.hex)
    place, words = refused(session, policy=RULES)
    assert (place, "still being read" in words) == ("session", True)
    with pytest.raises(BadRequest, match="still being read"):
        compaction.preview(session, read_request({"policy": RULES}))


def test_a_second_one_while_one_runs(session):
    """The same is the same run; another one waits beside it, and both are told."""
    first = asked(session, policy=RULES, before_compaction=1)
    assert asked(session, policy=RULES, before_compaction=1).pk == first.pk
    second = asked(session, policy=RULES, before_compaction=1, keep_recent=2)
    assert second.pk != first.pk
    assert [run.pk for run in compaction.running(session)] == [first.pk, second.pk]
    assert [done(run).run.state for run in (second, first)] == ["done", "done"]
    assert compaction.running(session) == []
    assert View.objects.filter(kind="branch").count() == 2


def test_a_second_one_of_a_branch_reads_what_the_first_one_wrote(session):
    """Two that were asked for on one memory: one after the other, each with its own version."""
    done(asked(session, policy=RULES, before_compaction=1, keep_recent=12))
    free = STRUCTURED | {"require_gain": False}
    runs_ = [asked(session, policy=free, view="branch-1", keep_recent=keep) for keep in (3, 1)]
    assert [done(run).run.state for run in runs_] == ["done", "done"]
    rows = MemoryVersion.objects.filter(view__name="branch-1").order_by("version")
    assert [row.version for row in rows] == [1, 2, 3, 4]
    assert rows[3].parent == rows[2]


def test_instructions_of_a_megabyte(session):
    """Refused with the limit; as many as are taken arrive at the model word for word."""
    with pytest.raises(BadRequest) as caught:
        read_request({"policy": RULES, "instructions": "x" * 1_000_000})
    assert caught.value.place == "instructions"
    assert f"{LONGEST_INSTRUCTIONS:,}" in str(caught.value)


def test_instructions_as_long_as_they_may_be(session, at):
    """They reach the model whole."""
    wish = "keep the ports; " * (LONGEST_INSTRUCTIONS // 16)
    with at(FakeOpenAI(says('{"goal": "g"}'))) as server:
        done(by_model(session, instructions=wish))
    assert wish.strip() in json.dumps(server.requests[0].body)


def test_a_summary_longer_than_its_source(session, at):
    """Nothing is gained, so nothing is replaced; what it cost is told all the same."""
    with at(FakeOpenAI(says(json.dumps({"goal": "word " * 20_000})))):
        job = done(by_model(session, before_compaction=1))
    assert (job.run.state, job.reason) == ("noop", "no_gain")
    assert job.tokens_after > job.tokens_before
    assert job.cost is not None
    assert job.payback is None
    assert not View.objects.filter(kind="branch").exists()


def test_a_confirmation_that_nobody_gave_is_flagged(session, at):
    """A claim that points to the assistant's words, to nothing, or to an item that there is not."""
    items = items_of(session, before_step=12)
    user = next(item.id for item in items if item.kind == "user")
    other = next(item.id for item in items if item.kind == "assistant")
    claims = [
        {"text": "the user agreed to look", "items": [user]},
        {"text": "the user agreed to deploy", "items": [other]},
        {"text": "the user agreed to delete", "items": ["no-such-item"]},
        "the user agreed to everything",
    ]
    with at(FakeOpenAI(says(json.dumps({"goal": "g", "user_confirmations": claims})))):
        job = done(by_model(session, before_step=12))
    assert job.run.state == "done"
    page = compaction_page(session.workspace_id, job.run.uid)
    flagged = {flag["text"] for flag in page.flags}
    assert {flag["why"] for flag in page.flags} == {"no_user_item"}
    assert flagged == {
        "the user agreed to deploy",
        "the user agreed to delete",
        "the user agreed to everything",
    }


@pytest.mark.parametrize(
    "name", ["nobody", "last-n", {"version": 1, "name": "x", "compaction": {"kind": "magic"}}]
)
def test_an_unknown_policy(name):
    """Named, with those that there are; one that replaces no memory is none either."""
    with pytest.raises(BadRequest) as caught:
        read_request({"policy": name})
    assert caught.value.place == "policy"


MORE_WAYS = {
    "drip": (drips, "queued"),
    "headers drip": (drips_headers, "queued"),
    "ten megabytes": (pours(10_000_000), "failed"),
    "an error of ten megabytes": (pours(10_000_000, 500), "failed"),
    "broken off": (breaks_off, "queued"),
    "502 as a page": (sends(b"<html><title>Bad gateway</title></html>", 502), "queued"),
    "a redirect": (sends(b"", 307, {"Location": "http://127.0.0.1:1/v1"}), "failed"),
    "403": (fails(403, "no"), "failed"),
    "no such model": (fails(404, "model not found"), "failed"),
    "compressed": (sends(b"\x1f\x8b", 200, {"Content-Encoding": "gzip"}), "queued"),
}


@pytest.mark.parametrize("way", MORE_WAYS)
def test_a_branch_is_as_it_was_when_the_model_misbehaves(session, at, way):
    """Its memory, its fates and its originals; the run says what happened, and is tried again where that may pass."""
    done(asked(session, policy=RULES, before_compaction=1, keep_recent=12))
    before = compaction.memory_of(session, "branch-1").snapshot
    script, state = MORE_WAYS[way]
    with at(FakeOpenAI(script)):
        job = done(by_model(session, view="branch-1", keep_recent=1))
    assert job.run.state == state, job.run.error
    assert job.run.error.endswith("Memory is as it was.")
    assert compaction.memory_of(session, "branch-1").snapshot == before
    assert MemoryVersion.objects.count() == 2
    assert not OffloadRecord.objects.exists()
    assert seen(job.run).result is None


def test_half_a_character_in_a_command(tmp_path):
    """A log whose commands hold what no column can hold is compacted by rules, and its memory goes to every agent."""
    path = tmp_path / "chat.json"
    path.write_text(chat_log())
    session = import_well(path)
    job = done(asked(session, policy=RULES))
    assert job.run.state == "done"
    assert (
        "printf \ufffd \u2400 | xxd" in compaction_page(session.workspace_id, job.run.uid).result["summary"]
    )
    for name in compaction.FORMATS:
        held = compaction.memory_of(session, "recorded")
        assert compaction.export_memory(held, name).text.encode()
