"""Bytes to rows: nothing lost, nothing doubled, whatever happens to the file or to the worker in between."""

import os
import shutil
from unittest.mock import Mock

import pytest

from contextlab.importers.packing import Packer
from contextlab.services import imports
from contextlab.services.actions import perform
from contextlab.services.ingest import reading, stored, writer
from contextlab.services.runs import Cancelled
from contextlab.services.work import Counting
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import (
    ContentCount,
    ItemRecord,
    LogFile,
    RawSegment,
    Run,
    Session,
    StepReport,
    TextSegment,
    View,
)
from contextlab.store.texts import read_raw
from tests.importers.claude_log import Log, call, text
from tests.services.doing import (
    CORPUS,
    assembled,
    counts,
    everything,
    import_path,
    import_well,
    needs_corpus,
    raw,
    texts,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def busy_log(turns: int = 12, session: str = "s1") -> Log:
    """A log with prompts, calls, results, a compaction in its middle, and text that repeats nowhere."""
    log = Log(session)
    for turn in range(turns):
        log.user(f"prompt {turn} of {session}: please look at file_{turn}.py")
        log.answer(f"m{turn}a", text(f"I look at it ({turn})."), call(f"c{turn}", path=f"file_{turn}.py"))
        log.result(f"c{turn}", f"line one of {turn}\nline two é {turn} 🎉\n" * 20)
        log.answer(f"m{turn}b", text(f"Done with {turn}."), stop="end_turn")
        if turn == turns // 2:
            log.boundary()
            log.summary(f"What was done up to turn {turn}.")
    return log


def forget_all() -> None:
    """As if nothing had ever been imported or counted."""
    for model in (Session, LogFile, Run, ContentCount):
        model.objects.all().delete()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s1.jsonl"


@pytest.fixture
def small_batches(monkeypatch):
    """Many batches out of a small file."""
    monkeypatch.setattr(reading, "FIRST_BATCH", 3)
    monkeypatch.setattr(reading, "BATCH", 5)


def test_every_text_and_every_byte_comes_back_as_it_was(path):
    """What is shown of an item is the log's own text, and its record the log's own bytes."""
    path.write_bytes(busy_log().data)
    session = import_well(path)
    ((assembler, words),) = assembled(path).values()
    assert list(texts(session).values()) == words
    assert raw(session.file) == path.read_bytes()
    for place in ItemRecord.objects.filter(session=session).values_list("raw_offset", "raw_length"):
        record = read_raw(session.file, *place)
        assert record.startswith(b"{")
        assert record.endswith(b"}")
    assert session.items == len(assembler.timeline) == len(words)
    assert session.steps == len(assembler.timeline.steps)


def test_the_first_turns_of_a_long_log_can_be_read_while_the_rest_lands(path, small_batches, client):
    """Whoever opens a session that is being imported sees what the model saw at its first steps already."""
    path.write_bytes(busy_log().data)
    (run,) = imports.queue_paths(local_workspace(), [path])
    seen = []

    def look(done, total, doing):
        for session in Session.objects.filter(steps__gt=0, steps__lt=24):
            address = f"/api/sessions/{session.uid}/"
            turn = client.get(f"{address}turns/").json()["results"][0]
            seen.append((turn["turn"], client.get(f"{address}steps/1/").json()["report"]["source_items"]))

    perform(run, look, Counting.SMALL)
    assert set(seen) == {(1, 1)}
    session = Session.objects.get()
    view = View.objects.get(session=session)
    assert (view.steps, view.stale, session.steps) == (24, False, 24)
    assert StepReport.objects.filter(view=view).count() == 24


def test_a_subagent_inside_a_log_never_stands_for_itself_while_the_log_lands(path, small_batches, client):
    """The list of sessions shows the one that is being read, not the subagents that it started."""
    log = busy_log()
    for number in range(4):
        log.user(f"look into {number}", side=True, parent=None)
        log.answer(f"side{number}", text(f"{number} is fine"), side=True)
    log.user("go on")
    log.answer("last", text("all fine"), stop="end_turn")
    path.write_bytes(log.data)
    (run,) = imports.queue_paths(local_workspace(), [path])
    seen = []

    def look(done, total, doing):
        seen.append((len(client.get("/api/sessions/").json()["results"]), Session.objects.count()))

    perform(run, look, Counting.SMALL)
    assert max(rows for _, rows in seen) == 5
    assert {shown for shown, rows in seen if rows} == {1}


def test_a_subagent_that_speaks_again_after_a_long_silence_is_stored_whole(path, monkeypatch):
    """What is stored of sessions does not depend on how long they were silent while their log was read."""
    log = busy_log(2)
    log.user("look into it", side=True, parent=None)
    asked = log.answer("first", call("late", path="a.py"), side=True)
    for number in range(70):
        log.user(f"look into {number}", side=True, parent=None)
        log.answer(f"side{number}", text(f"{number} is fine"), side=True)
    found = log.result("late", "it is in a.py", side=True, parent=asked)
    log.answer("second", text("found it"), side=True, parent=found, stop="end_turn")
    path.write_bytes(log.data)
    import_well(path)
    at_once = {one.native_id: everything(one) for one in Session.objects.all()}
    assert len(at_once) == 72
    forget_all()
    monkeypatch.setattr(reading, "FIRST_BATCH", 3)
    monkeypatch.setattr(reading, "BATCH", 5)
    packed = Mock(wraps=Packer.pack)
    monkeypatch.setattr(Packer, "pack", lambda *given: packed(*given))
    import_well(path)
    assert packed.call_count > 70
    assert {one.native_id: everything(one) for one in Session.objects.all()} == at_once


def test_the_counters_say_what_inspect_says(path):
    """Counters on the session's row have one meaning everywhere."""
    log = busy_log()
    log.answer("open", call("never-answered"))
    log.result("no-such-call")
    path.write_bytes(log.data)
    session = import_well(path)
    assert (session.turns, session.compactions, session.micro_compactions) == (12, 1, 0)
    assert (session.tool_calls, session.tool_results) == (13, 13)
    assert (session.calls_without_result, session.results_without_call) == (1, 1)
    assert session.input_tokens == 3 * 25
    assert session.cache_read_tokens == 5000 * 25
    assert session.peak_source == "reported"
    assert session.peak_tokens == 5103
    assert session.limit == 200_000
    assert session.title == "prompt 0 of s1: please look at file_0.py"
    assert session.project == "/home/dev/shop"


def test_a_second_import_writes_no_row(path):
    """The same file twice is one file, whether its time changed or not."""
    path.write_bytes(busy_log().data)
    import_well(path)
    before = counts()
    again = import_path(path)
    assert (again.state, counts()) == ("noop", before)
    os.utime(path, (1, 1))
    assert (import_path(path).state, counts()) == ("noop", before)


def test_unchanged_files_of_a_folder_are_not_even_queued(path):
    """Looking through a large tree a second time costs a look at sizes and times."""
    path.write_bytes(busy_log().data)
    import_well(path)
    assert imports.queue_paths(local_workspace(), [path.parent]) == []
    os.utime(path, (1, 1))
    assert len(imports.queue_paths(local_workspace(), [path.parent])) == 1


@pytest.mark.parametrize("cut", [1, 7, 20, 39, 50])
def test_a_log_that_grew_ends_as_if_it_had_been_imported_once(path, tmp_path, cut):
    """Growth by any number of lines gives the rows of a single import, under the same revision."""
    lines = busy_log().data.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:cut]))
    first = import_well(path)
    kept = set(ItemRecord.objects.filter(session=first).values_list("pk", flat=True))
    path.write_bytes(b"".join(lines))
    grown = import_well(path)
    assert (grown.pk, grown.revision) == (first.pk, 1)
    assert len(kept & set(ItemRecord.objects.values_list("pk", flat=True))) >= len(kept) - 2
    assert everything(grown) == everything_of_a_single_import(lines, tmp_path)


