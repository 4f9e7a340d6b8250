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


def find_largest(table, of, k, n_threads=1, *, counts=None, block=None, source=None):
    """The largest products of a whole table."""
    if counts is None:
        counts = np.ones(table.shape[1], dtype=bool)
    rows = table if sp.issparse(table) else sp.csr_matrix(table)
    return native.largest_products(rows, counts, of, k, block, source, n_threads)


@settings(deadline=None, max_examples=5 * settings.default.max_examples)
@given(sparse_tables(), st.integers(1, 9), st.integers(1, 3), st.booleans(), st.booleans())
def test_the_largest_products(tables, k, n_threads, has_blocks, has_sources):
    table, rng = tables
    block = rng.integers(-1, 2, len(table)) if has_blocks else None
    source = rng.integers(0, 3, len(table)) if has_sources else None
    of, counts = rng.integers(0, len(table), 7), rng.random(table.shape[1]) < 0.8
    found = find_largest(table, of, k, n_threads, counts=counts, block=block, source=source)
    np.testing.assert_array_equal(found, reference.largest_products(table, counts, of, k, block, source))


@settings(deadline=None, max_examples=100)
@given(sparse_tables(), st.booleans())
def test_the_work_of_columns(tables, has_blocks):
    table, rng = tables
    block = rng.integers(-1, 3, len(table)) if has_blocks else None
    found = native.column_work(sp.csr_matrix(table), block)
    np.testing.assert_array_equal(found, reference.column_work(table, block))


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
    """More rows than are added up at once, with few different values."""
    rng = np.random.default_rng(0)
    table = np.where(rng.random((10_000, 200)) < 0.04, rng.integers(1, 10, (10_000, 200)), 0)
    return sp.csr_matrix(table.astype(np.float32))


def test_the_number_of_threads_changes_nothing(many_rows):
    of = np.arange(0, many_rows.shape[0], 5)
    block, source = np.arange(len(of) * 5) % 2, np.arange(len(of) * 5) % 3
    first, second = np.random.default_rng(0).integers(0, len(of), (2, 100_000))
    nearest = find_largest(many_rows, of, 40, block=block, source=source)
    products = native.multiply_pairs(many_rows, first, second, 1)
    for n_threads in (2, 5):
        np.testing.assert_array_equal(
            find_largest(many_rows, of, 40, n_threads, block=block, source=source), nearest
        )
        np.testing.assert_array_equal(native.multiply_pairs(many_rows, first, second, n_threads), products)


def test_the_largest_products_of_many_rows(many_rows):
    of = np.arange(0, many_rows.shape[0], 3001)
    counts, source = np.arange(200) % 7 > 0, np.arange(many_rows.shape[0]) // 100
    table = many_rows.toarray()
    for given_source in (None, source):
        np.testing.assert_array_equal(
            find_largest(many_rows, of, 12, counts=counts, source=given_source),
            reference.largest_products(table, counts, of, 12, source=given_source),
        )


def test_indices_in_any_order_give_the_same(many_rows):
    turned = sp.csr_matrix(many_rows[:, ::-1]).sorted_indices()
    mixed = sp.csr_matrix(
        (turned.data, many_rows.shape[1] - 1 - turned.indices, turned.indptr), shape=many_rows.shape
    )
    assert not mixed.has_sorted_indices
    of = np.arange(50)
    np.testing.assert_array_equal(find_largest(mixed, of, 5), find_largest(many_rows, of, 5))
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
        find_largest(rows, of, 2)
    with pytest.raises(error, match=words):
        native.multiply_pairs(rows, of, OF, 1)
    if rows is ROWS:
        with pytest.raises(error, match=words):
            native.multiply_pairs(rows, OF, of, 1)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_the_largest_products_need_values_above_0(value):
    rows = changed(data=np.array([1, value, 1], np.float32))
    with pytest.raises(ValueError, match="data must be above 0"):
        find_largest(rows, OF, 2)


def test_other_bad_arguments_raise_errors():
    with pytest.raises(ValueError, match="k must be at least 1"):
        find_largest(ROWS, OF, 0)
    with pytest.raises(ValueError, match=r"counts must have shape \(3\)"):
        find_largest(ROWS, OF, 2, counts=np.ones(2, dtype=bool))
    with pytest.raises(ValueError, match=r"source must have shape \(3\)"):
        find_largest(ROWS, OF, 2, source=OF[:2])
    with pytest.raises(ValueError, match=r"block must have shape \(3\)"):
        find_largest(ROWS, OF, 2, block=OF[:2])
    with pytest.raises(ValueError, match=r"block must have shape \(3\)"):
        native.column_work(ROWS, OF[:2])
    with pytest.raises(ValueError, match=r"second must have shape \(3\)"):
        native.multiply_pairs(ROWS, OF, OF[:2], 1)
