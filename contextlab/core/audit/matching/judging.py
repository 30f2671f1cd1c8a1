"""One fact judged against one text: which judge has which kind."""

from __future__ import annotations

from collections.abc import Callable

from contextlab.core.audit.matching.judgement import Case, Judgement
from contextlab.core.audit.matching.names import (
    judge_command,
    judge_commit,
    judge_error,
    judge_path,
    judge_path_line,
    judge_url,
    judge_word,
)
from contextlab.core.audit.matching.sentences import judge_sentence
from contextlab.core.audit.matching.values import judge_amount, judge_date, judge_setting, judge_version
from contextlab.core.audit.results import Fact, FactKind

Judge = Callable[[Case, Fact], Judgement]
_JUDGES: dict[FactKind, Judge] = {
    FactKind.PATH: judge_path,
    FactKind.PATH_LINE: judge_path_line,
    FactKind.URL: judge_url,
    FactKind.COMMAND: judge_command,
    FactKind.ERROR: judge_error,
    FactKind.IDENTIFIER: judge_word,
    FactKind.COMMIT: judge_commit,
    FactKind.TICKET: judge_word,
    FactKind.VERSION: judge_version,
    FactKind.PORT: judge_amount,
    FactKind.QUANTITY: judge_amount,
    FactKind.SETTING: judge_setting,
    FactKind.DECISION: judge_sentence,
    FactKind.OPEN_QUESTION: judge_sentence,
    FactKind.RULE: judge_sentence,
    FactKind.USER_CORRECTION: judge_sentence,
}


def judge(case: Case, fact: Fact) -> Judgement:
    """The verdict on a fact, with its place in the text."""
    if fact.kind == FactKind.QUANTITY and fact.subject == "date":
        return judge_date(case, fact)
    return _JUDGES[fact.kind](case, fact)
