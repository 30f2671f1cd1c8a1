"""The ledger: what left, what became of it, where the summary says so."""

from __future__ import annotations

import pytest

from contextlab.core.audit.results import FactKind, FactVerdict
from tests.core.audit.talks import (
    CLEAR,
    SEALED,
    Talk,
    agent,
    bash,
    call,
    changes,
    compact,
    entries,
    ledger,
    preview,
    user,
    verdicts,
)


@pytest.mark.parametrize(
    ("said", "told", "was", "became"),
    [
        (user("The proxy listens on port 3128."), "The proxy is on port 3182.", "3128", "3182"),
        (agent("Jobs get 3 attempts."), "Jobs get 5 attempts.", "3 attempts", "5 attempts"),
        (agent("Jobs get three attempts."), "Jobs get 5 attempts.", "three attempts", "5 attempts"),
        (agent("max_retries = 3 for jobs"), "Jobs are retried with max_retries = 8.", "max_retries = 3", "8"),
        (agent("The fault came with commit 4be81d0."), "Commit 4be18d0 brought the fault.", "4be81d0", "4be18d0"),
        (user("See SHOP-1482 for the story."), "Story: SHOP-1428", "SHOP-1482", "SHOP-1428"),
        (agent("It fails at src/cart.py:118."), "It fails at src/cart.py:181.", "src/cart.py:118", "181"),
        (agent("Pinned: acme-billing==2.7.1"), "acme-billing==2.1.7 is pinned.", "2.7.1", "2.1.7"),
        (user("Postgres 15.4 is what we have."), "Postgres 16.4 is in use.", "Postgres 15.4", "16.4"),
        (agent("We see E_QUOTA_412 there."), "E_QUOTA_421 appears there.", "E_QUOTA_412", "E_QUOTA_421"),
        (agent("Docs: https://docs.example.com/v2/api"), "https://docs.example.com/v3/api", "v2/api", "v3/api"),
        (agent("LOG_LEVEL=warning for the worker"), "The worker has LOG_LEVEL=debug.", "LOG_LEVEL", "debug"),
        (user("Use deploy/region-eu1.yaml for it."), "deploy/region-eu2.yaml is used.", "region-eu1", "region-eu2"),
        (user("回调最多重试3次。"), "回调重试5次。", "3次", "5次"),
        (user("再試行は最大3回です。"), "再試行は5回。", "3回", "5回"),
    ],
)  # fmt: skip
def test_a_value_that_the_summary_changed(said, told, was, became):
    """Same subject, other value: found, with the right and the wrong one and the place."""
    done = ledger(user("Hello, please help me."), said, agent("Good."), summary=f"Summary:\n\n- {told}\n")
    found = [entry for entry in done.entries if entry.verdict == FactVerdict.CHANGED]
    assert found, [(entry.fact.kind, entry.fact.text, entry.verdict) for entry in done.entries]
    assert any(was in entry.fact.text and became in str(entry.became) for entry in found)
    assert all(entry.place is not None and entry.place.line == 3 for entry in found)
    assert done.entries[0].verdict == FactVerdict.CHANGED, "a change outranks what was merely lost"


def test_kept_dropped_and_partial():
    """A file with its line, told without it; an error told; a ticket not told."""
    done = ledger(
        agent("The race is at src/orders/queue.py:77, ticket OPS-12."),
        bash("make test", "ERROR E_LOCK_17: lock not released", failed=True),
        summary="The race in src/orders/queue.py leads to E_LOCK_17.",
    )
    assert verdicts(done, "src/orders/queue.py", FactKind.PATH) == {"kept"}
    assert verdicts(done, "queue.py:77", FactKind.PATH_LINE) == {"partial"}
    assert verdicts(done, "E_LOCK_17") == {"kept"}
    assert verdicts(done, "OPS-12") == {"dropped"}


def test_places_point_into_the_summary():
    """A verdict shows the words of the summary that it rests on."""
    summary = "First line.\nThe fault is in src/shop/cart.py now."
    done = ledger(agent("I look at src/shop/cart.py."), summary=summary)
    [entry] = entries(done, "cart.py", FactKind.PATH)
    assert entry.place is not None
    assert summary[entry.place.start : entry.place.end] == "src/shop/cart.py"
    assert entry.place.line == 2


def test_what_still_stands_in_a_kept_item_is_kept():
    """The summary is silent, but the model can still read the prompt."""
    talk = Talk(
        [
            user("Never edit db/schema.sql, port 8443."),
            agent("Understood: port 8443, OPS-12."),
            compact("Work went on."),
        ],
        keeps=("i1",),
    )
    of = talk.one().ledger
    assert verdicts(of, "OPS-12") == {"dropped"}
    [port] = entries(of, "8443", FactKind.PORT)
    assert (port.verdict, port.visible_at) == (FactVerdict.KEPT, 0)
    assert of.items == 1


def test_a_summary_that_cannot_be_read_is_never_called_a_loss():
    """Encrypted: cannot be told, unless a kept item says it."""
    talk = Talk([user("Use port 8443."), agent("OPS-12 is done, port 8443 works."), SEALED], keeps=("i1",))
    of = talk.one().ledger
    assert verdicts(of, "OPS-12") == {"cannot_tell"}
    assert verdicts(of, "8443") == {"kept"}
    assert of.count(FactVerdict.DROPPED) == of.count(FactVerdict.CHANGED) == 0


