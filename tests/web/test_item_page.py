"""The item page: its text, its life in every view, its other half, and its record as logged."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from contextlab.core.items import Kind, Reason, Verdict
from contextlab.core.spans import Span
from contextlab.queries.item import OPEN_BYTES
from contextlab.store.models import ItemRecord
from tests.factories import a_file, a_segment
from tests.web.made import Log, Made
from tests.web.pages import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def made_with_call(result: str = "ok") -> Made:
    log = Log().ask("go").step(input=1).call("bash", '{"command": "ls"}').result(result)
    return log.step(input=2).say("done").ask("more").step(input=3).save()


def test_a_life_is_told_band_by_band_in_every_view(client: Client) -> None:
    """Kept until a span says otherwise; each band with its steps and reason, as picture and as table."""
    made = made_with_call()
    made.view([Span(0, 2, Verdict.SUMMARISED, Reason.COMPACTED, 3)])
    made.view([Span(2, 2, Verdict.CLEARED, Reason.TIER1, 3)], name="type-aware")
    page = read(client.get(made.url("/items/2")))
    bands = [
        values["class"]
        for tag, values in page.elements
        if tag == "rect" and values.get("class", "").startswith("band")
    ]
    assert bands == ["band kept", "band summarised out", "band kept", "band cleared"]
    assert "replaced by the summary of a compaction" in page.text
    assert "older than the results that are kept" in page.text


def test_call_and_result_lead_to_each_other(client: Client) -> None:
    """From the call to its result and back."""
    made = made_with_call()
    assert read(client.get(made.url("/items/1"))).all("a", href=made.url("/items/2"))
    assert read(client.get(made.url("/items/2"))).all("a", href=made.url("/items/1"))


def test_an_id_of_the_log_leads_to_the_item(client: Client) -> None:
    """Positions may change with a re-import, ids do not."""
    made = made_with_call()
    native = made.rows[2].event.id
    answer = client.get(made.url("/items"), {"id": native})
    assert answer.headers["Location"] == made.url("/items/2")


def test_large_texts_open_on_request_only(client: Client) -> None:
    """Above 200 KB the page shows a button; what it then shows is bounded, the download is not."""
    text = "0123456789abcdef\n" * (OPEN_BYTES // 10)
    made = made_with_call(text)
    made.view([])
    page = read(client.get(made.url("/items/2/body")))
    assert "too much to open by itself" in page.text
    assert "0123456789" not in page.text
    assert "0123456789" in client.get(made.url("/items/2/body?all=1")).content.decode()
    answer = client.get(made.url("/items/2/text"))
    assert answer.content.decode() == text
    assert answer.headers["Content-Disposition"].startswith("attachment")


def test_markdown_is_rendered_on_request(client: Client) -> None:
    """Raw first; the rendered form has links that give nothing away."""
    made = made_with_call("# Title\n\n[a](https://example.org) ![p](https://evil.example/x.png) <b>raw</b>")
    raw = client.get(made.url("/items/2/body")).content.decode()
    assert "&lt;b&gt;raw" in raw
    shown = client.get(made.url("/items/2/body?as=markdown")).content.decode()
    assert "<h1>Title</h1>" in shown
    assert 'rel="noopener nofollow noreferrer"' in shown
    assert "<img" not in shown
    assert "<b>" not in shown


def test_markdown_of_a_long_text_is_refused(client: Client) -> None:
    """Rendering is worse than linear: above 64 KB the text stays raw."""
    made = made_with_call("# x\n" * 30_000)
    body = client.get(made.url("/items/2/body?as=markdown")).content.decode()
    assert "<h1>" not in body
    assert "as Markdown" not in body


def test_the_record_as_logged_is_shown_and_downloaded_byte_for_byte(client: Client) -> None:
    """Raw bytes behind a button, never shown inline by the browser itself."""
    content = b'{"x": "\xf0\x9f\x92\xa1 <b>", "y": 1}\n'
    made = made_with_call()
    file = a_file()
    a_segment(file, content)
    made.session.file = file
    made.session.save()
    ItemRecord.objects.filter(session=made.session, position=2).update(
        raw_offset=0, raw_length=len(content), line=1
    )
    page = read(client.get(made.url("/items/2")))
    assert "Record as logged" in page.text
    assert "&lt;b&gt;" in client.get(made.url("/items/2/record")).content.decode()
    answer = client.get(made.url("/items/2/raw"))
    assert answer.content == content
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert client.get(made.url("/items/1/raw")).status_code == 404


def test_an_offloaded_original_is_read_beside_the_log_and_only_there(client: Client, tmp_path: Path) -> None:
    """The place comes out of the log, so it is not trusted."""
    folder = tmp_path / "s1" / "tool-results"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("the whole original")
    (tmp_path / "secret.txt").write_text("password")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    made = made_with_call("preview")
    made.session.file.path = str(tmp_path / "s1.jsonl")
    made.session.file.save()
    records = ItemRecord.objects.filter(session=made.session, position=2)
    records.update(original="s1/tool-results/a.txt")
    assert "the whole original" in read(client.get(made.url("/items/2/body"))).text
    assert client.get(made.url("/items/2/original")).content == b"the whole original"
    for place in (
        "s1/tool-results/gone.txt", "secret.txt", "../../etc/passwd", "s1/tool-results/link.txt", "/etc/passwd",
        "s1/tool-results/../../secret.txt", "../tool-results/x",
    ):  # fmt: skip
        records.update(original=place)
        page = read(client.get(made.url("/items/2/body")))
        assert "It is gone, or was never on this machine" in page.text
        assert "password" not in page.text
        assert client.get(made.url("/items/2/original")).status_code == 404


def test_what_was_only_shown_to_the_person_says_so(client: Client) -> None:
    """Such an item has no life in a context."""
    made = Log().ask("go").item(Kind.UI, "hook ran", label="hook").step(input=1).save()
    made.view([Span(1, 1, Verdict.DROPPED, Reason.UI_ONLY, 1)])
    page = read(client.get(made.url("/items/1")))
    assert "shown to the person only: hook" in page.text
