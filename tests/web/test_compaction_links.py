"""From wherever a compaction shows to its own page, and back."""

from __future__ import annotations

import pytest
from django.test import Client

from contextlab.core.items import Reason, Verdict
from contextlab.core.spans import Span
from tests.web.made import Log, Made
from tests.web.pages import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def made() -> Made:
    """Five items, a compaction before step 3 that replaces all but its summary (item 4)."""
    log = Log().ask("a").step().say("b").ask("c").step().say("d")
    made = log.compaction("All of it.", trigger="auto").ask("e").step().say("f").step().say("g").save()
    made.view([Span(0, 3, Verdict.SUMMARISED, Reason.COMPACTED, 3)])
    return made


def test_a_fold_leads_to_the_summary_that_stands_for_it(client: Client, made: Made) -> None:
    """The badge of what was summarised is a link to the compaction, at its step and at later ones."""
    address = made.url("/compactions/1")
    for step in (3, 4):
        page = read(client.get(made.url(f"/steps/{step}?show=left-out")))
        assert page.all("a", href=address)
        assert "summarised into #1" in page.text
    assert not read(client.get(made.url("/steps/2"))).all("a", class_="v summarised", href=address)


def test_an_item_leads_to_what_became_of_it(client: Client, made: Made) -> None:
    """A summarised item names its compaction in its life, and the summary itself says whose it is."""
    address = made.url("/compactions/1")
    assert read(client.get(made.url("/items/1"))).all("a", href=address)
    page = read(client.get(made.url("/items/4")))
    assert "the summary of compaction #1" in page.text
    assert not read(client.get(made.url("/items/6"))).all("a", href=address)


def test_in_a_view_of_a_policy_no_item_was_summarised_by_the_log(client: Client, made: Made) -> None:
    """There the log's own compactions did not happen, and chart and map lead to no page of them."""
    made.view([Span(0, 1, Verdict.SUMMARISED, Reason.COMPACTED, 3)], "last-n")
    address = made.url("/compactions/1")
    assert not read(client.get(made.url("/steps/3?view=last-n&show=left-out"))).all("a", href=address)
    for query, expected in (("", 2), ("?view=last-n", 0)):
        page = read(client.get(made.url(query)))
        assert sum("data-compaction" in one for one in page.all("canvas")) == expected
