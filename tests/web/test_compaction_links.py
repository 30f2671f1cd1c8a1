"""From wherever a compaction shows to its own page, and back."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

import pytest
from django.test import Client

from contextlab.core.items import Reason, Verdict
from contextlab.core.spans import Span
from contextlab.store.models import Run, Session, View
from tests.services.compaction.doing import asked, done
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log
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


@pytest.fixture
def session(tmp_path: Any) -> Session:
    """A session with a compaction of its log, and a branch that was compacted twice, once with nothing to do, and
    once without an end."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    session = import_well(path)
    done(asked(session, before_step=12, policy="rule-based", keep_recent=8))
    done(asked(session, view="branch-1", policy="rule-based", keep_recent=2))
    assert done(asked(session, view="branch-1", policy="rule-based", keep_recent=90)).run.state == "noop"
    failed = asked(session, view="branch-1", policy="rule-based", keep_recent=3, instructions="x" * 2_000)
    Run.objects.filter(pk=failed.pk).update(state="failed", error="The worker died three times.")
    return session


def test_every_link_about_a_sessions_compactions_leads_to_a_page(client: Client, session: Session) -> None:
    """Whatever is pressed on the lineage, on a compaction or on a memory, something opens."""
    at = f"/sessions/{session.uid}"
    runs = [f"/compactions/{run.uid}" for run in Run.objects.filter(kind="compact")]
    memories = [f"{at}/memory?branch=branch-1&version={version}" for version in (1, 2, 3)]
    followed = set()
    for page in (f"{at}/compactions", f"{at}/compactions/1", *runs, *memories):
        for link in read(client.get(page)).all("a"):
            address = urljoin(page, link["href"])
            if address not in followed:
                assert (address, client.get(address, follow=True).status_code) == (address, 200)
            followed.add(address)
    assert f"{at}/compact?view=branch-1" in followed
    assert (
        len([one for one in followed if one.startswith(f"{at}/compact?policy=") and "view=branch-1" in one])
        == 2
    )


def test_the_form_reads_the_memory_that_its_address_names(client: Client, session: Session) -> None:
    """However many branches are newer, and no other memory stands there in the place of one that is gone."""
    many = [
        View(session=session, kind=View.Kind.BRANCH, name=f"branch-{number}", base=session.views.first())
        for number in range(2, 70)
    ]
    View.objects.bulk_create(many)
    at = f"/sessions/{session.uid}/compact"
    assert read(client.get(f"{at}?view=branch-1")).all("option", value="branch-1", selected="")
    for name in ("branch-99", "branch-1%00", "nobody"):
        assert client.get(f"{at}?view={name}").status_code == 404
    assert "Nothing was named" in read(client.get(f"{at}/line?view=branch-1")).text


def test_beside_means_the_memory_that_was_read(client: Client, session: Session) -> None:
    """It is offered where that memory can be read again: a branch has gone on to what the compaction made of it."""
    offered = [
        "Compact beside it" in read(client.get(f"/compactions/{run.uid}")).text
        for run in Run.objects.filter(kind="compact").order_by("id")
    ]
    assert offered == [True, False, False, False]
