"""Deleting: nothing of it is left, and nothing brings it back."""

import json

import pytest
from django.apps import apps
from django.db import models
from django.utils import timezone

from contextlab.services import imports, runs, sessions
from contextlab.services.actions import perform
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import ContentCount, LogFile, RawSegment, Run, Session, WatchedFolder, Workspace
from tests.services.doing import ALL_TABLES, TABLES, counts, import_path, import_well
from tests.services.test_ingest import busy_log
from tests.services.test_linking import MAIN, main_log

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "s1.jsonl"
    found.write_bytes(busy_log().data)
    return found


def test_a_deleted_session_leaves_no_row_and_no_byte(path):
    """Of a log on disk stays the note that nobody wants it."""
    sessions.delete_session(import_well(path))
    assert {name for name, count in counts().items() if count} == {"LogFile"}
    assert LogFile.objects.get().forgotten_at is not None


def test_its_subagents_go_with_it(tmp_path):
    """They hang below it."""
    (tmp_path / f"{MAIN}.jsonl").write_bytes(main_log().data)
    child = tmp_path / MAIN / "subagents" / "agent-x.jsonl"
    child.parent.mkdir(parents=True)
    child.write_bytes(
        main_log().data.replace(b'"isSidechain": false', b'"isSidechain": true, "agentId": "x"')
    )
    child.with_name("agent-x.meta.json").write_text(json.dumps({"toolUseId": "task1"}))
    for run in imports.queue_paths(local_workspace(), [tmp_path]):
        perform(run)
    assert Session.objects.count() == 2
    sessions.delete_session(Session.objects.get(role=""))
    assert not Session.objects.exists()


def test_a_deleted_subagent_is_not_counted_any_more(tmp_path):
    """The parent's counter is kept."""
    log = main_log()
    path = tmp_path / f"{MAIN}.jsonl"
    log.user("inside", side=True, parent=None)
    path.write_bytes(log.data)
    import_path(path)
    main = Session.objects.get(role="")
    assert main.subagents == 1
    sessions.delete_session(Session.objects.get(role="subagent"))
    main.refresh_from_db()
    assert main.subagents == 0


def test_an_import_under_way_does_not_bring_it_back(path, monkeypatch):
    """Its token is taken away in the same transaction."""
    session = import_well(path)
    path.write_bytes(busy_log(turns=14).data)
    (run,) = imports.queue_paths(local_workspace(), [path])
    examine = imports.examine

    def deleted_meanwhile(file, source):
        sessions.delete_session(session)
        return examine(file, source)

    monkeypatch.setattr(imports, "examine", deleted_meanwhile)
    perform(run)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert not Session.objects.exists()


KEPT_TABLES = {"Workspace", "Lease"}
"""The tenant itself, and who rings: no word of a transcript is in them."""


def a_row_of_everything() -> dict[str, type[models.Model]]:
    """One row in every table there is, whatever tables are added later."""
    made: dict[type[models.Model], models.Model] = {Workspace: local_workspace()}
    waiting = [model for model in apps.get_app_config("store").get_models() if model not in made]
    while waiting:
        model = next(
            model
            for model in waiting
            if all(field.null or field.related_model in made for field in foreign_keys(model))
        )
        made[model] = model.objects.create(**dict(filled(model, made)))
        waiting.remove(model)
    return {model.__name__: model for model in made}


def foreign_keys(model: type[models.Model]) -> list[models.ForeignKey]:
    """The fields that point to other tables (or to the same one)."""
    return [field for field in model._meta.concrete_fields if isinstance(field, models.ForeignKey)]


def filled(model, made):
    """Values for the fields that have none by themselves; nothing that may be unknown is known."""
    for field in model._meta.concrete_fields:
        if isinstance(field, models.ForeignKey):
            if not field.null:
                yield field.name, made[field.related_model]
        elif not (
            field.has_default()
            or field.null
            or (field.primary_key and field.get_internal_type() == "BigAutoField")
        ):
            yield field.name, VALUES.get(field.get_internal_type(), 1)


VALUES = {"CharField": "x", "TextField": "x", "BinaryField": b"x", "DateTimeField": timezone.now()}


def test_delete_everything_forgets_no_table():
    """Also what belongs to no session; a table that is added later is part of this test by itself."""
    tables = a_row_of_everything()
    assert len(tables) > 20
    sessions.delete_everything(local_workspace())
    left = {name for name, model in tables.items() if model.objects.exists()}
    assert left == KEPT_TABLES


def test_delete_everything_leaves_an_empty_installation(path, settings, tmp_path):
    """Sessions, logs, runs, counts, watched folders and uploads; the workspace stays."""
    settings.UPLOAD_DIR = tmp_path / "uploads"
    settings.UPLOAD_DIR.mkdir()
    (settings.UPLOAD_DIR / "0123").write_bytes(b"x")
    import_path(path)
    imports.watch_folder(local_workspace(), tmp_path)
    running = runs.claim(imports.request(LogFile.objects.get())[0].uid)
    sessions.delete_everything(local_workspace())
    for model in (*ALL_TABLES, *TABLES, Run, WatchedFolder, ContentCount, RawSegment):
        assert not model.objects.exists(), model
    assert Workspace.objects.count() == 1
    assert list(settings.UPLOAD_DIR.iterdir()) == []
    with pytest.raises(runs.Lost):
        runs.progress(running, done=1)


@pytest.mark.django_db(transaction=True)
def test_the_space_is_given_back(tmp_path):
    """On SQLite deleted bytes stay in the file until it is written anew."""
    words = b"a-word-that-stands-nowhere-else"
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data.replace(b"prompt 0", words))
    import_path(path)
    assert Session.objects.get().title.encode().startswith(words)
    before = sessions.data_folder()
    sessions.delete_everything(local_workspace())
    after = sessions.data_folder()
    assert after.path == before.path
    if after.database == "sqlite":
        from django.db import connection

        name = connection.settings_dict["NAME"]
        for suffix in ("", "-wal"):
            with open(f"{name}{suffix}", "rb") as database:
                assert words not in database.read()


def test_the_local_workspace_takes_its_key_from_the_database():
    """A key of our own would be given out again by PostgreSQL's sequence."""
    first = local_workspace()
    assert local_workspace() == first
    assert Workspace.objects.create(name="another").pk > first.pk
