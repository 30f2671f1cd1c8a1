"""Arguments of calls are read from what logs have of them, and what is read can be stored and sent."""

from __future__ import annotations

import pytest

from contextlab.core import Kind
from contextlab.core.call_arguments import arguments_of
from contextlab.core.compaction import Deps, Snapshot
from contextlab.core.policies.rule_based import RuleBased
from contextlab.core.protocol import export
from contextlab.core.summarising.file_tracking import files_of
from contextlab.core.wire.conversation import ExportItem
from tests.core.talk import Talk
from tests.support.odd_escapes import ARGUMENTS, TOOLS


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (r'{"a": "\ud83d\ude00 \u00e9"}', {"a": "😀 é"}),
        (
            r'{"a": "\ud83d", "\udc00": ["\u0000", {"b": "\ude00\ud83d"}]}',
            {"a": "�", "�": ["␀", {"b": "��"}]},
        ),
        (r'{"a": "\\ud83d"}', {"a": r"\ud83d"}),
        (r'"{\"a\": \"\\ud83d\"}"', {"a": "�"}),
        ('{"a": "\ud83d"}', {"a": "�"}),
        ("[1]", {}),
        ("{" * 100_000, {}),
        ('{"a": "\\u0000", "b": ' + "[" * 900 + "]" * 900 + "}", None),
    ],
)
def test_what_is_read_can_be_stored(text: str, arguments: dict[str, object] | None) -> None:
    """Half characters and NULs are shown by a mark, whole characters as they are, and no text of a log raises."""
    found = arguments_of(text)
    if arguments is not None:
        assert found == arguments


def test_a_summary_by_rules_can_be_stored() -> None:
    """A command with half a character in it is told in the summary and in the lists of files, with a mark for it."""
    talk = Talk().user("Look at the bytes.")
    for tool, text in zip(TOOLS, ARGUMENTS, strict=True):
        talk.raw(tool, text, "Exit code: 1\nerror: bad" if tool == "Bash" else "ok")
    snapshot = Snapshot(tuple(talk.says("Done.").user("And now?").says("Nothing.").items))
    result = RuleBased(keep_recent=2).compact(snapshot, Deps()).result
    assert result is not None
    assert "printf � ␀ | xxd" in result.summary
    assert result.summary.encode().decode() == result.summary
    assert files_of(talk.items).read == ["src/�.py"]
    assert files_of(talk.items).modified == ["src/�␀.py"]


def test_a_request_with_half_a_character_can_be_sent() -> None:
    """What goes to Anthropic, where arguments are an object, can be written as UTF-8."""
    items = [
        ExportItem("u", Kind.USER, "Go"),
        ExportItem("k", Kind.TOOL_CALL, ARGUMENTS[0], tool="Bash", call_id="c"),
        ExportItem("r", Kind.TOOL_RESULT, "ok", call_id="c"),
    ]
    document = export(items, "anthropic").document
    assert document["messages"][1]["content"][0]["input"] == {"command": "printf � \0 | xxd"}