def everything_of_a_single_import(lines, tmp_path):
    """The same bytes imported at once into an empty database."""
    Session.objects.all().delete()
    LogFile.objects.all().delete()
    alone = tmp_path / "alone" / "s1.jsonl"
    alone.parent.mkdir()
    alone.write_bytes(b"".join(lines))
    return everything(import_well(alone))


def test_a_log_that_grows_line_by_line_loses_nothing(path, tmp_path):
    """A page that looks on while the agent writes sees every state once."""
    lines = busy_log(turns=4).data.splitlines(keepends=True)
    for end in range(1, len(lines) + 1):
        path.write_bytes(b"".join(lines[:end]))
        import_path(path)
    grown = Session.objects.get()
    assert TextSegment.objects.filter(session=grown).count() == 1, "a nearly empty segment is filled up"
    assert raw(grown.file) == path.read_bytes()
    assert everything(grown) == everything_of_a_single_import(lines, tmp_path)


def test_a_half_written_last_line_is_read_when_it_is_whole(path, tmp_path):
    """A file is caught in the middle of a write."""
    data = busy_log(turns=3).data
    path.write_bytes(data[:-25])
    import_well(path)
    path.write_bytes(data)
    grown = import_well(path)
    assert grown.revision == 1
    assert everything(grown) == everything_of_a_single_import([data], tmp_path)


