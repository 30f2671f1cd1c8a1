"""The kinds of facts under names of their own.

An attribute of an enumeration costs Python 3.11 five times what a name does, and a ledger asks for many.
"""

from __future__ import annotations

from typing import Final

from contextlab.core.audit.results import FactKind

PATH: Final = FactKind.PATH
PATH_LINE: Final = FactKind.PATH_LINE
URL: Final = FactKind.URL
COMMAND: Final = FactKind.COMMAND
ERROR: Final = FactKind.ERROR
IDENTIFIER: Final = FactKind.IDENTIFIER
COMMIT: Final = FactKind.COMMIT
TICKET: Final = FactKind.TICKET
VERSION: Final = FactKind.VERSION
PORT: Final = FactKind.PORT
QUANTITY: Final = FactKind.QUANTITY
SETTING: Final = FactKind.SETTING
DECISION: Final = FactKind.DECISION
OPEN_QUESTION: Final = FactKind.OPEN_QUESTION
RULE: Final = FactKind.RULE
USER_CORRECTION: Final = FactKind.USER_CORRECTION
ANY_PATH: Final = (PATH, PATH_LINE)
