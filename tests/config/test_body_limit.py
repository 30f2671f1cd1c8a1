"""Bodies that are too large are refused before they are written anywhere."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

from contextlab.config.body_limit import BodyLimit

LIMIT = 3 * 1024 * 1024
PIECE = b"x" * 1024 * 1024


def run(coroutine) -> None:
    """In a thread of its own: once a browser test has run, this one keeps an event loop."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, coroutine).result()


async def reading_app(scope, receive, send):
    """Reads all of the body, as Django does, then answers 200."""
    more = True
    while more:
        more = (await receive()).get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"read"})


def ask(pieces: int, declared: int | None = None, path: str = "/") -> list[dict]:
    """Send a body of so many pieces of 1 MB and return the messages of the answer."""
    headers = [] if declared is None else [(b"content-length", str(declared).encode())]
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
    body = iter(
        [
            {"type": "http.request", "body": PIECE, "more_body": number + 1 < pieces}
            for number in range(pieces)
        ]
    )
    sent: list[dict] = []

    async def receive():
        return next(body)

    async def send(message):
        sent.append(message)

    run(BodyLimit(reading_app, LIMIT)(scope, receive, send))
    return sent


def test_a_body_at_the_limit_passes():
    """The limit itself is allowed."""
    assert ask(3)[0]["status"] == 200


def test_a_declared_length_above_it_is_refused_unread():
    """413, and the limit stands in the message."""
    answer = ask(0, declared=LIMIT + 1)
    assert answer[0]["status"] == 413
    assert b"3 MB" in answer[1]["body"]


def test_browsers_get_a_page_and_programs_json():
    """As every other error: the page under the same policy, the API's shape below /api/."""
    start, body = ask(0, declared=LIMIT + 1)
    assert b"<b>Too large</b>" in body["body"]
    assert b"default-src 'none'" in dict(start["headers"])[b"content-security-policy"]
    _, body = ask(0, declared=LIMIT + 1, path="/api/imports/")
    assert json.loads(body["body"])["error"]["code"] == "too_large"


def test_a_body_without_a_length_is_counted():
    """Streaming past the limit is refused too, whatever was or was not declared."""
    assert ask(4)[0]["status"] == 413


def test_other_connections_pass():
    """Only HTTP requests have bodies."""
    seen = []

    async def app(scope, receive, send):
        seen.append(scope["type"])

    run(BodyLimit(app, LIMIT)({"type": "lifespan"}, None, None))
    assert seen == ["lifespan"]
