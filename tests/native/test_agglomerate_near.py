"""Average linkage where most rows are equally far apart, against that of the whole table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from linkwise import native


def draw_distances(m, share, n_values, n_parts, seed):
    """Distances of some pairs, some of them equal, between rows of one part."""
    rng = np.random.default_rng(seed)
    part = rng.integers(0, n_parts, m)
    is_near = np.triu(rng.random((m, m)) < share, 1) & (part[:, None] == part)
    values = np.sort(rng.random(n_values)).round(3)
    values[-1] = 1.0  # as far as those that are missing
    table = np.where(is_near, values[rng.integers(0, n_values, (m, m))], 0.0)
    row, column = np.nonzero(is_near | is_near.T | np.eye(m, dtype=bool))
    data = (table + table.T)[row, column]
    start = np.searchsorted(row, np.arange(m + 1)).astype(np.int32)
    return data, column.astype(np.int32), start


def link_whole_table(data, column, start):
    m = len(start) - 1
    whole = np.ones((m, m))
    whole[np.repeat(np.arange(m), np.diff(start)), column] = data
    return native.agglomerate(whole, np.ones(m, dtype=np.int64), "average", 1)


@settings(deadline=None, max_examples=200)
@given(
    st.integers(1, 40),
    st.sampled_from([0.0, 0.05, 0.2, 0.6, 1.0]),
    st.integers(1, 60),
    st.integers(1, 4),
    st.integers(0, 10**6),
)
def test_merges_and_heights_are_those_of_the_whole_table(m, share, n_values, n_parts, seed):
    given_distances = draw_distances(m, share, n_values, n_parts, seed)
    pairs, heights = native.agglomerate_near(*given_distances)
    expected = link_whole_table(*given_distances)
    np.testing.assert_array_equal(pairs, expected[0])
    np.testing.assert_array_equal(heights, expected[1])
    assert len(pairs) == m - 1


def test_many_rows():
    given_distances = draw_distances(600, 0.03, 500, 3, 0)
    pairs, heights = native.agglomerate_near(*given_distances)
    expected = link_whole_table(*given_distances)
    np.testing.assert_array_equal(pairs, expected[0])
    np.testing.assert_array_equal(heights, expected[1])


TABLE = csr_array(np.array([[0.0, 0.5, 0.0], [0.5, 0.0, 0.2], [0.0, 0.2, 0.0]]))
START, COLUMN, DATA = TABLE.indptr.astype(np.int32), TABLE.indices.astype(np.int32), TABLE.data


@pytest.mark.parametrize(
    ("given_distances", "error", "words"),
    [
        ((DATA, COLUMN.astype(np.int64), START), TypeError, "column .* int32"),
        ((DATA[:2], COLUMN, START), ValueError, r"distances must have shape \(4\)"),
        ((DATA, COLUMN + 1, START), ValueError, r"column holds 1 to 3\. Pass 0 to 2"),
        ((DATA, COLUMN, START[::-1].copy()), ValueError, "start must rise from 0 to 4"),
        ((DATA, COLUMN, np.array([0, 3, 1, 4], "i4")), ValueError, "start must rise from 0 to 4"),
        ((DATA, COLUMN[[0, 2, 1, 3]], START), ValueError, "column must be ascending"),
        ((DATA, np.array([2, 0, 2, 1], "i4"), START), ValueError, "does not name it"),
        ((DATA[:0], COLUMN[:0], START[:1]), ValueError, "name one row at least"),
    ],
)
def test_bad_arguments_raise_an_error(given_distances, error, words):
    with pytest.raises(error, match=words):
        native.agglomerate_near(*given_distances)
