"""What a person asks for: read, or refused with the place that is wrong."""

import pytest

from contextlab.services.compaction import BadRequest, read_request
from contextlab.services.compaction.requests import LONGEST_INSTRUCTIONS, read_key

STRUCTURED = {"version": 1, "name": "mine", "compaction": {"kind": "structured_summary", "max_items": 9}}


def test_a_document_is_read_with_all_that_goes_with_it():
    """Numbers may come as text, as forms send them."""
    values = {
        "policy": STRUCTURED,
        "before_step": "12",
        "keep_recent": "4",
        "pins": ["a", "b", "a"],
        "confirm": "on",
    }
    request = read_request({**values, "instructions": " keep ports \n"})
    assert (request.before_step, request.keep_recent, request.pins) == (12, 4, ("a", "b"))
    assert (request.instructions, request.confirm, request.view) == ("keep ports", True, "recorded")
    assert request.policy.document["compaction"] == {"kind": "structured_summary", "max_items": 4}


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"policy": "no-such-policy"}, "policy"),
        ({"policy": "keep-all"}, "policy"),
        ({"policy": {**STRUCTURED, "compaction": {"kind": "structured_summary", "maxItems": 1}}}, "policy"),
        ({"policy": 5}, "policy"),
        ({"before_step": 0}, "before_step"),
        ({"before_step": True}, "before_step"),
        ({"before_step": "1e9"}, "before_step"),
        ({"keep_recent": -1}, "keep_recent"),
        ({"pins": "u-1"}, "pins"),
        ({"pins": [""]}, "pins"),
        ({"pins": [str(number) for number in range(501)]}, "pins"),
        ({"instructions": "x" * (LONGEST_INSTRUCTIONS + 1)}, "instructions"),
        ({"instructions": "x" * 1_000_000}, "instructions"),
        ({"instructions": "a\x00b"}, "instructions"),
        ({"confirm": "perhaps"}, "confirm"),
        ({"polcy": "x"}, "polcy"),
        (["policy"], "body"),
    ],
)
def test_what_cannot_be_used_is_refused_by_its_name(values, place):
    """The error names the key that is wrong."""
    given = values if isinstance(values, list) or "policy" in values else {"policy": STRUCTURED, **values}
    with pytest.raises(BadRequest) as refused:
        read_request(given)
    assert refused.value.place == place


def test_a_key_is_short_and_printable():
    """An idempotency key goes into a column."""
    assert read_key("press-1") == "press-1"
    assert read_key("") is None
    for key in ("x" * 65, "é", "a\nb"):
        with pytest.raises(BadRequest):
            read_key(key)
