"""Two results beside each other."""

from contextlab.core.committing.comparing import LISTS, compare


def test_each_section_says_what_is_common_and_what_is_not():
    """Spacing, case and references to items make no difference."""
    first = {
        "goal": "ship it",
        "completed": ["Wrote  the parser", {"text": "ran tests", "items": ["r1"]}],
        "pending": [],
    }
    second = {
        "goal": "Ship it",
        "completed": [{"text": "wrote the parser", "items": []}],
        "read_files": ["a.py"],
    }
    found = {one.section: one for one in compare(first, second)}
    assert tuple(found) == ("goal", *LISTS)
    assert found["goal"].same
    assert (found["completed"].both, found["completed"].first) == (("Wrote  the parser",), ("ran tests",))
    assert found["read_files"].second == ("a.py",)
    assert found["pending"].same