def test_a_late_chunk_of_an_old_answer_joins_its_step(path, tmp_path):
    """A line far behind may belong to a step of before: what stands after it moves."""
    log = busy_log(turns=3)
    path.write_bytes(log.data)
    import_well(path)
    log.answer("m0b", text("One more word."), usage={"output_tokens": 99, "input_tokens": 3})
    path.write_bytes(log.data)
    grown = import_well(path)
    assert grown.revision == 1
    assert everything(grown) == everything_of_a_single_import([log.data], tmp_path)


@needs_corpus
def test_a_real_session_at_five_moments_equals_the_last_one_alone(path, tmp_path):
    """Snapshots of a real session, one after the other under one name."""
    moments = sorted((CORPUS / "claude-code" / "entireio-cli-growing").glob("*.jsonl"))
    for moment in moments:
        shutil.copy(moment, path)
        import_well(path)
    grown = Session.objects.get(role="")
    assert everything(grown) == everything_of_a_single_import([moments[-1].read_bytes()], tmp_path)


def test_a_changed_beginning_makes_a_new_revision(path, tmp_path):
    """Rows of a rewritten log are swapped, the session and its address stay."""
    path.write_bytes(busy_log(turns=5).data)
    first = import_well(path)
    changed = busy_log(turns=5).data.replace(b"prompt 0", b"PROMPT 0")
    path.write_bytes(changed)
    second = import_well(path)
    assert (second.pk, second.uid, second.revision) == (first.pk, first.uid, 2)
    assert second.file.revision == 2
    assert raw(second.file) == changed
    assert not RawSegment.objects.exclude(revision=2).exists()
    assert second.title.startswith("PROMPT 0")
    assert everything(second) == everything_of_a_single_import([changed], tmp_path)


def test_a_log_that_became_shorter_is_the_shorter_one(path, tmp_path):
    """A rewind that rewrote the file."""
    lines = busy_log(turns=5).data.splitlines(keepends=True)
    path.write_bytes(b"".join(lines))
    import_well(path)
    path.write_bytes(b"".join(lines[:8]))
    assert everything(import_well(path)) == everything_of_a_single_import(lines[:8], tmp_path)


