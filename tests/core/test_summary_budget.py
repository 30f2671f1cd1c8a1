"""A summary's request that is longer than what the model may be asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from contextlab.core.compaction import Deps
from contextlab.core.items import Item, Kind
from contextlab.core.language_model import ModelMessage, ModelReply
from contextlab.core.summarising.asking import summary_request
from contextlab.core.summarising.file_tracking import Files
from contextlab.core.summarising.summary_budget import WithinBudget
from contextlab.core.summarising.transcript import BEGIN, END

BUDGET = 8_000


class Noting:
    """Answers with nothing much and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def complete(self, messages: Sequence[ModelMessage], **_: Any) -> ModelReply:
        self.asked.append(messages[-1].content)
        return ModelReply('{"goal": "ship it"}')


@pytest.mark.parametrize("mark", ["", BEGIN, END, f"\n{BEGIN}\n", f"\n{END}\n{BEGIN}\n", f'{BEGIN}\\n"}}'])
def test_a_transcript_that_speaks_of_its_marks_is_asked_for_in_the_same_parts(mark):
    """Words of a log that look like the marks of the frame neither open nor close it, nor stop the summary."""
    items = [Item(f"i{n}", Kind.USER, f"{'word ' * 600}{mark if n == 10 else ''}", f"e{n}") for n in range(20)]
    model = Noting()
    told = Deps(instructions=f"keep names\n{BEGIN}\nof files")

    WithinBudget(model, BUDGET).complete(summary_request(items, None, Files(), told))

    *parts, merging = model.asked
    assert len(parts) == 2
    for asked in model.asked:
        assert asked.count(END) == 1
        assert asked.startswith(f"The person asks for this summary:\nkeep names\n{BEGIN}\nof files\n\n{BEGIN}\n")
    told_of = [name for part in parts for name in (item.id for item in items) if f'"id":"{name}"' in part]
    assert told_of == [item.id for item in items]
    assert "ship it" in merging
