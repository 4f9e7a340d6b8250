"""Rows of a clustering tree: their order by each test, both sides of a split, and the leaves they reach."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import native


@given(st.integers(1, 60), st.integers(1, 4), st.integers(0, 10**6), st.integers(1, 3))
def test_values_are_sorted(n, n_tests, seed, n_threads):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_tests, n)) * 10.0 ** rng.integers(-300, 300, (n_tests, 1))
    values[rng.random(n_tests) < 0.5] = rng.choice([-1.5, -0.0, 0.0, 2.0, np.inf], n)
    order, rank, tied = native.sort_values(values, n_threads)
    for x, rows, smaller, is_tied in zip(values, order, rank, tied.tolist(), strict=True):
        np.testing.assert_array_equal(rows, np.argsort(x, kind="stable")[::-1])
        distinct, number = np.unique(x, return_inverse=True)
        assert is_tied == (len(distinct) < n)
        np.testing.assert_array_equal(smaller, number if is_tied else np.zeros(n))


@given(st.integers(2, 60), st.integers(1, 4), st.integers(0, 10**6), st.integers(1, 3))
def test_a_split_numbers_both_sides_anew(n, n_tests, seed, n_threads):
    rng = np.random.default_rng(seed)
    Z, number, size = rng.normal(size=(n, 8)), int(rng.integers(n_tests)), int(rng.integers(1, n))
    order = np.stack([rng.permutation(n) for _ in range(n_tests)]).astype(np.int32)
    moved = np.isin(np.arange(n), order[number, :size])
    sides = native.split_leaf(Z, order, number, size, n_threads)
    for side, rows in zip(sides, (np.flatnonzero(moved), np.flatnonzero(~moved)), strict=True):
        np.testing.assert_array_equal(side.rows, rows)
        np.testing.assert_array_equal(side.features, Z[rows])
        for here, before in zip(side.order, order, strict=True):
            np.testing.assert_array_equal(rows[here], before[np.isin(before, rows)])


@pytest.mark.parametrize("order", [[[0, 1, 2], [0, 1, 1]], [[0, 1, 2], [0, 3, 1]], [[0, 0, 1], [0, 1, 2]]])
def test_an_order_that_leaves_out_a_row_raises_an_error(order):
    with pytest.raises(ValueError, match="must order all rows"):
        native.split_leaf(np.zeros((3, 8)), np.array(order, np.int32), 0, 2, 1)


@pytest.mark.parametrize(("number", "size"), [(2, 1), (-1, 1), (0, 0), (0, 3)])
def test_a_split_leaves_rows_on_both_sides(number, size):
    with pytest.raises(ValueError, match=r"number must be 0 to 1|size must be 1 to 2"):
        native.split_leaf(np.zeros((3, 8)), np.tile(np.arange(3, dtype=np.int32), (2, 1)), number, size, 1)


TREE = {
    "column": np.array([1, -1, 0, -1, -1], np.int32),
    "value": np.array([0.5, 0.0, 2.0, 0.0, 0.0]),
    "equals": np.array([0, 0, 1, 0, 0], np.uint8),
    "yes": np.array([1, -1, 3, -1, -1], np.int32),
    "no": np.array([2, -1, 4, -1, -1], np.int32),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_leaf_that_each_row_reaches(dtype):
    X = np.array([[0, 0.5], [0, 0.75], [2, 0], [2, 1]], dtype)
    assert native.apply_tree(X, **TREE, n_threads=1).tolist() == [4, 1, 3, 1]
    many = np.random.default_rng(0).integers(0, 3, (9000, 2)).astype(dtype)
    found = [native.apply_tree(many, **TREE, n_threads=threads) for threads in (1, 3)]
    expected = np.where(many[:, 1] > 0.5, 1, np.where(many[:, 0] == 2, 3, 4))
    for leaves in found:
        np.testing.assert_array_equal(leaves, expected)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"column": TREE["column"] + 1}, "column holds 0 to 2"),
        ({"yes": TREE["yes"] * 2}, "yes must lead to higher nodes, up to 4, got 6 at 2"),
        ({"no": np.array([2, -1, 2, -1, -1], np.int32)}, "no must lead to higher nodes"),
        ({"value": TREE["value"][:2]}, r"value must have shape \(5\)"),
    ],
)
def test_a_tree_without_an_end_raises_an_error(changed, words):
    with pytest.raises(ValueError, match=words):
        native.apply_tree(np.zeros((3, 2)), **{**TREE, **changed}, n_threads=1)
