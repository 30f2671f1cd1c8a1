"""What came of a loss: tied to the compaction, with the step and the item."""

from __future__ import annotations

import pytest

from contextlab.core.audit.results import ConsequenceKind, FactKind, Severity
from tests.core.audit.talks import Talk, agent, bash, call, compact, user

PATCH = "*** Begin Patch\n*** Update File: db/schema.sql\n@@\n-a\n+b\n*** End Patch"


def after(talk: Talk, kind: ConsequenceKind) -> list[tuple[str, str]]:
    """The fact and the text of each consequence of a kind."""
    return [
        (one.entry.fact.text, talk.texts[one.position]) for one in talk.one().consequences if one.kind == kind
    ]


@pytest.mark.parametrize(
    "breaking",
    [
        call("Edit", file_path="/home/me/shop/db/schema.sql", old_string="a", new_string="b"),
        call("Write", file_path="db/schema.sql", content="x"),
        call("apply_patch", input=PATCH),
        call("exec_command", cmd=["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]),
        call(
            "str_replace_based_edit_tool",
            command="str_replace",
            path="db/schema.sql",
            old_str="a",
            new_str="b",
        ),
        bash("sed -i 's/a/b/' db/schema.sql"),
        bash("echo x > db/schema.sql"),
    ],
)
def test_the_forbidden_file_is_edited(breaking):
    """Whatever tool does it, under whatever path."""
    talk = Talk(
        [user("Hi."), user("Never edit db/schema.sql."), agent("Ok."), compact("Work goes on."), breaking]
    )
    [(rule, _)] = after(talk, ConsequenceKind.RULE_BROKEN)
    assert rule == "Never edit db/schema.sql."
    [finding] = [one for one in talk.audit().findings if one.kind == "rule_broken"]
    assert finding.severity == Severity.HIGH
    assert finding.title.startswith("Rule lost at compaction 1, broken at step ")


@pytest.mark.parametrize(
    "harmless",
    [
        call("Read", file_path="db/schema.sql"),
        call("Edit", file_path="db/schema.sql.md", old_string="a", new_string="b"),
        bash("grep -n orders db/schema.sql"),
        bash("cat db/schema.sql"),
        agent("I leave db/schema.sql as it is."),
    ],
)
def test_reading_the_forbidden_file_breaks_nothing(harmless):
    """A rule against editing is not broken by looking."""
    talk = Talk([user("Hi."), user("Never edit db/schema.sql."), compact("Work goes on."), harmless])
    assert after(talk, ConsequenceKind.RULE_BROKEN) == []


def test_a_rule_that_was_kept_is_not_said_to_be_lost_and_broken():
    """Broken it may be; the compaction did not do it."""
    talk = Talk(
        [
            user("Never edit db/schema.sql."), agent("Ok."), compact("Rule: never edit db/schema.sql."),
            call("Edit", file_path="db/schema.sql", old_string="a", new_string="b"),
        ]
    )  # fmt: skip
    assert after(talk, ConsequenceKind.RULE_BROKEN) == []


def test_only_and_forbidden_commands():
    """An edit outside of what `only` allows, and a command that was forbidden."""
    talk = Talk(
        [
            user("Only change files in src/billing. Never run git push --force."), agent("Ok."),
            compact("Work goes on."),
            call("Edit", file_path="src/billing/tax.py", old_string="a", new_string="b"),
            call("Edit", file_path="src/cart.py", old_string="a", new_string="b"),
            bash("git push origin main --force"),
        ]
    )  # fmt: skip
    broken = [text for _, text in after(talk, ConsequenceKind.RULE_BROKEN)]
    assert len(broken) == 2
    assert "src/cart.py" in broken[0]
    assert "--force" in broken[1]


def test_the_user_says_it_again_and_what_follows_is_no_consequence():
    """From the correction on the agent knew: what it does then is not the compaction's."""
    talk = Talk(
        [
            user("Never edit db/schema.sql."), agent("Ok."), compact("Work goes on."),
            call("Edit", file_path="db/schema.sql", old_string="a", new_string="b"),
            user("I told you: never edit db/schema.sql!"),
            call("Edit", file_path="db/schema.sql", old_string="b", new_string="a"),
        ]
    )  # fmt: skip
    assert len(after(talk, ConsequenceKind.RULE_BROKEN)) == 1
    assert after(talk, ConsequenceKind.USER_REPEATED)[0][1].startswith("I told you")
    [finding] = [one for one in talk.audit().findings if one.kind == "rule_broken"]
    assert "corrected by the user at step " in finding.title
    assert talk.texts[finding.positions[0]].startswith("Never edit")


def test_a_file_is_read_again():
    """The tokens of its result were spent again."""
    talk = Talk(
        [
            call("Read", "line\n" * 400, file_path="/home/me/src/cart.py"), agent("I see."),
            compact("The cart was studied (src/cart.py)."),
            call("Read", "line\n" * 400, file_path="src/cart.py"),
            call("Read", "other", file_path="src/new.py"),
        ]
    )  # fmt: skip
    found = [one for one in talk.one().consequences if one.kind == ConsequenceKind.REREAD]
    assert [one.entry.fact.kind for one in found] == [FactKind.PATH]
    assert found[0].tokens == 500
    assert "1 file was read again after compaction 1: about 500 tokens" in [
        one.title for one in talk.audit().findings
    ]


def test_the_same_error_again():
    """Met before, not told, met again."""
    error = "Exit code 1\nE_LOCK_17: lock on table orders not released"
    talk = Talk(
        [bash("make a", error, failed=True), compact("Work goes on."), bash("make a", error, failed=True)]
    )
    assert after(talk, ConsequenceKind.SAME_ERROR)
    assert any(one.kind == "same_error" for one in talk.audit().findings)


def test_a_wrong_value_is_used_and_corrected():
    """Changed, used, corrected: one finding tells the story."""
    talk = Talk(
        [
            user("Staging is on port 8443."), agent("Ok."), compact("Staging is on port 8433."),
            bash("curl https://staging:8433/health", "refused"), user("It is 8443, as I said."),
        ]
    )  # fmt: skip
    [finding] = [one for one in talk.audit().findings if one.kind == "changed_value"]
    assert finding.title == (
        "port 8443 became 8433 at compaction 1, used at step 2, corrected by the user at the end"
    )
    assert finding.severity == Severity.HIGH


def test_a_dropped_ticket_is_used_while_nothing_said_it():
    """How can the model know it? Worth a look; not where an output had brought it back."""
    used = Talk([agent("Story OPS-1212."), compact("Work."), bash("git commit -m 'OPS-1212'")])
    assert after(used, ConsequenceKind.USED_UNSEEN)
    told = Talk(
        [
            agent("Story OPS-1212."),
            compact("Work."),
            bash("git log", "OPS-1212"),
            bash("git commit -m 'OPS-1212'"),
        ]
    )
    assert after(told, ConsequenceKind.USED_UNSEEN) == []


def test_consequences_end_where_the_next_compaction_begins():
    """Each is tied to the compaction that caused it."""
    talk = Talk(
        [
            user("Never edit db/schema.sql."), agent("Ok."), compact("Work goes on."), agent("More."),
            compact("Work went on."), call("Edit", file_path="db/schema.sql", old_string="a", new_string="b"),
        ]
    )  # fmt: skip
    first, second = talk.audit().compactions
    assert not [one for one in first.consequences if one.kind == ConsequenceKind.RULE_BROKEN]
    assert second.number == 2


def test_decay_over_three_compactions():
    """Of what left at the first compaction: how much the model could see after each."""
    facts = "OPS-1001, OPS-1002, OPS-1003 and OPS-1004"
    talk = Talk(
        [
            user(f"The tickets are {facts}."), agent("Ok."), compact("Tickets OPS-1001, OPS-1002, OPS-1003."),
            agent("More."), compact("Ticket OPS-1001."), agent("More."), compact("Nothing."),
        ]
    )  # fmt: skip
    [row] = [row for row in talk.audit().decay if row.kind == FactKind.TICKET and row.cohort == 1]
    assert (row.facts, row.surviving) == (4, (3, 1, 0))
