"""What looks like a changed value and is none: nobody may be sent after it."""

from __future__ import annotations

import pytest

from contextlab.core.audit.results import FactKind
from tests.core.audit.talks import agent, bash, changes, entries, ledger, user, verdicts


def test_a_value_that_was_updated_before_the_compaction_is_not_changed():
    """The summary tells the newest value; the older one was overtaken, not lost."""
    done = ledger(
        user("The upload timeout is 20 seconds."),
        user("Raise the upload timeout to 75 seconds, 20 was too short."),
        summary="The upload timeout is 75 seconds.",
    )
    assert changes(done) == []
    assert done.superseded >= 1
    assert verdicts(done, "75") == {"kept"}


def test_a_setting_that_was_set_again_is_not_changed():
    """Of a name with two values in turn the last counts."""
    done = ledger(
        agent("I set WORKER_COUNT=4 in the unit file."),
        agent("Still slow, so WORKER_COUNT=12 now."),
        summary="- WORKER_COUNT=12",
    )
    assert changes(done) == []
    assert verdicts(done, "WORKER_COUNT=12") == {"kept"}


def test_the_older_value_in_a_summary_is_a_change():
    """What was overtaken must not come back as if it held."""
    done = ledger(
        agent("I set WORKER_COUNT=4 in the unit file."),
        agent("Still slow, so WORKER_COUNT=12 now."),
        summary="- WORKER_COUNT=4",
    )
    assert changes(done) == [("WORKER_COUNT=12", "4")]


def test_the_same_number_for_two_subjects():
    """3 for uploads and 5 for downloads: telling one of them changes nothing."""
    done = ledger(
        user("Uploads get 3 attempts before we give up."),
        user("Downloads get 5 attempts before we give up."),
        summary="Downloads get 5 attempts.",
    )
    assert changes(done) == []


def test_two_ports_of_one_host():
    """A host may have many ports: telling one is no change of the other."""
    done = ledger(
        agent("The API listens on localhost:8000, the admin pages on localhost:8001."),
        summary="Admin pages: localhost:8001",
    )
    assert changes(done) == []
    assert verdicts(done, "8001", FactKind.PORT) == {"kept"}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The lease of the worker lasts 90 minutes.", "The lease of the worker lasts 1.5 hours."),
        ("The lease of the worker lasts 90 minutes.", "The worker's lease: 5400 s."),
        ("The poll interval is 2500 ms.", "The poll interval is 2.5 seconds."),
        ("The bundle may have 3 MB.", "The bundle may have 3072 KB."),
        ("session_ttl_seconds = 1800", "The session TTL is 30 minutes (session_ttl_seconds)."),
    ],
)
def test_converted_units(said, told):
    """One length of time or size in two units is one value."""
    assert changes(ledger(agent(said), summary=told)) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The table has 1,250,000 rows.", "The table has 1250000 rows."),
        ("The table has 1_250_000 rows.", "The table has 1,250,000 rows."),
        ("The table has 1,903,211 rows.", "The table has about 1.9 million rows."),
        ("Die Tabelle hat 2,5 Prozent tote Zeilen.", "The table has 2.5 % dead rows."),
        ("端口是８０８０。", "端口 8080。"),
    ],
)
def test_thousands_decimals_and_wide_figures(said, told):
    """Separators and rounding are ways of writing."""
    assert changes(ledger(user(said), summary=told)) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("We run Gateway v3.14.2.", "Gateway 3.14.2 is what we run."),
        ("The project needs Python 3.12.", "Needs Python 3.12.7."),
        ("release 2.3.0 has the fault", "The fault is in v2.3.0."),
    ],
)
def test_version_prefixes(said, told):
    """A v before a version, or a part more or less, is no other version."""
    assert changes(ledger(user(said), summary=told)) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The freeze begins on 2026-11-16.", "The freeze begins on 16 November 2026."),
        ("The freeze begins on Nov 16, 2026.", "Freeze from 2026-11-16."),
        ("The freeze begins on 2026-11-16.", "Freeze: 11/16/2026"),
        ("The freeze begins on 2026-11-16.", "冻结从2026年11月16日开始。"),
    ],
)
def test_dates_in_two_formats(said, told):
    """A date is a date."""
    done = ledger(user(said), summary=told)
    assert changes(done) == []


def test_one_file_by_two_paths_is_one_fact():
    """Absolute and relative, with and without a leading dot."""
    done = ledger(
        bash("pytest /home/dev/shop/tests/test_cart.py -q", "3 passed"),
        agent("tests/test_cart.py passes. I look at ./tests/test_cart.py again."),
        summary="tests/test_cart.py passes.",
    )
    assert len(entries(done, "test_cart.py", FactKind.PATH)) == 1
    assert verdicts(done, "test_cart.py", FactKind.PATH) == {"kept"}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Never edit db/schema.sql by hand.", "db/schema.sql is off limits for manual edits."),
        ("Never edit db/schema.sql by hand.", "请勿手工修改 db/schema.sql。"),
        ("Never edit db/schema.sql by hand.", "db/schema.sql は手で編集しない。"),
        ("不要修改 db/schema.sql。", "Leave db/schema.sql alone."),
        ("db/schema.sql は絶対に編集しないでください。", "Do not touch db/schema.sql."),
        ("Keep `Cart.total` as it is.", "The user wants Cart.total unchanged."),
        ("Do not add any new dependencies.", "No additional dependency may be introduced."),
        ("不要新增依赖。", "No new dependencies may be added."),
        (
            "Bitte ändere die Datei db/schema.sql niemals von Hand.",
            "db/schema.sql must not be changed by hand.",
        ),
    ],
)
def test_a_rule_that_is_translated_or_paraphrased_is_kept(said, told):
    """A rule is judged by its object, in whatever words."""
    done = ledger(user("Hello."), user(said), summary=f"The user asked for help.\n- {told}")
    [entry] = [entry for entry in done.entries if entry.fact.kind == FactKind.RULE]
    assert entry.verdict == "kept"
    assert entry.place is not None


@pytest.mark.parametrize(
    "back",
    [
        "You may edit scripts/release.sh now.",
        "Forget what I said about scripts/release.sh, the freeze is over.",
        "scripts/release.sh は編集してもいいです。",
        "现在可以修改 scripts/release.sh 了。",
    ],
)
def test_a_rule_that_was_taken_back_is_not_lost(back):
    """Who withdraws a rule does not want to be told that it is gone."""
    done = ledger(
        user("Never touch scripts/release.sh."), agent("Understood."), user(back), summary="We looked around."
    )
    assert [
        entry for entry in done.entries if entry.fact.kind == FactKind.RULE and entry.verdict == "dropped"
    ] == []
    assert done.superseded >= 1


def test_numbers_that_come_and_go_while_people_work():
    """Counts of tests and durations are new each time."""
    done = ledger(
        agent("12 tests pass now, in 4.21 seconds."),
        agent("Of 30 files 6 are done."),
        summary="47 tests pass, in 9.8 seconds. 11 files are done. Next is step 4.",
    )
    assert changes(done) == []


def test_a_number_that_only_a_long_result_had_is_known():
    """What the summary says may come from an output that is not read for facts."""
    table = "\n".join(
        f"shard {at}: replicas {at % 7}, lag {at * 13} ms, port {7000 + at}" for at in range(200)
    )
    done = ledger(
        agent("The cluster has its shards on port 7001."),
        bash("cluster status", table),
        summary="Shard 130 of the cluster is on port 7130.",
    )
    assert changes(done) == []
