"""Sending logs: what is taken, what is refused and how, and the run that tells what came of it."""

from __future__ import annotations

import gzip
import json
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings

from contextlab.services import actions
from contextlab.store.models import LogFile, RawSegment, Run, Session, Workspace
from tests.api.conftest import Api
from tests.field_reports.reports import given

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

CHAT = [{"role": "user", "content": "Is it open?"}, {"role": "assistant", "content": "Until ten."}]


@pytest.fixture(autouse=True)
def bells(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The runs that were rung; no broker is needed."""
    rung: list[Run] = []
    monkeypatch.setattr("contextlab.tasks.ring", rung.extend)
    return rung


@pytest.fixture
def api(transactional_db: None) -> Api:
    return Api()


def send(api: Api, body: bytes, status: int = 202, query: str = "", **more: Any) -> Any:
    return api.post("imports/" + query, body, status, content_type="application/octet-stream", **more)


def done(api: Api, answer: dict[str, Any]) -> dict[str, Any]:
    """The only run of an answer, after a worker did it."""
    (run,) = answer["runs"]
    actions.perform(Run.objects.get(uid=UUID(run["id"])))
    found: dict[str, Any] = api.get(f"runs/{run['id']}/")
    return found


def test_a_raw_body_becomes_a_session(api: Api, bells: list[Run]) -> None:
    """The answer names the run; once it is done the run names the session, which can be read."""
    answer = send(api, json.dumps(CHAT).encode(), query="?name=opening-hours.json")
    (queued,) = answer["runs"]
    assert (queued["state"], queued["file"], queued["sessions"]) == ("queued", "opening-hours.json", [])
    assert [str(run.uid) for run in bells] == [queued["id"]]
    run = done(api, answer)
    assert (run["state"], run["error"]) == ("done", None)
    (session,) = run["sessions"]
    items = api.get(f"sessions/{session}/steps/1/items/")["results"]
    assert [(item["kind"], item["verdict"]) for item in items] == [("user", "kept")]
    assert LogFile.objects.get().origin == LogFile.Origin.API


def test_curls_own_content_type_is_taken(api: Api) -> None:
    """`curl --data-binary @log` says that it sends a form; it is taken as the bytes that it is."""
    body = json.dumps(CHAT).encode()
    answer = api.post("imports/", body, 202, content_type="application/x-www-form-urlencoded")
    assert done(api, answer)["state"] == "done"


def test_files_of_a_form_are_taken(api: Api) -> None:
    """Several files at once, with their places below a folder."""
    files = [
        SimpleUploadedFile(f"{name}.json", json.dumps([*CHAT, CHAT[0] | {"content": name}]).encode())
        for name in "ab"
    ]
    answer = api.read(
        api.client.post("/api/imports/", {"file": files, "path": ["x/a.json", "x/b.json"]}), 202
    )
    assert [run["file"] for run in answer["runs"]] == ["a.json", "b.json"]
    assert sorted(LogFile.objects.values_list("relative", flat=True)) == ["x/a.json", "x/b.json"]


def test_packed_logs_are_unpacked(api: Api) -> None:
    """A gzipped log is read like a plain one."""
    answer = send(api, gzip.compress(json.dumps(CHAT).encode()), headers={"Content-Encoding": "gzip"})
    assert done(api, answer)["state"] == "done"


def test_the_same_bytes_twice_are_one_file(api: Api) -> None:
    """The second import finds nothing new."""
    body = json.dumps(CHAT).encode()
    done(api, send(api, body))
    second = done(api, send(api, body, query="?name=other.json"))
    assert second["state"] == "noop"
    assert Session.objects.count() == 1


def test_ingest_13_a_log_without_times_stays_without(api: Api) -> None:
    """Unknown times stay null, and importing again makes no new rows (field report ingest-13)."""
    (record,) = given("ingest-13")["records"]
    head = {"format": "contextlab-events", "version": 1, "session": {"id": "s1"}}
    item = {"type": "item", "id": record["id"], "kind": record["role"], "text": record["text"]}
    body = f"{json.dumps(head)}\n{json.dumps(item)}\n".encode()
    first = done(api, send(api, body))
    session = api.get(f"sessions/{first['sessions'][0]}/")
    assert (session["items"], session["started_at"], session["last_at"]) == (1, None, None)
    assert done(api, send(api, body))["state"] == "noop"
    assert api.get("sessions/")["matching"] == 1


def test_encoding_04_raw_bytes_are_kept(api: Api) -> None:
    """The log's own bytes are stored as they came, whatever its numbers look like (field report encoding-04)."""
    import zstandard

    body = (
        b'[{"role": "user",  "content": "' + given("encoding-04")["body"].replace('"', "'").encode() + b'"}]'
    )
    done(api, send(api, body))
    segment = RawSegment.objects.get()
    assert zstandard.decompress(bytes(segment.data)) == body


def test_encoding_06_a_picture_is_told_not_sent(api: Api) -> None:
    """Megabytes of base64 stay in the log: the answers say type and size (field report encoding-06)."""
    url = given("encoding-06")["item"]["content"][0]["image_url"]["url"]
    picture = {"type": "image_url", "image_url": {"url": url["prefix"] + url["$repeat"] * url["n"]}}
    done(api, send(api, json.dumps([{"role": "user", "content": [picture]}, CHAT[1]]).encode()))
    session = Session.objects.get().uid
    response = api.client.get(f"/api/sessions/{session}/items/")
    assert len(response.content) < 65_536
    (media,) = response.json()["results"][0]["media"]
    assert media["mime"] == "image/png"
    assert media["size"] >= 2_800_000


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"hello\n", "unknown format"),
        (b"\x00" * 5000, "empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, "picture"),
        (b"[" * 100_000, "unknown format"),
        (b'{"a": ' * 5000, "unknown format"),
    ],
)
def test_what_cannot_be_read_fails_with_its_reason(api: Api, body: bytes, words: str) -> None:
    """The upload is taken, and the run says in words why nothing can be read; the worker lives on."""
    run = done(api, send(api, body, query="?name=what.bin"))
    assert run["state"] == "failed"
    assert words in run["error"].lower()
    assert run["sessions"] == []