@pytest.mark.parametrize(("most", "revision"), [(1000, 1), (2, 2)])
def test_rows_that_the_importer_now_tells_otherwise_are_replaced(path, tmp_path, monkeypatch, most, revision):
    """Few in place, in one transaction; many beside, so that a reader never finds half a session."""
    monkeypatch.setattr(writer, "MOST_REPLACED", most)
    log = busy_log(turns=3)
    path.write_bytes(log.data)
    import_well(path)
    log.user("one more")
    path.write_bytes(log.data)
    matches = stored.StoredItems.matches
    monkeypatch.setattr(stored.StoredItems, "matches", lambda self, same: same[0] < 4 and matches(self, same))
    grown = import_well(path)
    monkeypatch.undo()
    assert grown.revision == revision
    assert everything(grown) == everything_of_a_single_import([log.data], tmp_path)


@pytest.mark.parametrize("batch", [1, 2, 4, 7])
def test_a_worker_that_dies_between_two_batches_loses_and_doubles_nothing(
    path, tmp_path, monkeypatch, small_batches, batch
):
    """What landed before stays and can be looked at; the next attempt goes on behind it."""
    data = busy_log().data
    path.write_bytes(data)
    die_at_batch(monkeypatch, batch)
    (run,) = imports.queue_paths(local_workspace(), [path])
    with pytest.raises(SystemExit):
        perform(run)
    monkeypatch.undo()
    landed = ItemRecord.objects.count()
    assert landed > 0 or batch == 1
    session = import_well(path)
    assert session.revision == 1
    assert everything(session) == everything_of_a_single_import([data], tmp_path)


def die_at_batch(monkeypatch, number):
    """The process ends while it writes its n-th batch."""
    left = [number]
    flush = reading.Reading._flush

    def dying(self, complete):
        left[0] -= 1
        if left[0] == 0:
            raise SystemExit
        flush(self, complete)

    monkeypatch.setattr(reading.Reading, "_flush", dying)


def test_a_worker_that_dies_while_it_writes_beside_leaves_the_old_revision(path, monkeypatch, small_batches):
    """Until the swap everybody sees the old rows, whole."""
    path.write_bytes(busy_log().data)
    before = everything(import_well(path))
    path.write_bytes(busy_log().data.replace(b"prompt 0", b"PROMPT 0"))
    die_at_batch(monkeypatch, 3)
    (run,) = imports.queue_paths(local_workspace(), [path])
    with pytest.raises(SystemExit):
        perform(run)
    monkeypatch.undo()
    session = Session.objects.get()
    assert session.revision == 1
    ItemRecord.objects.filter(session=session, revision=2).exists()
    assert import_well(path).revision == 2
    assert everything(Session.objects.get())["session"]["title"] != before["session"]["title"]
    assert not ItemRecord.objects.exclude(revision=2).exists()


def test_what_a_dead_worker_left_behind_the_last_row_is_done_by_the_next(path, monkeypatch):
    """Rows are there, the view is not: the next run makes it though the file did not change."""
    path.write_bytes(busy_log().data)
    monkeypatch.setattr(imports, "_settle", lambda *_: (_ for _ in ()).throw(SystemExit))
    (run,) = imports.queue_paths(local_workspace(), [path])
    with pytest.raises(SystemExit):
        perform(run)
    monkeypatch.undo()
    assert not View.objects.exists()
    session = import_well(path)
    view = View.objects.get(session=session)
    assert (view.steps, view.stale, view.counted) == (session.steps, False, True)
    assert StepReport.objects.filter(view=view).count() == session.steps


def test_a_session_can_be_looked_at_before_its_file_is_read(path, monkeypatch, small_batches):
    """The first batch lands at once, with counters that fit its rows."""
    path.write_bytes(busy_log().data)
    die_at_batch(monkeypatch, 3)
    (run,) = imports.queue_paths(local_workspace(), [path])
    with pytest.raises(SystemExit):
        perform(run)
    session = Session.objects.get()
    assert session.title.startswith("prompt 0")
    assert 0 < session.items <= ItemRecord.objects.count() + 8
    assert len(texts(session)) == ItemRecord.objects.count()


