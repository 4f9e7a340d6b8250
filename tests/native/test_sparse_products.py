"""Products of sparse rows, against whole tables."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import reference.sparse_products as reference
from linkwise import native


@st.composite
def sparse_tables(draw, least=0.0):
    """Rows with few different values, so that many products are equal."""
    n, width = draw(st.integers(1, 30)), draw(st.integers(0, 8))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    values = rng.random(draw(st.sampled_from([2, 50]))) * (1 - least) + least
    table = values[rng.integers(0, len(values), (n, width))].astype(np.float32)
    table[rng.random((n, width)) < draw(st.sampled_from([0.2, 0.7, 1.0]))] = 0
    return table, rng


@settings(deadline=None, max_examples=200)
@given(sparse_tables(), st.integers(1, 9), st.booleans(), st.integers(1, 3))
def test_the_largest_products(tables, k, has_sources, n_threads):
    table, rng = tables
    source = rng.integers(0, 3, len(table)) if has_sources else None
    of = rng.integers(0, len(table), 7)
    found = native.largest_products(sp.csr_matrix(table), of, k, source, n_threads)
    np.testing.assert_array_equal(found, reference.largest_products(table, of, k, source))


@settings(deadline=None, max_examples=100)
@given(sparse_tables(least=-1.0), st.integers(0, 40), st.integers(1, 3))
def test_products_of_pairs(tables, q, n_threads):
    table, rng = tables
    first, second = rng.integers(0, len(table), (2, q))
    found = native.multiply_pairs(sp.csr_matrix(table), first, second, n_threads)
    expected = reference.sum_products(table, first, second).astype(np.float32)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(
        native.multiply_pairs(sp.csr_matrix(table), second, first, 1), expected, "either row may be first"
    )


@pytest.fixture(scope="module")
def many_rows():
    table = sp.random(3000, 400, density=0.03, random_state=0, dtype=np.float32, format="csr")
    table.data += np.float32(0.1)
    return sp.csr_matrix(table)


def test_the_number_of_threads_changes_nothing(many_rows):
    of = np.arange(many_rows.shape[0])
    first, second = np.random.default_rng(0).integers(0, len(of), (2, 100_000))
    nearest = native.largest_products(many_rows, of, 40, None, 1)
    products = native.multiply_pairs(many_rows, first, second, 1)
    for n_threads in (2, 5):
        np.testing.assert_array_equal(native.largest_products(many_rows, of, 40, None, n_threads), nearest)
        np.testing.assert_array_equal(native.multiply_pairs(many_rows, first, second, n_threads), products)
    some = of[::500]
    np.testing.assert_array_equal(nearest[some], reference.largest_products(many_rows.toarray(), some, 40))


def test_indices_in_any_order_give_the_same(many_rows):
    turned = sp.csr_matrix(many_rows[:, ::-1]).sorted_indices()
    mixed = sp.csr_matrix(
        (turned.data, many_rows.shape[1] - 1 - turned.indices, turned.indptr), shape=many_rows.shape
    )
    assert not mixed.has_sorted_indices
    of = np.arange(50)
    np.testing.assert_array_equal(
        native.largest_products(mixed, of, 5, None, 1), native.largest_products(many_rows, of, 5, None, 1)
    )
    np.testing.assert_array_equal(
        native.multiply_pairs(mixed, of, of + 1, 1), native.multiply_pairs(many_rows, of, of + 1, 1)
    )


ROWS = sp.csr_matrix(np.eye(3, dtype=np.float32))
OF = np.arange(3)


def changed(**parts):
    """Rows with other arrays, which are not checked by SciPy."""
    rows = ROWS.copy()
    for name, value in parts.items():
        setattr(rows, name, value)
    rows.has_sorted_indices = True
    return rows


@pytest.mark.parametrize(
    ("rows", "of", "error", "words"),
    [
        (changed(data=np.ones(3)), OF, TypeError, "data .* float32"),
        (
            changed(indices=np.array([0, 1, 3], np.int32)),
            OF,
            ValueError,
            r"column holds 0 to 3\. Pass 0 to 2",
        ),
        (changed(indices=np.array([0, 1], np.int32)), OF, ValueError, r"column must have shape \(3\)"),
        (changed(indptr=np.array([0, 2, 1, 3], np.int32)), OF, ValueError, "start must rise from 0 to 3"),
        (changed(indptr=np.array([0, 1, 2], np.int32)), OF, ValueError, "start must rise from 0 to 3"),
        (ROWS, OF + 1, ValueError, r"holds 1 to 3\. Pass 0 to 2"),
        (ROWS, OF.astype(np.int32), TypeError, "int64"),
    ],
)
def test_bad_arrays_raise_errors(rows, of, error, words):
    with pytest.raises(error, match=words):
        native.largest_products(rows, of, 2, None, 1)
    with pytest.raises(error, match=words):
        native.multiply_pairs(rows, of, OF, 1)
    if rows is ROWS:
        with pytest.raises(error, match=words):
            native.multiply_pairs(rows, OF, of, 1)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_the_largest_products_need_values_above_0(value):
    rows = changed(data=np.array([1, value, 1], np.float32))
    with pytest.raises(ValueError, match="data must be above 0"):
        native.largest_products(rows, OF, 2, None, 1)


def test_other_bad_arguments_raise_errors():
    with pytest.raises(ValueError, match="k must be at least 1"):
        native.largest_products(ROWS, OF, 0, None, 1)
    with pytest.raises(ValueError, match=r"source must have shape \(3\)"):
        native.largest_products(ROWS, OF, 2, np.zeros(2, np.int64), 1)
    with pytest.raises(ValueError, match=r"second must have shape \(3\)"):
        native.multiply_pairs(ROWS, OF, OF[:2], 1)
