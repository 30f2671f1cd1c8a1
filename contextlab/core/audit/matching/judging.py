"""One fact judged against one text: which judge has which kind."""

from __future__ import annotations

from collections.abc import Callable

from contextlab.core.audit.kinds import (
    COMMAND,
    COMMIT,
    DECISION,
    ERROR,
    IDENTIFIER,
    OPEN_QUESTION,
    PATH,
    PATH_LINE,
    PORT,
    QUANTITY,
    RULE,
    SETTING,
    TICKET,
    URL,
    USER_CORRECTION,
    VERSION,
)
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
    PATH: judge_path,
    PATH_LINE: judge_path_line,
    URL: judge_url,
    COMMAND: judge_command,
    ERROR: judge_error,
    IDENTIFIER: judge_word,
    COMMIT: judge_commit,
    TICKET: judge_word,
    VERSION: judge_version,
    PORT: judge_amount,
    QUANTITY: judge_amount,
    SETTING: judge_setting,
    DECISION: judge_sentence,
    OPEN_QUESTION: judge_sentence,
    RULE: judge_sentence,
    USER_CORRECTION: judge_sentence,
}


def judge(case: Case, fact: Fact) -> Judgement:
    """The verdict on a fact, with its place in the text."""
    if fact.kind == QUANTITY and fact.subject == "date":
        return judge_date(case, fact)
    return _JUDGES[fact.kind](case, fact)
