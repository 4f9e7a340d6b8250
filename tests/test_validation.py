"""Sparse rows are checked as dense ones are."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

import linkwise as lw
from linkwise.errors import ConstraintWarning
from linkwise.validation import check_constraints, check_rows


@pytest.mark.parametrize("form", [csr_array, csr_matrix, coo_array])
def test_any_sparse_form_becomes_csr(form):
    X = np.array([[0.0, 2.0], [3.0, 0.0]])
    rows = check_rows(form(X), sparse=True)
    assert isinstance(rows, csr_array)
    np.testing.assert_array_equal(rows.toarray(), X)


def test_cells_that_are_given_twice_are_added_and_the_given_rows_stay():
    given = csr_array((np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    rows = check_rows(given, sparse=True)
    assert rows.toarray().tolist() == [[5.0, 3.0]]
    assert given.nnz == 3


def test_values_that_are_not_numbers_are_named_by_their_place():
    X = np.zeros((3, 4))
    X[1, 2], X[2, 0] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"2 values, the first in row 1, column 2\. Impute or drop"):
        check_rows(csr_array(X), sparse=True)


@pytest.mark.parametrize("value", [1e200, -1e200, 1e-200])
def test_values_beyond_the_range_of_squares_raise_errors(value):
    with pytest.raises(ValueError, match=r"Squared distances of X are out of range: .* Rescale X"):
        check_rows(csr_array(np.diag([value, 0.0])), sparse=True)


def test_cannot_links_between_identical_sparse_rows_warn():
    X = csr_array(np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 0.0]]))
    with pytest.warns(
        ConstraintWarning, match=r"rows 0 and 1, .* identical in every feature \(1 such pair\)"
    ):
        check_constraints(lw.Constraints(3, cannot_link=[(0, 1), (0, 2)]), X)


@pytest.mark.parametrize(
    "form", [np.asarray, np.asfortranarray, csr_array], ids=["rows", "columns", "sparse"]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_pairs", [20, 300])  # fewer and more than rows
def test_all_pairs_of_identical_rows_are_counted(form, dtype, n_pairs):
    rng = np.random.default_rng(n_pairs)
    X = rng.choice([0.0, -0.0, 0.1], size=(40, 3)).astype(dtype)
    pairs = rng.permutation(np.argwhere(np.triu(np.ones((40, 40)), 1)))[:n_pairs]
    identical = int((X[pairs[:, 0]] == X[pairs[:, 1]]).all(axis=1).sum())
    assert identical > 0
    with pytest.warns(ConstraintWarning, match=rf"\({identical} such pairs?\)"):
        check_constraints(lw.Constraints(40, cannot_link=pairs), check_rows(form(X), sparse=True))
