"""Every answer binds the browser, and requests from other sites change nothing."""

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory

from contextlab.web.middleware import OriginCheckMiddleware, UploadLimitMiddleware

HOST = "127.0.0.1:8000"


def status(method: str, **headers: str) -> int:
    """The answer of the origin check to a request with these headers."""
    request = getattr(RequestFactory(), method)("/api/x", HTTP_HOST=HOST, headers=headers)
    return OriginCheckMiddleware(lambda _: HttpResponse("done"))(request).status_code


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": f"http://{HOST}"},
        {"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"},
        {"Referer": f"http://{HOST}/sessions/?q=a"},
        {"Sec-Fetch-Site": "none"},
    ],
    ids=str,
)
def test_a_write_from_here_passes(headers):
    """Our own pages, and programs that are no browser, may write."""
    assert status("post", **headers) == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": f"http://{HOST}.evil.example"},
        {"Referer": "https://evil.example/127.0.0.1:8000/"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": f"http://{HOST}", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://[broken"},
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_a_write_from_elsewhere_is_refused(method, headers):
    """A page of another site, of another port, or without a home gets 403."""
    assert status(method, **headers) == 403


def test_reading_from_a_link_elsewhere_is_allowed():
    """A link to a page here works from anywhere; only writing is bound."""
    assert status("get", Referer="https://wiki.example/", **{"Sec-Fetch-Site": "cross-site"}) == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8000", "localhost.evil.example"])
def test_another_name_for_this_machine_is_refused(host):
    """A name that an attacker points at 127.0.0.1 reads nothing."""
    assert Client().get("/health", HTTP_HOST=host).status_code == 400


def test_every_answer_carries_the_policy():
    """No inline script or style, nothing from another host, no frame, no guessing of types, no cache."""
    headers = Client().get("/no-such-page", HTTP_HOST=HOST).headers
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "no-store"


def test_an_upload_above_the_limit_is_refused_with_the_limit(settings):
    """413, and the message says how much is allowed."""
    settings.MAX_UPLOAD_BYTES = 5 * 1024 * 1024
    request = RequestFactory().post(
        "/api/x", data=b"", content_type="text/plain", CONTENT_LENGTH=str(6 * 1024**2)
    )
    answer = UploadLimitMiddleware(lambda _: HttpResponse("done"))(request)
    assert answer.status_code == 413
    assert b"5 MB" in answer.content
    assert answer.headers["Content-Type"] == "application/json"
