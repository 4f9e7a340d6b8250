"""The columns of the smallest values of each row."""

import numpy as np
import pytest

from linkwise import native


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m", "k"), [(1, 1, 1), (200, 7, 7), (90, 33, 1), (700, 300, 31)])
def test_the_smallest_come_first_and_the_first_of_equal_ones(n, m, k, dtype):
    table = np.random.default_rng(m).integers(0, 50, (n, m)).astype(dtype)
    found = native.smallest_columns(table, k, 1)
    np.testing.assert_array_equal(found, np.argsort(table, axis=1, kind="stable")[:, :k])
    np.testing.assert_array_equal(found, native.smallest_columns(table, k, 3))


@pytest.mark.parametrize(
    ("table", "k", "error", "words"),
    [
        (np.zeros((2, 3)), 4, ValueError, "k must be 1 to 3, got 4"),
        (np.zeros((2, 3)), 0, ValueError, "k must be at least 1"),
        (np.zeros((2, 3), int), 1, TypeError, "float32 or float64"),
    ],
)
def test_bad_arguments_raise_errors(table, k, error, words):
    with pytest.raises(error, match=words):
        native.smallest_columns(table, k, 1)