NASTY = [
    json.dumps([{"role": "user", "content": "a\x00b \ud800 c"}]).encode(),
    b'[{"role": "user", "content": "x", "n": 1' + b"0" * 400 + b"}]",
    b'[{"role": "user", "content": "x", "n": NaN}, {"role": "assistant", "content": "y"}]',
    b'[{"role": "user", "content": ' + b"[" * 900 + b"]" * 900 + b"}]",
    b"\xef\xbb\xbf" + json.dumps(CHAT).encode(),
    json.dumps(CHAT).encode("utf-16"),
    b'[{"role": "user", "content": "\xff\xfe\xfd"}]',
    given("ingest-03")["text"].encode(),
    json.dumps([{"role": "user", "content": "x" * 5_000_000}]).encode(),
    json.dumps(
        [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [{"id": "i" * 3000}]}]
    ).encode(),
    json.dumps(CHAT)[:-4].encode(),
]


@pytest.mark.parametrize("body", NASTY, ids=range(len(NASTY)))
def test_nasty_logs_end_in_words(api: Api, body: bytes) -> None:
    """Whatever the log holds the run ends, and every address of what came of it answers."""
    run = done(api, send(api, body))
    assert run["state"] in ("done", "failed")
    assert run["error"] if run["state"] == "failed" else run["sessions"]
    for session in run["sessions"]:
        base = f"sessions/{session}/"
        for path in (
            base,
            base + "turns/",
            base + "steps/",
            base + "items/",
            base + "items/0/",
            base + "spans/",
        ):
            api.get(path)