def test_a_stopped_import_keeps_what_landed(path, monkeypatch, small_batches):
    """Stop is heard at the next batch."""
    path.write_bytes(busy_log().data)
    check_in = reading.Work.check_in
    left = [4]

    def stopped(self, *args):
        left[0] -= 1
        if left[0] < 0:
            raise Cancelled
        check_in(self, *args)

    monkeypatch.setattr(reading.Work, "check_in", stopped)
    run = import_path(path)
    assert run.state == "cancelled"
    assert 0 < ItemRecord.objects.count() < 60


def test_a_file_that_grows_while_it_is_read_is_read_to_where_it_was(path, monkeypatch):
    """Raw bytes and items end at the same place; the rest is the next import's."""
    lines = busy_log(turns=4).data.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:9]))
    examine = imports.examine

    def growing(file, source):
        path.write_bytes(b"".join(lines))
        return examine(file, source)

    monkeypatch.setattr(imports, "examine", growing)
    first = import_well(path)
    assert raw(first.file) == b"".join(lines[:9])
    monkeypatch.undo()
    assert raw(import_well(path).file) == path.read_bytes()


def test_counts_are_estimates_until_they_are_made(path):
    """Without counting the session is whole, labelled, and its count run waits for a worker."""
    path.write_bytes(busy_log().data)
    session = import_well(path, Counting.NONE)
    view = View.objects.get()
    assert (session.counted, view.counted, view.chart["token_source"]) == (False, False, "estimated")
    run = Run.objects.get(kind="count")
    perform(run)
    session.refresh_from_db()
    view.refresh_from_db()
    assert (session.counted, view.counted, view.chart["token_source"]) == (True, True, "counted")


@pytest.mark.parametrize("first", [Counting.NONE, Counting.SMALL, Counting.ALL])
def test_counts_made_while_reading_are_those_made_afterwards(path, first):
    """Whatever the beginning of a log was imported with, the whole has exact counts in the end, and the same ones."""
    lines = busy_log().data.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: len(lines) // 2]))
    import_well(path, first)
    path.write_bytes(b"".join(lines))
    session = import_well(path, Counting.ALL)
    found = everything(session)
    assert session.counted
    assert not ItemRecord.objects.filter(tokens=None).exists()
    assert View.objects.get().counted
    forget_all()
    assert everything(import_well(path, Counting.SMALL)) == found


def test_a_log_that_changed_is_counted_anew_while_it_is_read(path):
    """Also where its session is written beside the old one."""
    path.write_bytes(busy_log().data)
    import_well(path, Counting.ALL)
    path.write_bytes(busy_log().data.replace(b"of s1", b"of s2"))
    session = import_well(path, Counting.ALL)
    found = everything(session)
    assert session.counted
    forget_all()
    assert everything(import_well(path, Counting.SMALL)) == found


def test_a_file_without_usage_has_unknown_totals_not_zero(path):
    """Unknown is not 0."""
    log = Log()
    log.user("hello")
    log.answer("m1", text("hi"), usage=None)
    path.write_bytes(log.data)
    session = import_well(path)
    assert (session.input_tokens, session.output_tokens) == (None, None)
    assert session.peak_source == "counted"


def test_impossible_figures_are_unknown(path):
    """Negative tokens and numbers beyond 64 bits are no sizes."""
    log = Log()
    log.user("hello")
    log.answer("m1", text("hi"), usage={"input_tokens": -138000, "output_tokens": 10**30})
    log.answer("m2", text("hi"), usage={"input_tokens": 2**63, "output_tokens": 5})
    path.write_bytes(log.data)
    session = import_well(path)
    assert session.input_tokens is None
    assert session.output_tokens == 5


def test_nul_and_lone_surrogates_never_reach_the_database(path):
    """They stand in real logs; PostgreSQL refuses both."""
    log = Log()
    log.user("a\x00b \ud800 c")
    log.answer("m1", text("\x00"), call("c\x001", tool="B\x00sh", command="\udfff"))
    log.result("c\x001", "x\x00y")
    data = log.data + b"\x00" * 100 + b"\n"
    path.write_bytes(data)
    session = import_well(path)
    assert raw(session.file) == data
    assert all("\x00" not in words for words in texts(session).values())
    assert session.tool_calls == session.tool_results == 1


