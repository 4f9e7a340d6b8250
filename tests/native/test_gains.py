"""Products of sparse tables, and the cluster where each item gains most, beside dense NumPy."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from linkwise import native
from linkwise.native import ClusterGains, SparseRows


def draw_sparse(rng, n, k):
    table = rng.uniform(0, 1, (n, k)) * (rng.uniform(0, 1, (n, k)) < 0.3)
    rows = csr_array(table)
    return table, SparseRows(rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("n", "k", "width"), [(1, 1, 1), (70, 5, 13), (300, 40, 7), (900, 90, 300), (5, 0, 4)]
)
def test_products_equal_those_of_dense_tables(n, k, width, threads):
    rng = np.random.default_rng(n)
    table, _ = draw_sparse(rng, n, k)
    other = rng.normal(size=(k, width))
    found = native.multiply_sparse(table, other, threads)
    np.testing.assert_allclose(found, table @ other, atol=1e-12)
    np.testing.assert_array_equal(found, native.multiply_sparse(table, other, 1))


@pytest.mark.parametrize("k", [0, 1, 6])
def test_forms_equal_those_of_dense_tables(k):
    rng = np.random.default_rng(k)
    table, rows = draw_sparse(rng, 50, k)
    inner = rng.normal(size=(k, k))
    np.testing.assert_allclose(
        native.sparse_forms(rows, inner), ((table @ inner) * table).sum(axis=1), atol=1e-12
    )


def draw_gains(seed, n=400, k=6, m=9, n_clusters=60):
    rng = np.random.default_rng(seed)
    table, rows = draw_sparse(rng, n, k)
    sizes = ((k, n_clusters), (m, n_clusters), (m, n_clusters), n_clusters)
    return {
        "table": table,
        "items": np.sort(rng.permutation(n)[: n // 2]).astype(np.int32),
        "join": rows,
        "gains": ClusterGains(*(rng.normal(size=size).round(1) for size in sizes)),
        "fine": rng.integers(0, m, n, dtype=np.int32),
        "trust": rng.uniform(0, 1, n).round(1),
        "stay": rng.normal(size=n).round(1),
        "labels": rng.integers(0, n_clusters, n, dtype=np.int32),
    }


def choose(world, n_threads=1, **other):
    return native.best_clusters(
        n_threads=n_threads, **{name: each for name, each in (world | other).items() if name != "table"}
    )


@pytest.mark.parametrize("k", [0, 6])
@pytest.mark.parametrize("seed", range(4))
def test_items_go_where_they_gain_most(seed, k):
    world = draw_gains(seed, k=k)
    gains, fine, rows = world["gains"], world["fine"], np.arange(400)
    total = world["table"] @ gains.join + gains.fine[fine] - world["trust"][:, None] * gains.trusted[fine]
    total -= gains.cost
    total[rows, world["labels"]] -= world["stay"]
    found = choose(world)
    np.testing.assert_array_equal(found, total.round(9).argmax(axis=1)[world["items"]])
    np.testing.assert_array_equal(found, choose(world, 3))


def test_of_gains_that_differ_by_rounding_the_first_counts():
    nothing = SparseRows(np.empty(0), np.empty(0, np.int32), np.zeros(2, np.int32))
    zero = np.zeros((1, 3))
    gains = ClusterGains(np.zeros((0, 3)), np.array([[0.0, 1.0, 1.0 + 1e-12]]), zero, np.zeros(3))
    one, none = np.zeros(1, np.int32), np.zeros(1)
    assert native.best_clusters(one, nothing, gains, one, none, none, one, 1).tolist() == [1]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"items": np.array([400], np.int32)}, "items holds 400 to 400"),
        ({"labels": np.full(400, 60, np.int32)}, "labels holds 60 to 60"),
        ({"fine": np.full(400, 9, np.int32)}, "fine holds 9 to 9"),
        ({"trust": np.zeros(3)}, r"trust must have shape \(400\)"),
        ({"n_threads": 0}, "n_threads must be at least 1"),
    ],
)
def test_bad_arguments_raise_errors(wrong, words):
    with pytest.raises(ValueError, match=words):
        choose(draw_gains(0), **wrong)


def test_a_bad_sparse_table_raises_an_error():
    table, rows = draw_sparse(np.random.default_rng(0), 20, 5)
    with pytest.raises(ValueError, match="column holds"):
        native.sparse_forms(rows, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="The starts of rows must rise from 0"):
        native.sparse_forms(rows._replace(start=rows.start[::-1].copy()), np.zeros((5, 5)))
    with pytest.raises(TypeError, match="column must be a NumPy array of int32"):
        native.sparse_forms(rows._replace(column=rows.column.astype(np.int64)), np.zeros((5, 5)))
    with pytest.raises(ValueError, match=r"other must have shape \(5, 3\)"):
        native.multiply_sparse(table, np.zeros((4, 3)), 1)
