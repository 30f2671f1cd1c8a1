"""Summaries that no record marks: detected by their own words, never called recorded."""

from __future__ import annotations

import pytest

from contextlab.core.audit.detected import sign_of
from tests.core.audit.talks import Talk, agent, compact, user

REST = " The user wants the cart fixed. The cart is in src/cart.py and the port is 8433. Tests come next."


@pytest.mark.parametrize(
    "opening",
    [
        "This session is being continued from a previous conversation that ran out of context.",
        "Here is a summary of the conversation so far:",
        "Summary of our conversation:",
        "Previous conversation summary:",
        "[Conversation summary]",
        "# Context summary",
        "The conversation so far has been summarized as follows.",
        "<summary>",
        "Another language model started to solve this problem and produced a summary of its thinking process.",
        "以下是之前对话的摘要：",
        "到目前为止的对话总结",
        "これまでの会話の要約：",
        "Zusammenfassung des bisherigen Gesprächs:",
    ],
)
def test_a_message_that_says_it_is_a_summary(opening):
    """Its own words are the evidence."""
    assert sign_of(opening + REST)


@pytest.mark.parametrize(
    "text",
    [
        "Please write a summary of the conversation so far, at most 200 words, for my colleague in the other team.",
        "Add a summary of each chapter to the README and fix the links; the conversation about it is in the ticket.",
        "The summary page shows nothing since yesterday. Can you have a look at src/pages/summary.py and its tests?",
        "总结一下这个模块的功能，然后写到文档里，注意不要改代码，也不要改测试，更不要改配置文件，谢谢你的帮助，辛苦了。",
    ],
)
def test_a_message_that_speaks_of_summaries_is_none(text):
    """Asking for a summary is not one."""
    assert sign_of(text.ljust(120, ".")) == ""


def test_a_detected_compaction_has_a_ledger_and_says_detected():
    """A chat list with the summary in its middle: what stood before it was replaced."""
    talk = Talk(
        [
            user("The port is 8443."), agent("Fine."),
            user("This session is being continued from a previous conversation. Summary:" + REST), agent("I go on."),
        ]
    )  # fmt: skip
    one = talk.one()
    assert one.origin == "detected"
    assert "continued from a previous conversation" in one.evidence
    assert one.ledger.items == 2
    assert [(entry.fact.text, entry.became) for entry in one.ledger.entries if entry.became] == [
        ("port 8443", "8433")
    ]


def test_at_the_beginning_of_a_list_nothing_is_known_to_be_lost():
    """What the summary replaced is not in the list."""
    talk = Talk([user("Here is a summary of the conversation so far:" + REST), agent("I go on.")])
    one = talk.one()
    assert (one.origin, one.ledger.items, one.ledger.entries) == ("detected", 0, ())


def test_where_the_log_records_its_compactions_nothing_is_detected():
    """A record is worth more than words."""
    talk = Talk(
        [user("Hi."), compact("This session is being continued from a previous conversation." + REST)]
    )
    assert [one.origin for one in talk.audit().compactions] == ["recorded"]