def test_a_session_without_anything_said_is_no_session(path):
    """Files of title records alone are read, reported, and give nothing to browse."""
    path.write_bytes(b'{"type":"summary","summary":"A title","leafUuid":"elsewhere"}\n')
    assert import_path(path).state == "noop"
    assert not Session.objects.exists()
    assert LogFile.objects.get().report["records"] == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no such file"),
        (b"", "is empty"),
        (b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40, "ELF"),
        (b"Dear diary,\n" * 50, "unknown format"),
        (b'{"resourceSpans": []}', "OTLP"),
    ],
)
def test_what_cannot_be_read_says_why_and_is_not_tried_again(path, content, words):
    """The reason is for people, on the run and on the file."""
    if content is not None:
        path.write_bytes(content)
    run = import_path(path)
    assert (run.state, run.retryable, run.attempts) == ("failed", False, 1)
    assert words in run.error
    assert words in LogFile.objects.get().error


def test_a_file_that_became_unreadable_keeps_its_session(path):
    """What was read once stays; the file says what is wrong now."""
    path.write_bytes(busy_log(turns=2).data)
    session = import_well(path)
    path.write_bytes(b"")
    assert import_path(path).state == "failed"
    session.refresh_from_db()
    assert session.items == ItemRecord.objects.count() > 0
    assert "is empty" in session.file.error


def test_a_folder_in_the_place_of_a_log_is_not_read(path):
    """Nor any file in it."""
    path.write_bytes(busy_log(turns=2).data)
    session = import_well(path)
    path.unlink()
    path.mkdir()
    (path / "other.jsonl").write_bytes(busy_log(session="other").data)
    run, _ = imports.request(session.file)
    perform(run)
    run.refresh_from_db()
    assert "is a folder now" in run.error
    assert Session.objects.count() == 1


def test_reasons_are_redacted(tmp_path):
    """A secret in a file's name reaches no row of reasons."""
    secret = "sk-ant-api03-" + "a1B2" * 20
    path = tmp_path / f"{secret}.jsonl"
    path.write_bytes(b"nothing")
    run = import_path(path)
    assert run.state == "failed"
    assert secret not in run.error
    assert secret not in LogFile.objects.get().error


@pytest.mark.slow
def test_a_line_of_50_mb_costs_that_line(path):
    """It is named, its bytes are kept, and everything around it is read."""
    log = busy_log(turns=2)
    huge = b'{"type":"user","uuid":"huge","message":{"role":"user","content":"' + b"x" * 50_000_000 + b'"}}\n'
    lines = log.data.splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], huge, *lines[3:]]))
    session = import_well(path)
    assert session.file.report["skipped"][0][0] == 4
    assert session.steps == 4
    assert session.file.size == path.stat().st_size


def test_with_redaction_at_ingest_no_secret_is_stored(path, settings, tmp_path):
    """Neither in a text nor in the raw bytes; a log that grows is still the same log."""
    settings.REDACT_AT_INGEST = True
    secret = "sk-ant-api03-" + "a1B2" * 20
    log = busy_log(turns=3)
    log.user(f"use {secret} please, not \ud800")
    path.write_bytes(log.data[:-1])
    import_well(path)
    log.result("c1", f"export ANTHROPIC_API_KEY={secret}")
    path.write_bytes(log.data)
    session = import_well(path)
    assert session.revision == 1
    assert session.file.report["redacted"] == 2
    stored = raw(session.file)
    assert secret.encode() not in stored
    assert len(stored) == session.file.size != path.stat().st_size
    assert not any(secret in words for words in texts(session).values())
    place = ItemRecord.objects.order_by("-position").values_list("raw_offset", "raw_length").first()
    assert stored[place[0] :][: place[1]].endswith(b"}")
    assert everything(session) == everything_of_a_single_import([log.data], tmp_path)
