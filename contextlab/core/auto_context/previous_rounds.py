"""Strategy 4: an earlier round becomes its question and a summary of everything after it.

| what    | rule                                                                                                     |
|---------|----------------------------------------------------------------------------------------------------------|
| where   | rounds that end before the last answer                                                                   |
| round   | a question (the last of several in a row) up to the answer: the last one before the next question        |
| content | something stands between question and answer; a summary alone behind a question is never done again      |
| size    | with the question at least min_compression_token_threshold                                               |
| safe    | nothing in it is fixed, and no pair leads out of it                                                      |
| how     | all such rounds, the newest first; the question stays, and is put aside together with the rest           |

Summaries of strategy 1 are no answers, so that a round which holds one is reduced too. A failure of the model undoes
the rounds that were done before it. Reference mode takes the first answer of a round, and any summary for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from contextlab.core.auto_context.estimate import tokens_of
from contextlab.core.auto_context.messages import View
from contextlab.core.auto_context.plan import without_plan_tools
from contextlab.core.auto_context.work import Change, Work
from contextlab.core.items import Reason
from contextlab.core.projection import NONE


class PreviousRounds:
    """Finished rounds, by a model."""

    change: ClassVar[Change] = Change(
        "previous_rounds", "PREVIOUS_ROUND_CONVERSATION_SUMMARY", Reason.STRATEGY_4, answers=True
    )
    needs_model: ClassVar[bool] = True

    def fires(self, work: Work) -> bool:
        """Whether there is a round to be reduced."""
        return next(_rounds(work), None) is not None

    def run(self, work: Work) -> bool:
        """Summarise the rounds, the newest first."""
        changed = False
        for whole in list(_rounds(work)):
            messages = work.view.messages[whole.start : whole.stop]
            written = work.ask(messages, self.change)
            replaced = range(whole.start + 1, whole.stop)
            changed = work.fold(replaced, written, self.change, whole) or changed
        return changed


def _rounds(work: Work) -> Iterator[range]:
    """From question to answer, the newest first."""
    view = work.view
    for question, answer in reversed(_pairs(view)):
        whole = range(question, answer + 1)
        messages = view.messages[question : answer + 1]
        if tokens_of(messages) < work.options.min_compression_token_threshold:
            continue
        if not view.safe or (
            not any(message.fixed for message in messages[1:])
            and without_plan_tools(messages[1:])
            and next(view.closed(question + 1, answer + 1), None) == whole[1:]
        ):
            yield whole


def _pairs(view: View) -> list[tuple[int, int]]:
    """Questions with their answers, where something stands between; the round of the last answer is not among them."""
    found: list[tuple[int, int]] = []
    question = answer = NONE
    for place in range(view.last(question=False)):
        message = view.messages[place]
        if message.is_question:
            _take(found, question, answer)
            question, answer = place, NONE
        elif message.is_answer and (view.safe or answer == NONE):
            answer = place
    if not view.safe:
        _take(found, question, answer)
    return found


def _take(found: list[tuple[int, int]], question: int, answer: int) -> None:
    if question != NONE and answer > question + 1:
        found.append((question, answer))