@pytest.mark.parametrize(
    "name", [".", "..", "%00", "../../etc/passwd", "a%00b", "%3Cimg%3E", "x" * 390, "%20", "a/../b"]
)
def test_names_lead_nowhere(api: Api, name: str) -> None:
    """A name is a label: no folder is left, no control character is kept, and it is never empty."""
    response = api.client.post(
        f"/api/imports/?name={name}", json.dumps(CHAT), content_type="application/json"
    )
    assert response.status_code in (202, 400)
    for file in LogFile.objects.all():
        assert file.name
        assert ".." not in file.relative.split("/")
        assert "\x00" not in file.relative


def test_an_empty_body_is_refused(api: Api) -> None:
    """400 that names the body."""
    assert send(api, b"", 400)["error"]["place"] == "body"
    response = api.client.post("/api/imports/", {"note": "no file"})
    assert api.read(response, 400)["error"]["place"] == "body"


def test_a_broken_form_is_refused(api: Api) -> None:
    """A multipart body without its end, or without a boundary, is 400."""
    for kind in ("multipart/form-data; boundary=x", "multipart/form-data"):
        api.post(
            "imports/", b'--x\r\nContent-Disposition: form-data; name="file"; filen', 400, content_type=kind
        )


def refused(api: Api, body: bytes, status: int, **more: Any) -> str:
    """The words of a refusal that a middleware gives, before the API is asked."""
    response = api.client.post("/api/imports/", body, content_type="application/octet-stream", **more)
    assert response.status_code == status
    error = response.json()["error"]
    return str(error["message"] if isinstance(error, dict) else error)


def test_a_body_above_the_limit_is_refused_with_the_limit(api: Api) -> None:
    """413 with the limit in words, and nothing is kept."""
    with override_settings(MAX_UPLOAD_BYTES=1000):
        assert "MB" in refused(api, b"x" * 5000, 413)
    assert not LogFile.objects.exists()


def test_a_body_that_lies_about_its_length_is_refused(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent is counted while it is kept, whatever was declared."""
    monkeypatch.setattr("contextlab.web.middleware.settings", SimpleNamespace(MAX_UPLOAD_BYTES=10**9))
    with override_settings(MAX_UPLOAD_BYTES=1000):
        error = send(api, b"x" * 5000, 413)["error"]
    assert error["place"] == "body"
    assert not LogFile.objects.exists()


def test_an_unknown_packing_is_refused(api: Api) -> None:
    """415 that names the header."""
    error = send(api, b"x", 415, headers={"Content-Encoding": "br"})["error"]
    assert error["place"] == "header: Content-Encoding"


def test_a_page_elsewhere_cannot_send(api: Api) -> None:
    """A browser says where a request comes from: other origins are refused."""
    assert refused(api, json.dumps(CHAT).encode(), 403, headers={"Origin": "https://evil.example"})
    assert not LogFile.objects.exists()


def test_a_queued_run_can_be_cancelled(api: Api) -> None:
    """It ends at once, and no worker takes it any more."""
    (run,) = send(api, json.dumps(CHAT).encode())["runs"]
    cancelled = api.post(f"runs/{run['id']}/cancel/")
    assert (cancelled["state"], cancelled["cancel_requested"]) == ("cancelled", True)
    actions.perform(Run.objects.get(uid=UUID(run["id"])))
    assert api.get(f"runs/{run['id']}/")["state"] == "cancelled"
    assert not Session.objects.exists()


def test_runs_of_another_workspace_are_not_found(api: Api) -> None:
    """Neither their state nor stopping them."""
    (run,) = send(api, json.dumps(CHAT).encode())["runs"]
    Run.objects.update(workspace=Workspace.objects.create(name="stranger"))
    api.get(f"runs/{run['id']}/", 404)
    api.post(f"runs/{run['id']}/cancel/", status=404)
    assert Run.objects.get().state == "queued"


def test_a_broker_that_is_down_costs_nothing(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """The upload is committed and answered all the same; the reaper rings later."""
    monkeypatch.undo()

    def broken(*_: Any, **__: Any) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr("celery.app.base.Celery.send_task", broken)
    (run,) = send(api, json.dumps(CHAT).encode())["runs"]
    assert api.get(f"runs/{run['id']}/")["state"] == "queued"
