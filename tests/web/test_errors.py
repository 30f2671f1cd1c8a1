"""Errors say what was wrong, in the look of the page, in a line for htmx, or as JSON; never a stack trace."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from django.test import Client

from tests.web.pages import read

HTMX = {"HX-Request": "true"}
UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def calm(client: Client) -> Client:
    """A client that answers 500 instead of raising."""
    client.raise_request_exception = False
    return client


@pytest.mark.parametrize(
    "address", ["/nothing", "/sessions/1", "/files/x", f"/files/{UNKNOWN}", "/%00", "/" + "a" * 3000]
)
@pytest.mark.django_db
def test_not_found(client: Client, address: str) -> None:
    """An address that leads nowhere says so, and how to go on."""
    page = read(client.get(address), 404)
    assert "There is nothing here" in page.text
    assert page.all("a", href="/")


@pytest.mark.django_db
def test_errors_for_htmx_are_a_line(client: Client) -> None:
    """htmx swaps it into the page's message line."""
    answer = client.get("/nothing", headers=HTMX)
    assert answer.status_code == 404
    assert b"<html" not in answer.content
    assert b"nothing here" in answer.content


@pytest.mark.django_db
def test_errors_of_the_api_are_json(client: Client) -> None:
    """Programs get JSON, whatever went wrong."""
    answer = client.get("/api/nothing")
    assert answer.status_code == 404
    assert answer.json()["error"]


@pytest.mark.django_db
def test_a_method_that_is_not_taken(client: Client) -> None:
    """A page, a line or JSON, with the methods that are."""
    answer = client.get(f"/runs/{UNKNOWN}/stop")
    assert "Not that way" in read(answer, 405).text
    assert answer.headers["Allow"] == "POST"
    assert b"<html" not in client.get(f"/runs/{UNKNOWN}/stop", headers=HTMX).content
    answer = client.get(f"/runs/{UNKNOWN}/stop", headers={"Accept": "application/json"})
    assert answer.json()["error"].startswith("This address is posted to")
    answer = client.delete("/api/sessions/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")


@pytest.mark.django_db
@pytest.mark.parametrize(("path", "status"), [("/imports", 403), ("/imports", 413)])
def test_what_is_refused_at_the_door_looks_like_all_errors(
    client: Client, settings: object, path: str, status: int
) -> None:
    """From another site, or too large: a page for browsers, the API's shape for programs."""
    settings.MAX_UPLOAD_BYTES = 5 * 1024 * 1024
    headers = {"Origin": "https://evil.example"} if status == 403 else {}
    length = {"CONTENT_LENGTH": str(6 * 1024**2)} if status == 413 else {}
    words = "comes from another site" if status == 403 else "uploads end at 5 MB"
    page = read(client.post(path, headers=headers, **length), status)
    assert words in page.text
    assert page.all("a", href="/")
    error = client.post("/api/imports/", headers=headers, **length).json()["error"]
    assert words in error["message"]
    assert set(error) == {"code", "message", "place"}


@pytest.mark.django_db
def test_a_fault_of_ours_is_a_page(calm: Client) -> None:
    """500 with words, without what the exception said."""
    with patch("contextlab.queries.sessions.totals", side_effect=RuntimeError("sk-secret")):
        page = read(calm.get("/"), 500)
    assert "Something broke" in page.text
    assert "sk-secret" not in page.text


@pytest.mark.django_db
def test_a_fault_in_the_error_page_is_still_answered(calm: Client) -> None:
    """Should the template be what broke, plain words go out."""
    with (
        patch("contextlab.queries.sessions.totals", side_effect=RuntimeError),
        patch("contextlab.web.errors.render", side_effect=RuntimeError),
    ):
        answer = calm.get("/")
    assert answer.status_code == 500
    assert b"Something broke" in answer.content


@pytest.mark.django_db
def test_a_post_without_token_is_refused() -> None:
    """403 with words."""
    client = Client(enforce_csrf_checks=True)
    assert "Refused" in read(client.post(f"/runs/{UNKNOWN}/stop"), 403).text


def test_a_host_that_is_not_ours_is_refused(client: Client) -> None:
    """A page elsewhere that points its own name at this machine gets 400."""
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 400
