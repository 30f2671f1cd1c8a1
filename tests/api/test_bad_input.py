"""Nonsense is answered with a JSON error that names its place, never with a 500."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from django.test import Client

from contextlab.queries.keyset import encode
from contextlab.store.models import Workspace
from tests.api.conftest import Api
from tests.web.made import Log

NASTY = [
    "%00", "a%00b", "%ED%A0%80", "%FF%FE", "%F0%9F%98%80" * 50, "x" * 5000, "'%22%3C", "9" * 400, "-1", "1e9", "%20",
    quote("[" * 3000), "NaN", "../../etc/passwd", str(2**63), str(2**31),
]  # fmt: skip
NOBODY = "0102a79f-071b-47a7-8b6c-868e07c8772e"
LISTS = ["sessions/", "turns/", "steps/", "steps/1/items/", "items/", "spans/"]


@pytest.mark.parametrize("value", NASTY)
@pytest.mark.parametrize(
    "name", ["q", "cursor", "limit", "view", "step", "turn", "sort", "is", "project", "text_limit"]
)
def test_no_query_breaks_anything(made, name: str, value: str) -> None:
    """Whatever stands in a query, each address answers in JSON below 500."""
    client = Client(raise_request_exception=False)
    base = f"/api/sessions/{made.session.uid}/"
    for path in (
        "/api/sessions/",
        base + "steps/",
        base + "steps/1/items/",
        base + "spans/",
        base + "items/0/",
    ):
        response = client.get(f"{path}?{name}={value}")
        assert response.status_code in (200, 400, 404), (path, response.content)
        assert response["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    "path",
    [
        "sessions/abc/", "sessions/00000000-0000-0000-0000-00000000000g/", "sessions/%00/", "sessions/%FF%FE/",
        f"sessions/{NOBODY}/", f"sessions/{NOBODY}/steps/1/", f"runs/{NOBODY}/", "runs/x/",
        "nothing/", "sessions", "", "sessions//turns/",
    ],
)  # fmt: skip
def test_unknown_addresses_are_404(api: Api, path: str) -> None:
    """What does not exist, is malformed or is spelled otherwise is not found, with a JSON body."""
    assert api.error(path, 404)["code"] == "not_found"


@pytest.mark.parametrize("number", [0, 99, 2**31, 2**63, 10**400])
def test_numbers_beyond_the_session_are_404(api: Api, base: str, number: int) -> None:
    """Steps, turns and items that do not exist, however large their numbers, are not found."""
    for rest in ("steps/{}/", "steps/{}/items/", "turns/{}/"):
        api.error(base + rest.format(number), 404)
    api.error(base + f"items/{number + 500}/", 404)


@pytest.mark.parametrize(
    ("rest", "query", "place"),
    [
        ("steps/", {"limit": "0"}, "query: limit"),
        ("steps/", {"limit": "1001"}, "query: limit"),
        ("steps/", {"limit": "ten"}, "query: limit"),
        ("steps/", {"turn": "²"}, "query: turn"),
        ("steps/", {"cursor": "xyz"}, "query: cursor"),
        ("items/", {"cursor": encode("position", ["a"], 0)}, "query: cursor"),
        ("spans/", {"cursor": encode("first_item,id", [1], 0)}, "query: cursor"),
        ("spans/", {"step": "0"}, "query: step"),
        ("steps/1/items/", {"cursor": encode("position,in_context", [1.5, True], 0)}, "query: cursor"),
        ("items/0/", {"text_limit": "-1"}, "query: text_limit"),
    ],
)
def test_a_bad_value_is_named(api: Api, base: str, rest: str, query: dict[str, str], place: str) -> None:
    """400 says which value of the query is wrong."""
    error = api.error(base + rest, 400, **query)
    assert (error["code"], error["place"]) == ("bad_value", place)


def test_bad_filters_are_named(api: Api) -> None:
    """A sort or a mark that does not exist is named, with those that do."""
    assert "newest" in api.error("sessions/", 400, sort="best")["message"]
    assert api.error("sessions/", 400, **{"is": "odd"})["place"] == "query: is"


def test_a_cursor_of_another_order_is_refused(api: Api) -> None:
    """A cursor belongs to the order that it was made for."""
    for number in range(60):
        Log().ask("x").save(native_id=f"s{number}", file=None)
    cursor = api.get("sessions/", sort="title")["next"].split("cursor=")[1]
    assert api.error("sessions/", 400, sort="steps", cursor=cursor)["place"] == "query: cursor"


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_reading_addresses_take_no_writes(api: Api, base: str, method: str) -> None:
    """405 with the methods that are allowed."""
    for path in ("usage/", base, base + "steps/"):
        response = getattr(api.client, method)("/api/" + path)
        assert Api.read(response, 405)["error"]["code"] == "method_not_allowed"
        assert "GET" in response["Allow"]


def test_another_workspace_is_not_seen(api: Api, made, base: str) -> None:
    """Rows of another workspace are not listed, and every address of theirs is 404."""
    other = Workspace.objects.create(name="stranger")
    type(made.session).objects.filter(pk=made.session.pk).update(workspace=other)
    Workspace.objects.create(name="ours", pk=0)
    assert api.get("sessions/")["results"] == []
    for rest in (
        "",
        "turns/",
        "turns/1/",
        "steps/",
        "steps/1/",
        "steps/1/items/",
        "items/",
        "items/0/",
        "spans/",
    ):
        api.error(base + rest, 404)


def test_what_nobody_foresaw_is_a_json_500(api: Api, base: str, monkeypatch, caplog) -> None:
    """A fault of ours is told as such without its words, which may quote a log, and is logged."""
    monkeypatch.setattr("contextlab.api.items.read_items", lambda *_: 1 / 0)
    error = api.error(base + "items/0/", 500)
    assert error["code"] == "server_error"
    assert "division" not in error["message"]
    assert "ZeroDivisionError" in caplog.text


def test_the_schema_describes_every_address(api: Api) -> None:
    """/api/schema/ is OpenAPI and names each address, with the fields that answers have."""
    schema = api.client.get("/api/schema/").json()
    assert schema["openapi"].startswith("3.")
    paths = schema["paths"]
    assert {"/api/sessions/", "/api/sessions/{uid}/steps/{number}/items/", "/api/runs/{uid}/cancel/"} <= set(
        paths
    )
    assert "replaced_by" in schema["components"]["schemas"]["SeenItem"]["properties"]


@pytest.mark.parametrize(
    "body", [rb'{"\ud800": 1}', rb'{"pins": ["\uDC00"], "name": "\ud800"}', rb'["\ud800"]']
)
def test_half_a_surrogate_pair_is_refused_at_every_address_that_takes_json(
    api: Api, made, body: bytes
) -> None:
    """No body breaks an address by a character that neither a column nor an answer can hold."""
    schema = api.client.get("/api/schema/").json()
    ids = {"uid": str(made.session.uid), "number": "1", "position": "0"}
    taken = 0
    for path, methods in schema["paths"].items():
        for method in {"post", "put", "patch"} & methods.keys():
            if "application/json" not in methods[method].get("requestBody", {}).get("content", {}):
                continue
            address = re.sub(r"{(\w+)}", lambda found: ids.get(found[1], NOBODY), path)
            response = api.client.generic(method.upper(), address, body, content_type="application/json")
            assert response.status_code in (400, 404, 405), (address, response.content)
            taken += response.status_code == 400 and response.json()["error"]["place"] == "body"
    assert taken > 10
