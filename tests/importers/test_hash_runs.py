"""What is remembered of the ids of a long log is what a dict would remember."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from contextlab.importers.hash_runs import HashRuns

HASHES = st.integers(-8, 8) | st.integers(-(2**63), 2**63 - 1)
NUMBERS = st.integers(0, 2**31 - 1) | st.integers(0, 2**63 - 1)


@given(st.lists(st.dictionaries(HASHES, NUMBERS, min_size=1, max_size=12), max_size=12))
def test_every_number_is_found_and_the_newer_one_counts(given_numbers):
    """However many are added at a time, large numbers among small ones, and though they rest as bytes meanwhile."""
    runs, expected = HashRuns(), {}
    assert not runs
    for numbers in given_numbers:
        runs.add(numbers)
        expected |= numbers
        runs = pickle.loads(pickle.dumps(runs, pickle.HIGHEST_PROTOCOL))
    assert {key: runs.get(key) for key in expected} == expected
    assert runs.get(9) == expected.get(9)
