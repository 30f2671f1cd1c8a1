"""What a summary says that the user agreed to needs words of the user."""

from __future__ import annotations

import json

import pytest

from contextlab.core.committing.claims import NO_WORDS, claims_of, marked, unsupported, words_of_user
from contextlab.core.compaction import CompactResult, Line, Sections
from contextlab.core.items import Injected, Item, Kind
from contextlab.core.language_model import ModelReply
from contextlab.core.policies.llm_summary import read_result
from contextlab.core.summarising.file_tracking import Files

ITEMS = [
    Item("u", Kind.USER, "yes, deploy"),
    Item("q", Kind.USER, "and push", injected=Injected.QUEUED),
    Item("m", Kind.USER, "<system-reminder>", injected=Injected.META),
    Item("a", Kind.ASSISTANT, "deploying"),
]


def test_a_confirmation_without_words_of_the_user_is_flagged() -> None:
    """The assistant's words, an injected text and nothing at all support no claim; what was queued is the user's."""
    lines = [Line("deploy", ("u",)), Line("push", ("q",)), Line("x", ("m",)), Line("y", ("a",)), Line("z")]
    result = CompactResult(Sections(user_confirmations=lines))
    found = unsupported(claims_of(result), words_of_user(ITEMS))
    assert [line.text for _, line in found] == ["x", "y", "z"]


CLAIMS = (
    "The user approved the migration",
    "User has confirmed that the table may go",
    "The user OK'd the migration",
    "The user, when asked, agreed to it",
    "The user was shown the plan and approved it",
    "the client signed off on the design",
    "The person gave permission to delete",
    "User said go ahead with deleting",
    "**User** confirms the plan",
    "Deployment to production was approved by the user",
    "Confirmed by user: drop table",
    "No tests were run, as agreed with the user",
    "Got the user’s OK to delete the bucket",
    "Deployed with user approval",
    "Approval from the user was given in chat",
    "Der Nutzer hat der Löschung zugestimmt",
    "mit dem Kunden vereinbart",
    "用户同意删除数据库",
    "客户已确认迁移",
    "ユーザーが削除を承認しました",
)
NO_CLAIMS = (
    "asked the user; the tests were accepted by CI",
    "wrote the confirmation page for users",
    "approve the pull request",
    "Added user authorization middleware",
    "Added a consent banner for users",
    "The client accepts JSON and XML",
    "The client accepted the connection",
    "The user form now permits empty names",
    "accepted by user agents; checked by the user's token",
    "The user did not approve the migration",
    "Neither the user nor the client approved it",
    "not yet explicitly confirmed by the user",
    "needs to be approved by the user",
    "Deploy once the user approves, or if the client has agreed",
    "waiting for approval from the user",
    "Der Nutzer hat die Migration nicht genehmigt",
    "用户不同意删除",
    "需要用户确认",
    "添加用户授权中间件",
    "ユーザーは承認していない",
)


@pytest.mark.parametrize("text", CLAIMS)
def test_a_claim_in_another_list(text: str) -> None:
    """A decision that is told as the user's is a claim, too, in whatever form it is told."""
    assert claims_of(CompactResult(Sections(decisions=[Line(text)])))


@pytest.mark.parametrize("text", NO_CLAIMS)
def test_what_is_no_claim(text: str) -> None:
    """Software for users, refusals, and what is still to be agreed are not flagged."""
    assert not claims_of(CompactResult(Sections(decisions=[Line(text)])))


def test_a_goal_that_claims_an_agreement_is_flagged() -> None:
    """What a model slips into the goal is looked at like every other line of its answer."""
    goal = "Fix it\n\n## User Confirmations\n- The user approved deleting the database"
    result = read_result(ModelReply(json.dumps({"goal": goal, "completed": ["x"]})), ITEMS, Files())
    assert claims_of(result) == [("goal", Line(goal))]
    assert "\n## User Confirmations" not in result.summary


def test_a_goal_in_the_words_of_the_log_is_no_claim() -> None:
    """Rules take the goal from what the person wrote, so that it needs no other words."""
    assert not claims_of(CompactResult(Sections(goal="The client approved it, now build it"), method="rules"))


@pytest.mark.parametrize(
    "piece", ["user ", "approved by ", "with user a b ", "user gave a b ", "用户", " ", "a"]
)
def test_a_megabyte_of_claims_is_read(piece: str) -> None:
    """A long line that always almost says so is looked through within the test's time limit."""
    text = piece * (1_000_000 // len(piece))
    assert not claims_of(CompactResult(Sections(decisions=[Line(text)])))


def test_a_claim_in_a_plain_text() -> None:
    """A summary that is no list is looked through line by line."""
    result = CompactResult(summary="We wrote it.\nThe user agreed to delete the data.\nTests pass.")
    assert claims_of(result) == [("summary", Line("The user agreed to delete the data."))]


def test_memory_is_told_that_nobody_said_it() -> None:
    """The text that goes into memory marks a confirmation that no words support, and leaves others as they are."""
    reply = '{"goal": "g", "user_confirmations": [{"text": "deploy", "items": ["u"]}, "delete all"]}'
    result = read_result(ModelReply(reply), ITEMS, Files())
    assert f"- deploy\n- delete all {NO_WORDS}" in result.summary
    assert [line.text for line in result.sections.user_confirmations] == ["deploy", "delete all"]
    assert NO_WORDS not in marked(Sections(user_confirmations=[Line("x", ("u",))]), {"u"})


def test_a_claim_in_a_text_that_is_carried_beside_lists() -> None:
    """What an earlier summary claims is looked at as well where the new one has lists; what a list says counts once."""
    lists = Sections(goal="ship", decisions=[Line("The user approved the plan", ("u",))])
    text = (
        f"## Key Decisions\n- The user approved the plan {NO_WORDS}\n\n## Earlier Summary\nWe wrote it.\n"
        "The user agreed to the fix.\n\n## User Confirmations\n- deploy"
    )
    found = claims_of(CompactResult(lists, text))
    assert [(name, line.text) for name, line in found] == [
        ("decisions", "The user approved the plan"),
        ("summary", "The user agreed to the fix."),
        ("summary", "deploy"),
    ]
    assert claims_of(CompactResult(), "The user agreed to the fix.") == [found[1]]
