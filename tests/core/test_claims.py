"""What a summary says that the user agreed to needs words of the user."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The user approved the migration", True),
        ("User has confirmed that the table may go", True),
        ("the client signed off on the design", True),
        ("The person gave permission to delete", True),
        ("asked the user; the tests were accepted by CI", False),
        ("wrote the confirmation page for users", False),
        ("approve the pull request", False),
    ],
)
def test_a_claim_in_another_list(text: str, claims: bool) -> None:
    """A decision that is told as the user's is a claim, too."""
    assert bool(claims_of(CompactResult(Sections(decisions=[Line(text)])))) == claims


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
