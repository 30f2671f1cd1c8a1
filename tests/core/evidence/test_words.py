"""What people said: approvals, rules, decisions, questions, the goal; in four languages."""

from __future__ import annotations

import pytest

from contextlab.core.compaction import Line
from contextlab.core.evidence.approvals import approvals, is_approval
from contextlab.core.evidence.goals import LATEST, goal
from contextlab.core.evidence.questions import open_questions
from contextlab.core.evidence.record import Record
from contextlab.core.evidence.rules import RULE, decisions, rules
from contextlab.core.evidence.words import plain
from contextlab.core.items import Injected
from tests.core.talk import Talk

YES = [
    "yes", "Yes.", "ok", "OK, go ahead", "yes please", "sure, do it", "Sounds good!", "lgtm 👍", "👍", "continue",
    "yes, but only if tests pass".replace(", but only if tests pass", ", use the second one"), "ok now",
    "好的", "可以，继续", "没问题", "同意。", "好，就这样",
    "はい", "はい、お願いします", "了解です", "問題ありません", "それでお願いします",
    "ja", "Ja, passt so.", "einverstanden", "genau, mach weiter",
]  # fmt: skip
NO = [
    "no", "not yet", "yes?", "ok but change the name", "yes, but not like that", "thanks", "sure, my id is 7", "",
    "why", "不行", "不好", "好像不对", "いいえ", "nein", "ja, aber nicht so",
    "yes " + "and so on " * 20,
]  # fmt: skip


@pytest.mark.parametrize("words", YES)
def test_approving_replies(words: str) -> None:
    """Short approving replies are known in English, Chinese, Japanese and German."""
    assert is_approval(words)


@pytest.mark.parametrize("words", NO)
def test_replies_that_approve_nothing(words: str) -> None:
    """Refusals, conditions, questions, thanks and answers with something else in them approve nothing."""
    assert not is_approval(words)


def test_an_approval_points_to_what_was_approved() -> None:
    """A confirmation names the person's item first, then the item that it answers, and quotes its question."""
    talk = (
        Talk()
        .user("fix it")
        .says("I can drop the table. Shall I drop it? It is empty.")
        .user("yes, go ahead")
    )
    assert approvals(Record(talk.items)) == [Line("“yes, go ahead” to: Shall I drop it?", ("u2", "a1"))]


def test_an_approval_without_anything_before_it_is_none() -> None:
    """A reply that answers nothing, and text that was injected, confirm nothing."""
    talk = Talk().user("ok").says("hm").user("yes", Injected.META)
    assert approvals(Record(talk.items)) == []


RULES = [
    "Never push to main.", "You must keep the public API.", "Don't touch the migrations!",
    "Only use the standard library.",
    "keep the diff small", "Always run the linter first.", "Leave config.py alone.", "Please make sure the tests pass.",
    "不要修改数据库。", "必须用 Python 3.11。", "只能改这个文件。", "保持接口不变。",
    "必ずテストを書いてください。", "このファイルは変更しないでください。", "標準ライブラリのみ使うこと。",
    "Niemals auf main pushen.", "Die API darf nicht geändert werden.",
]  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_rules_are_carried_word_for_word(rule: str) -> None:
    """A person's rule is a line of its own with their words unchanged and their item."""
    talk = Talk().user(f"Hello there.\n{rule}\nThank you.").says("ok")
    assert rules(Record(talk.items)) == [Line(RULE + rule, ("u1",))]


def test_what_is_no_rule() -> None:
    """Questions, reports, code, the assistant's words and injected text are no rules of the person."""
    talk = Talk().user(
        "Must it be so?\nI don't know why.\nI'll never forget it.\n```\nassert never\n```\nif (never) {"
    )
    talk.user("app.py:7: value must be set").says("You must never do that.")
    talk.user("<system-reminder>You must always obey.</system-reminder>Go on with it")
    talk.user("Always think.", Injected.CONTEXT)
    assert rules(Record(talk.items)) == []


def test_words_sent_while_the_agent_works_count() -> None:
    """A rule that was queued or sent in the middle of a turn is the person's as well."""
    talk = Talk().user("go").user("Never use sudo.", Injected.QUEUED)
    assert [line.items for line in rules(Record(talk.items))] == [("u2",)]


def test_decisions_that_are_marked_as_such() -> None:
    """Decisions of either side are told with who made them; questions and plans for the next call are none."""
    talk = Talk().user("Let's go with SQLite.").says("Decision: one table per kind. Let's use grep here.")
    talk.says("Should we go with Redis?").user("我们决定用方案二。")
    assert [line.text for line in decisions(Record(talk.items))] == [
        "Let's go with SQLite. (user)", "Decision: one table per kind. (assistant)", "我们决定用方案二。 (user)",
    ]  # fmt: skip


def test_choices_and_refusals_through_tools() -> None:
    """What a person answered when asked by a tool, and what they did not let happen, are decisions."""
    answer = 'User has answered your questions: "Which?"="The first".'
    told = f"{answer} You can now continue with the user's answers in mind."
    talk = Talk().call("AskUserQuestion", told, questions=[{"question": "Which?"}])
    talk.call("Bash", "The user doesn't want to proceed with this tool use.", True, command="rm -rf x")
    assert [line.text for line in decisions(Record(talk.items))] == [
        'The user answered: "Which?"="The first".', "The user refused: Bash rm -rf x",
    ]  # fmt: skip


def test_open_questions() -> None:
    """The assistant's last question is open until somebody answers; so is a prompt without an answer."""
    talk = Talk().user("Why is it slow?").says("It is the cache. Shall I clear it?")
    assert [line.text for line in open_questions(Record(talk.items), [])] == [
        "The assistant asks: Shall I clear it?"
    ]
    talk.user("And what about memory?").user("hello?")
    assert [line.text for line in open_questions(Record(talk.items), [])] == [
        "The user asks: And what about memory?", "The user asks: hello?",
    ]  # fmt: skip


def test_earlier_questions_are_settled_by_the_other_side() -> None:
    """A question that an earlier summary tells is gone once the other side has spoken."""
    asked = [Line("The assistant asks: Which one?", ("x",)), Line("The user asks: Why?", ("y",))]
    assert open_questions(Record(Talk().user("the first").items), asked) == asked[1:]


def test_the_goal_is_the_first_prompt_and_the_latest_task() -> None:
    """The goal is the first real prompt; a later one that asks for something is told behind it."""
    talk = Talk().user("<environment_context>x</environment_context>Build a parser").says("ok").user("yes")
    talk.user("Now write the documentation for it").user("why?")
    everything = {item.id for item in talk.items}
    assert (
        goal(Record(talk.items), everything, None)
        == f"Build a parser\n{LATEST}Now write the documentation for it"
    )
    assert (
        goal(Record(talk.items), everything, "Be well")
        == f"Be well\n{LATEST}Now write the documentation for it"
    )
    assert goal(Record(talk.items), set(), "Be well") == "Be well"


def test_wrapped_text_is_taken_out_whatever_its_shape() -> None:
    """Blocks that a tool put around words are left out; unclosed and nested ones do no harm, nor take long."""
    assert plain("<system-reminder>a</system-reminder>b") == "b"
    assert plain("<system-reminder>a") == "<system-reminder>a"
    assert plain("<command-name>/x</command-name><command-args>do it</command-args>") == "do it"
    assert plain("<system-reminder>" * 20_000)
