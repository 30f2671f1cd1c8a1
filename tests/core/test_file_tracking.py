"""Files that tools touched: told from names and arguments of calls."""

from __future__ import annotations

import json

import pytest

from contextlab.core import Item, Kind
from contextlab.core.compaction import CompactResult
from contextlab.core.summarising.file_tracking import Files, cumulative, files_of, name_parts


def call(tool: str, arguments: str) -> Item:
    """A call."""
    return Item("k", Kind.TOOL_CALL, arguments, tool=tool, call_id="c")


@pytest.mark.parametrize(
    ("tool", "read", "modified"),
    [
        ("Read", True, False),
        ("MultiEdit", False, True),
        ("str_replace_based_edit_tool", False, True),
        ("fs.readFile", True, False),
        ("mcp__fs__write-file", False, True),
        ("read_and_edit", True, True),
        ("confirm_order", False, False),
        ("thread_list", False, False),
        ("HTTPRead", True, False),
    ],
)
def test_words_of_a_name_say_what_a_tool_does(tool: str, read: bool, modified: bool) -> None:
    """A verb counts where it is a word of the name, not where it is part of one."""
    files = files_of([call(tool, '{"path": "/x.txt"}')])
    assert files == Files(["/x.txt"] if read else [], ["/x.txt"] if modified else [])


@pytest.mark.parametrize(
    "arguments",
    ["not json", "[1]", '{"path": 3}', '{"path": "plain"}', '{"command": "cat /x"}', "[" * 100_000, ""],
)
def test_what_names_no_path_names_no_file(arguments: str) -> None:
    """Arguments that are no object, or hold no path, name no file; command lines are not read."""
    assert files_of([call("read", arguments)]) == Files()


def test_arguments_may_be_json_in_json() -> None:
    """Some frameworks log the arguments as the text of a text."""
    assert files_of([call("read", json.dumps('{"file": "a.py"}'))]).read == ["a.py"]


def test_lists_grow_in_order_and_without_repeats() -> None:
    """What an earlier compaction knew comes first, each path once."""
    calls = [call("read", json.dumps({"path": path})) for path in ("b.py", "a.py", "b.py")]
    earlier = CompactResult(read_files=["z.py", "a.py"], modified_files=["m.py"])
    assert cumulative(earlier, files_of(calls)) == Files(["z.py", "a.py", "b.py"], ["m.py"])


def test_parts_of_names() -> None:
    """Names are split at marks and between words of camel case."""
    assert name_parts("mcp__fsServer__ReadTextFile2") == ["mcp", "fs", "server", "read", "text", "file"]
