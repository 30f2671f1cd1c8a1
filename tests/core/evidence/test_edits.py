"""Changed files with counts, from the editing tools of several agents."""

from __future__ import annotations

from contextlab.core.compaction import Line
from contextlab.core.evidence.edits import changed_artifacts
from contextlab.core.evidence.record import Record
from tests.core.talk import Talk

PATCH = """*** Begin Patch
*** Update File: src/a.py
@@
-old
+new
+more
*** Add File: src/b.py
+line
*** Delete File: src/c.py
*** Update File: src/d.py
*** Move to: src/e.py
*** End Patch"""


def told(talk: Talk, *earlier: Line) -> list[str]:
    """The lines' texts."""
    return [line.text for line in changed_artifacts(Record(talk.items), list(earlier))]


def test_edits_and_whole_files() -> None:
    """Written files and edits are counted by file, with lines added and removed and the calls that did it."""
    talk = (
        Talk()
        .call("Write", file_path="/a", content="1\n2\n")
        .call("Edit", file_path="/a", old_string="1", new_string="x\ny")
    )
    talk.call(
        "MultiEdit",
        file_path="/b",
        edits=[{"old_string": "p", "new_string": "q"}, {"old_string": "r", "new_string": ""}],
    )
    lines = changed_artifacts(Record(talk.items), [])
    assert [line.text for line in lines] == ["/a (written, 1 edit, +4 −1 lines)", "/b (2 edits, +1 −2 lines)"]
    assert lines[0].items == ("c1", "c2")


def test_patches() -> None:
    """Each file of a patch is counted, whether the patch is the arguments, in them, or in a shell command."""
    wanted = ["src/a.py (1 edit, +2 −1 lines)", "src/b.py (written, +1 −0 lines)", "src/c.py (deleted)",
              "src/d.py (1 edit, moved to src/e.py)"]  # fmt: skip
    assert told(Talk().raw("apply_patch", PATCH)) == wanted
    assert told(Talk().call("apply_patch", input=PATCH)) == wanted
    assert told(Talk().shell(f"apply_patch <<'EOF'\n{PATCH}\nEOF")) == wanted


def test_editors_with_commands() -> None:
    """An editor that takes its action as an argument changes files by some of its actions only."""
    talk = (
        Talk()
        .call("str_replace_editor", command="view", path="/a")
        .call("str_replace_editor", command="create", path="/a", file_text="x")
    )
    talk.call("str_replace_editor", command="str_replace", path="/a", old_str="x", new_str="y")
    assert told(talk) == ["/a (written, 1 edit, +2 −1 lines)"]


def test_calls_that_failed_change_nothing() -> None:
    """Errors, refusals, missing results and readers are not counted."""
    talk = Talk().call("Edit", "no match", True, file_path="/a", old_string="x", new_string="y")
    talk.call("Write", None, file_path="/a", content="x").call("Read", file_path="/a")
    talk.call("apply_patch", "Exit code: 1\nfailed", input=PATCH)
    assert told(talk) == []


def test_counts_go_on_from_an_earlier_summary() -> None:
    """What an earlier summary counted is added up; a line of another's making is a path."""
    talk = Talk().call("Edit", file_path="/a", old_string="1", new_string="2")
    assert told(talk, Line("/a (written, 2 edits, +7 −3 lines)", ("x",)), Line("/z", ("y",))) == [
        "/z", "/a (written, 3 edits, +8 −4 lines)",
    ]  # fmt: skip