def test_a_lost_rule_outranks_a_lost_timestamp():
    """Weights put first what a person must see."""
    done = ledger(
        agent("On 2026-11-16 we looked at src/a.py and at 12 rows."),
        user("Never commit to main."),
        summary="Nothing of interest.",
    )
    assert done.entries[0].fact.kind == FactKind.RULE
    dates = [entry.fact.weight for entry in done.entries if entry.fact.subject == "date"]
    assert all(weight < done.entries[0].fact.weight / 3 for weight in dates)


def test_noise_is_counted_and_not_listed():
    """500 numbers of outputs make no list of 500."""
    lines = "\n".join(f"row {at}: took {at * 7} ms, {at} items, id={at * 31}" for at in range(500))
    said = [
        step
        for at in range(20)
        for step in (agent(f"Batch {at} took {at}.5 s with {at} rows."), bash("run", lines))
    ]
    done = ledger(*said, summary="All batches ran.")
    assert len(done.entries) < 40
    listed = len(done.entries)
    counted = sum(count for _, _, count in done.counts)
    assert counted == listed + sum(one.count for one in done.folded)


def test_what_comes_back_later_is_resupplied():
    """A dropped ticket that an output names again; the place is told."""
    talk = Talk(
        [
            agent("The story is OPS-1212."), compact("Work went on."), bash("git log", "abc OPS-1212 fix the queue"),
        ]
    )  # fmt: skip
    [entry] = entries(talk.one().ledger, "OPS-1212")
    assert entry.verdict == FactVerdict.RESUPPLIED
    assert talk.texts[entry.resupplied_at or 0].startswith("abc OPS-1212")


def test_a_micro_compaction_has_a_ledger_of_its_own():
    """What the cleared results said, against all that stayed."""
    talk = Talk(
        [
            bash("cat notes", "ticket OPS-1212 and https://x.example.com/a"), agent("OPS-1212 it is."), CLEAR,
            agent("Go on."),
        ]
    )  # fmt: skip
    [one] = talk.audit().compactions
    assert one.micro
    assert one.ledger.items == 1
    assert verdicts(one.ledger, "OPS-1212") <= {"kept"}
    assert one.ledger.count(FactVerdict.CANNOT_TELL) == 0


def test_the_ledger_of_a_projection_needs_no_summary():
    """What a step cannot see: kept where something in view says it, else dropped."""
    done = preview(user("Port 8443, see OPS-12."), agent("Port 8443 works."), stayed=[1])
    assert verdicts(done, "8443", FactKind.PORT) == {"kept"}
    assert verdicts(done, "OPS-12") == {"dropped"}


def test_the_ledger_of_a_compaction_that_is_not_made_yet():
    """A person sees what a draft would lose, before it counts."""
    said = (user("Never edit db/schema.sql."), agent("The port is 8443."))
    first = preview(*said, summary="The port is 8433.")
    assert changes(first) == [("port 8443", "8433")]
    assert verdicts(first, "schema", FactKind.RULE) == {"dropped"}
    again = preview(*said, stayed=[0], summary="The port is 8443.")
    assert changes(again) == []
    assert not entries(again, "schema", FactKind.RULE), "a pinned item did not leave"


def test_commands_and_how_they_ended():
    """A failed command is a fact with its exit code; another code in the summary is a change."""
    done = ledger(
        bash("make integration-tests", "Exit code 2\nError: database is locked", failed=True),
        summary="`make integration-tests` ended with exit code 3.",
    )
    assert ("make integration-tests (exit 2)", "exit code 3") in changes(done)


def test_the_last_question_stays_open():
    """What nobody answered is told; what was answered is not."""
    done = ledger(
        user("Is it slow?"), agent("Yes. Shall I add an index on orders(created_at)?"), summary="It is slow."
    )
    [entry] = [entry for entry in done.entries if entry.fact.kind == FactKind.OPEN_QUESTION]
    assert "index on orders" in entry.fact.text
    assert entry.verdict == FactVerdict.DROPPED


def test_decisions_and_corrections():
    """Whoever decided, and what the person put right."""
    done = ledger(
        user("Which queue?"),
        agent("We decided to use `redis-streams` for the queue."),
        user("No, that is wrong: the topic is called `orders.v2`."),
        summary="The queue is built.",
    )
    assert verdicts(done, "redis-streams", FactKind.DECISION) == {"dropped"}
    assert verdicts(done, "orders.v2", FactKind.USER_CORRECTION) == {"dropped"}


def test_the_same_input_gives_the_same_ledger():
    """Nothing depends on the order of sets, the clock or chance."""
    said = (
        user("Use port 8443, 3 attempts, OPS-12, src/a.py:3."),
        call("Read", "x", file_path="/home/a/src/a.py"),
    )
    assert ledger(*said, summary="Port 8433.") == ledger(*said, summary="Port 8433.")


def test_mixed_encodings_do_no_harm():
    """Broken and strange characters are text like any other."""
    strange = "caf\ufffd \ud800 \x00 \u202e ﷽ port 8443 端口８４４３ 👩‍👩‍👧 migrations/é.sql"
    done = ledger(user(strange), summary="port 8433 \ud800\x00")
    assert ("port 8443", "8433") in changes(done)


def test_a_rule_to_keep_something_is_not_kept_by_its_removal():
    """The object alone does not do: it was removed."""
    done = ledger(user("Keep `export_v1` as it is."), summary="export_v1 was removed, no other caller.")
    assert verdicts(done, "export_v1", FactKind.RULE) == {"partial"}
