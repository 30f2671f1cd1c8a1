"""Several files hold one session: the one with more of it is shown, whatever came first."""

import pytest

from contextlab.services.ingest import contest
from contextlab.store.models import ItemRecord, LogFile, Session
from tests.importers.claude_log import Log, text
from tests.services.doing import everything, import_path, import_well, raw, texts
from tests.services.test_ingest import busy_log

pytestmark = [pytest.mark.django_db, pytest.mark.database]

UUID = "3f2c9a1e-0000-4000-8000-000000000001"


@pytest.fixture
def snapshots(tmp_path):
    """An older and a newer state of one session in two folders."""
    lines = busy_log(turns=6, session=UUID).data.splitlines(keepends=True)
    paths = [tmp_path / name / f"{UUID}.jsonl" for name in ("old", "new")]
    for path, end in zip(paths, (9, len(lines)), strict=True):
        path.parent.mkdir()
        path.write_bytes(b"".join(lines[:end]))
    return paths


def test_an_older_snapshot_adds_nothing(snapshots):
    """It is read, noted where the session really is, and changes no row."""
    old, new = snapshots
    session = import_well(new)
    before = everything(session)
    assert import_path(old).state == "noop"
    assert everything(Session.objects.get()) == before
    assert LogFile.objects.get(path=str(old)).report["elsewhere"] == {UUID: f"{UUID}.jsonl"}


def test_a_newer_snapshot_takes_the_session_over(snapshots):
    """With its own bytes behind every item."""
    old, new = snapshots
    first = import_well(old)
    second = import_well(new)
    assert (second.pk, second.uid) == (first.pk, first.uid)
    assert second.file.path == str(new)
    assert raw(second.file) == new.read_bytes()
    assert ItemRecord.objects.count() == second.items
    assert LogFile.objects.get(path=str(old)).report["elsewhere"] == {UUID: second.file.name}
    assert import_path(old).state == "noop"


def test_a_copy_stays_a_copy_until_the_original_is_gone(snapshots, tmp_path):
    """A log that was moved is followed."""
    _, new = snapshots
    session = import_well(new)
    copy = tmp_path / "copy" / new.name
    copy.parent.mkdir()
    copy.write_bytes(new.read_bytes())
    assert import_path(copy).state == "noop"
    new.unlink()
    copy.write_bytes(copy.read_bytes())
    LogFile.objects.filter(path=str(copy)).update(sha256="")
    import_path(copy)
    session.refresh_from_db()
    assert session.file.path == str(copy)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_that_differ_the_later_one_is_shown_in_any_order(tmp_path, order):
    """The answer does not depend on which was imported first."""
    paths = []
    for name, words in (("a", "earlier end"), ("b", "later end")):
        log = Log(UUID)
        log.user("the same beginning")
        log.answer("m1", text(words))
        if name == "b":
            log.user("and more")
        path = tmp_path / name / f"{UUID}.jsonl"
        path.parent.mkdir()
        path.write_bytes(log.data)
        paths.append(path)
    for place in order:
        import_path(paths[place])
    assert list(texts(Session.objects.get()).values()) == ["the same beginning", "later end", "and more"]


def test_a_log_that_was_replaced_by_another_session_keeps_both(tmp_path):
    """The old one has no log of its own any more, and its texts are still here."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(busy_log(turns=2, session=UUID).data)
    old = import_well(path)
    words = texts(old)
    path.write_bytes(busy_log(turns=3, session="another").data)
    new = import_well(path)
    old.refresh_from_db()
    assert (old.file, new.file.path) == (None, str(path))
    assert texts(old) == words


@pytest.mark.parametrize("more", [False, True])
def test_a_copy_of_many_sessions_is_compared_in_one_pass(tmp_path, monkeypatch, more):
    """A log with its subagents inside: not read again for each of them, and all go where the longer file is."""
    log = Log(UUID)
    main = log.user("the main thread")
    for number in range(30):
        log.last = None
        log.user(f"task {number}", side=True)
        log.answer(f"m{number}", text(f"done {number}"), side=True)
    first, copy = tmp_path / "a" / f"{UUID}.jsonl", tmp_path / "b" / f"{UUID}.jsonl"
    for path in (first, copy):
        path.parent.mkdir()
        path.write_bytes(log.data)
    if more:
        log.user("and one more prompt", parent=main)
        copy.write_bytes(log.data)
    import_path(first)
    assert Session.objects.count() == 31
    passes = []
    read_file = contest.read_file
    monkeypatch.setattr(contest, "read_file", lambda *given: passes.append(given) or read_file(*given))
    import_path(copy)
    assert len(passes) == 1
    assert Session.objects.count() == 31
    shown_from = set(Session.objects.filter(role="").values_list("file__path", flat=True))
    assert shown_from == {str(copy if more else first)}
