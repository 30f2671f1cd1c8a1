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
