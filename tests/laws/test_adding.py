"""Laws of pairs that come one at a time: they cost and tell what the same pairs cost and tell together."""

import sys

import numpy as np
import pytest

import linkwise as lw
from laws.clustering import blobs
from registry import each_storable_learner
from session.session_examples import present

N_PAIRS = 16
RATES = [
    pytest.param(0, id="right"),
    pytest.param(None, id="estimated"),
    pytest.param(0.1, id="a tenth", marks=pytest.mark.slow(nightly=True)),
    pytest.param({"ann": 0.0, "": None}, id="by source", marks=pytest.mark.slow(nightly=True)),
]


def count_calls(action):
    """Count the calls of Python functions that an action takes: its work, on any machine."""
    n_calls = 0

    def count(frame, event, argument):
        nonlocal n_calls
        n_calls += event == "call"

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return n_calls


def draw_scattered(y, has_errors):
    """Draw pairs of rows that hardly share a row, with the person who names each."""
    rng = np.random.default_rng(0)
    pairs = rng.permutation(len(y))[: 2 * N_PAIRS].reshape(-1, 2)
    is_wrong = has_errors & (rng.random(N_PAIRS) < 0.1)
    for (first, second), wrong in zip(pairs.tolist(), is_wrong.tolist(), strict=True):
        kind = "must-link" if (y[first] == y[second]) != wrong else "cannot-link"
        yield first, second, kind, "ben" if wrong or first % 2 else "ann"


def read_all(session):
    """All that a session makes of its pairs."""
    return present(session), session.suspects, session.error_rates


@each_storable_learner
@pytest.mark.parametrize("rate", RATES)
def test_pairs_added_one_by_one_cost_and_tell_what_they_do_together(entry, rate, tmp_path):
    X, y = blobs(40, spread=6.0)

    def begin():
        return lw.Session(X, entry.make(random_state=0), error_rate=rate)

    single, together = begin(), begin()

    def add_pairs():
        for first, second, kind, person in draw_scattered(y, rate != 0):
            single.add(first, second, kind, source=person)
        return read_all(single)

    def combine_pairs():
        together.combine(tmp_path / "other.linkwise")
        return read_all(together)

    n_single = count_calls(add_pairs)
    single.save_copy(tmp_path / "other.linkwise")
    n_together = count_calls(combine_pairs)
    assert n_single <= 3 * n_together
    assert read_all(single) == read_all(together)
