"""Vertices in order, each with the lowest colour that is free."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise import native
from reference import kernels as twin


@settings(deadline=None)
@given(st.integers(2, 60), st.integers(1, 400), st.integers(0, 2**32 - 1))
def test_the_kernel_equals_its_twin(n, n_edges, seed):
    rng = np.random.default_rng(seed)
    after = rng.integers(1, n, n_edges, dtype=np.int32)
    before = rng.integers(0, after, dtype=np.int32)
    colours = native.greedy_colours(before, after, n)
    np.testing.assert_array_equal(colours, twin.greedy_colours(before, after, n))
    assert (colours[before] != colours[after]).all()


def test_a_clique_needs_a_colour_for_each_and_a_star_two():
    before, after = (ends.astype(np.int32) for ends in np.triu_indices(50, 1))
    assert native.greedy_colours(before, after, 50).tolist() == list(range(50))
    star = np.arange(1, 50, dtype=np.int32)
    assert native.greedy_colours(np.zeros_like(star), star, 51).tolist() == [0] + [1] * 49 + [0]


ENDS = np.array([0, 1], np.int32)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: native.greedy_colours(ENDS.astype("i8"), ENDS + 1, 3), TypeError, "before .* int32, got"),
        (lambda: native.greedy_colours(ENDS, (ENDS + 1)[:1], 3), ValueError, r"after .* \(2\), got \(1,\)"),
        (lambda: native.greedy_colours(ENDS[:0], ENDS[:0], 3), ValueError, r"before .* \(≥1\), got \(0,\)"),
        (lambda: native.greedy_colours(ENDS, ENDS + 1, 2), ValueError, "a later one, 0 to 1"),
        (
            lambda: native.greedy_colours(ENDS, ENDS, 3),
            ValueError,
            "does not lead from a vertex to a later one",
        ),
        (lambda: native.greedy_colours(ENDS - 1, ENDS, 3), ValueError, "An edge does not lead"),
        (lambda: native.greedy_colours(ENDS, ENDS + 1, 0), ValueError, "n must be at least 1, got 0"),
    ],
)
def test_bad_arguments_raise_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()
