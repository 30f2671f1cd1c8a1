"""A preview, the stored result and the report inside it tell the same figures; memories come back as they were."""

from dataclasses import asdict

import pytest

from contextlab.services import compaction
from contextlab.services.compaction import BadRequest, read_request
from contextlab.services.compaction.memory import read_memory
from contextlab.store.models import CompactionRecord, MemoryVersion, View
from tests.importers.claude_log import Log, call, text
from tests.services.compaction.doing import STRUCTURED, asked, done
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log

pytestmark = [pytest.mark.django_db, pytest.mark.database]

RULES = {"version": 1, "name": "rules", "compaction": {"kind": "rule_based", "keep_recent": 3}}


def items_of(session, **values):
    view = session.views.get(name="recorded")
    return read_memory(session, view, values.get("before_step")).snapshot.items


@pytest.mark.parametrize("policy", [RULES, STRUCTURED], ids=["rules", "structured"])
@pytest.mark.parametrize("pins", [0, 1, 3])
def test_the_preview_and_the_result_tell_the_same(session, policy, pins):
    """Pinned, summarised, dropped, kept, tokens, and whether they were counted: figure by figure, pins or not."""
    values = {"policy": policy, "before_step": 20}
    values["pins"] = [item.id for item in items_of(session, **values)[: pins * 2 : 2]]
    told = compaction.preview(session, read_request(values))
    job = done(asked(session, **values))
    assert job.run.state == "done"
    assert job.report["pinned_items"] == told.pinned >= pins
    assert job.report["summarised_items"] == told.summarised
    assert job.report["dropped_items"] == told.dropped
    assert job.report["projected_items"] == told.kept
    assert (job.tokens_before, job.tokens_after) == (told.tokens_before, told.tokens_after)
    sizes = (job.report["source_tokens"], job.report["projected_tokens"])
    assert sizes == (job.tokens_before, job.tokens_after)
    assert {job.token_source, job.report["token_source"], told.token_source} == {"counted"}
    assert MemoryVersion.objects.get(compaction=job).tokens == told.tokens_after


@pytest.mark.parametrize("policy", [RULES, STRUCTURED], ids=["rules", "structured"])
def test_the_report_counts_the_summaries_of_both_sides(session, policy):
    """Before and after of a memory that holds a summary are the same on every part of its page, whatever the policy."""
    first = done(asked(session, policy=RULES, before_step=14, keep_recent=12))
    job = done(asked(session, policy=policy, view="branch-1", keep_recent=1))
    assert (first.run.state, job.run.state) == ("done", "done")
    told = job.report
    assert (told["source_tokens"], told["projected_tokens"]) == (job.tokens_before, job.tokens_after)
    earlier, now = first.result["summary"], job.result["summary"]
    items = {item.id: item.chars for item in compaction.memory_of(session, "branch-1", 2).snapshot.items}
    left = compaction.memory_of(session, "branch-1", 3).snapshot.items
    assert told["source_chars"] == sum(items.values()) + len(earlier)
    assert told["projected_chars"] == sum(items[item.id] for item in left) + len(now)


def test_a_memory_that_is_not_counted_says_so_in_both(session):
    """Where an item still has only an estimate all figures are estimates, before and after."""
    from contextlab.store.models import ItemRecord

    first = items_of(session)[0]
    ItemRecord.objects.filter(session=session, native_id=first.id).update(tokens=None)
    told = compaction.preview(session, read_request({"policy": RULES}))
    job = done(asked(session, policy=RULES))
    assert (told.token_source, job.token_source, job.report["token_source"]) == ("estimated",) * 3


def test_nothing_done_has_the_figures_of_the_memory(session):
    """A run that did nothing says how large the memory is, and how it knows."""
    job = done(asked(session, policy=RULES, keep_recent=10_000))
    told = compaction.preview(session, read_request({"policy": RULES, "keep_recent": 10_000}))
    assert (job.run.state, told.compacts) == ("noop", False)
    assert (job.tokens_before, job.token_source) == (told.tokens_before, "counted")


def test_the_memory_that_a_compaction_of_the_log_found(session):
    """To the last item in front of it: what the step before it wrote is in it, its own summary is not."""
    record = CompactionRecord.objects.get(session=session, micro=False)
    held = read_memory(session, session.views.get(name="recorded"), None, record.number)
    texts = [item.text for item in held.snapshot.items]
    assert held.at_step == record.at_step
    assert held.upto == record.upto
    assert texts[0].startswith("prompt 0 of")
    assert texts[-1] == "Done with 6."
    assert not any("What was done up to" in one for one in texts)


def test_compact_in_another_way_reads_what_the_log_compacted(session):
    """The branch begins with that memory, it stays that memory, and it can be compacted a third way beside it."""
    job = done(asked(session, before_compaction=1))
    assert (job.run.state, job.before_compaction) == ("done", 1)
    branch = View.objects.get(name="branch-1")
    first = compaction.memory_of(session, "branch-1", 1).snapshot
    assert first.items[-1].text == "Done with 6."
    assert branch.base_step == CompactionRecord.objects.get(session=session, micro=False).at_step
    second = done(compaction.beside(job, read_request({"policy": RULES}))[0])
    assert second.before_compaction == 1
    assert second.tokens_before == job.tokens_before


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"before_compaction": 7}, "before_compaction"),
        ({"before_compaction": 1, "before_step": 3}, "before_compaction"),
        ({"before_compaction": 1, "view": "keep-all"}, "view"),
    ],
)
def test_a_compaction_that_the_log_does_not_have(session, values, place):
    """Refused by its name, in the preview as well."""
    for ask in (lambda: asked(session, **values), lambda: compaction.preview(session, read_request(values))):
        with pytest.raises(BadRequest) as refused:
            ask()
        assert refused.value.place == place


def test_the_memory_of_before_stays_as_the_log_grows(tmp_path):
    """A branch made after the last step keeps its first memory, whatever the agent says next."""
    path, log = tmp_path / "s1.jsonl", busy_log()
    path.write_bytes(log.data)
    session = import_well(path)
    done(asked(session, policy=RULES))
    before = compaction.memory_of(session, "branch-1", 1).snapshot
    log.user("and now something else")
    log.answer("m99", text("gladly"))
    path.write_bytes(log.data)
    grown = import_well(path)
    assert compaction.memory_of(grown, "branch-1", 1).snapshot.items == before.items


def test_a_cleared_result_stays_cleared(tmp_path):
    """What the log had cleared when it was compacted does not come back whole into the branch's memory."""
    log = Log("s1")
    for turn in range(6):
        log.user(f"prompt {turn}")
        log.answer(f"m{turn}", text("I look."), call(f"c{turn}", path="a.py"))
        log.result(f"c{turn}", f"line {turn}\n" * 80)
        log.answer(f"n{turn}", text(f"Done with {turn}."), stop="end_turn")
    data = {"trigger": "auto", "preTokens": 90000, "tokensSaved": 500, "compactedToolIds": ["c4"]}
    log.add("system", subtype="microcompact_boundary", microcompactMetadata=data)
    log.user("last prompt")
    log.answer("end", text("the end"), stop="end_turn")
    path = tmp_path / "s1.jsonl"
    path.write_bytes(log.data)
    session = import_well(path)
    before = [item for item in items_of(session) if item.call_id == "c4" and item.kind == "tool_result"]
    done(asked(session, policy=RULES | {"compaction": {"kind": "rule_based", "keep_recent": 8}}))
    held = compaction.memory_of(session, "branch-1")
    after = [item for item in held.snapshot.items if item.call_id == "c4" and item.kind == "tool_result"]
    assert [item.text for item in after] == [item.text for item in before]
    assert "line 4" not in after[0].text
    assert held.positions[after[0].id] is not None


def test_a_restored_memory_carries_the_lists_of_its_result(session):
    """Goal, files and sections of the version that is restored, also where that one was itself a restored one."""
    first = done(asked(session, policy=RULES, before_compaction=1, keep_recent=12))
    branch = View.objects.get(name="branch-1")
    done(asked(session, policy=RULES, view="branch-1", keep_recent=1))
    wanted = compaction.memory_of(session, "branch-1", 2).snapshot.last_result
    assert wanted is not None
    for version in (2, 5):
        compaction.restore(branch, 1)
        compaction.restore(branch, version)
        assert compaction.memory_of(session, "branch-1").snapshot.last_result == wanted
    assert (wanted.sections.goal, wanted.read_files) == (first.result["goal"], first.result["read_files"])
    third = done(asked(session, policy=RULES, view="branch-1", keep_recent=1))
    assert set(first.result["read_files"]) <= set(third.result["read_files"])
    assert third.result["goal"].startswith("prompt 0 of s1")


def test_the_memory_of_before_carries_no_lists(session):
    """Back to before the first compaction is back to no result."""
    done(asked(session, policy=RULES, before_step=20))
    compaction.restore(View.objects.get(name="branch-1"), 1)
    assert compaction.memory_of(session, "branch-1").snapshot.last_result is None


def test_every_field_of_a_preview_has_a_value_that_json_knows(session):
    """The API hands it out as it is."""
    told = asdict(compaction.preview(session, read_request({"policy": RULES})))
    assert told["dropped"] == 0
