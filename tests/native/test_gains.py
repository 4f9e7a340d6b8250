"""Sums over pairs of sparse rows, and the cluster where each item gains most, beside dense NumPy."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from linkwise import native
from linkwise.native import PairForm, SparseRows


def make_sparse(table):
    rows = csr_array(table)
    return SparseRows(rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32))


def make_dense(rows, width):
    return csr_array((rows.data, rows.column, rows.start), (len(rows.start) - 1, width)).toarray()


def draw_sparse(rng, n, k, share=0.3):
    table = rng.uniform(0, 1, (n, k)) * (rng.uniform(0, 1, (n, k)) < share)
    return table, make_sparse(table)


def draw_form(rng, k, m):
    same, alike = rng.normal(size=(k, k)), rng.normal(size=(m, m))
    form = PairForm(same + same.T, alike + alike.T)
    table = np.zeros((form.width, form.width))
    table[:k, :k], table[k : k + m, k : k + m], table[k + m :, k + m :] = form.same, form.alike, -form.alike
    return form, table


SHAPES = [(1, 0, 1), (70, 5, 13), (300, 40, 7), (600, 90, 300), (5, 33, 32), (600, 0, 64)]


@pytest.mark.parametrize("share", [0.02, 0.5])
@pytest.mark.parametrize(("n", "k", "m"), SHAPES)
def test_a_form_equals_that_of_dense_tables(n, k, m, share):
    rng = np.random.default_rng(n)
    form, inner = draw_form(rng, k, m)
    table, rows = draw_sparse(rng, n, form.width, share)
    found = native.multiply_form(rows, form, 1)
    np.testing.assert_allclose(found, table @ inner, atol=1e-11)
    np.testing.assert_array_equal(found, native.multiply_form(rows, form, 3))
    np.testing.assert_allclose(
        native.evaluate_form(rows, form), ((table @ inner) * table).sum(axis=1), atol=1e-10
    )
    np.testing.assert_allclose(rows.dot(found), ((table @ inner) * table).sum(axis=1), atol=1e-10)


@pytest.mark.parametrize(("n", "k", "m"), SHAPES)
def test_products_with_rows_equal_those_of_dense_tables(n, k, m):
    rng = np.random.default_rng(n)
    form, inner = draw_form(rng, k, m)
    table, rows = draw_sparse(rng, n, form.width)
    some, gains = rng.normal(size=(37, form.width)), table @ inner
    np.testing.assert_allclose(native.multiply_across(rows, some, 1), table @ some.T, atol=1e-11)
    found = native.multiply_across(rows, gains, 1, is_symmetric=True)
    np.testing.assert_allclose(found, table @ gains.T, atol=1e-9)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(found, native.multiply_across(rows, gains, 3, is_symmetric=True))


@pytest.mark.parametrize("n_groups", [1, 7, 100])
def test_rows_are_summed_by_label(n_groups):
    rng = np.random.default_rng(n_groups)
    table, rows = draw_sparse(rng, 60, 20)
    items = rng.integers(0, 60, 90, dtype=np.int32)
    weight, label = rng.normal(size=90), rng.integers(0, n_groups, 90, dtype=np.int32)
    expected = np.zeros((n_groups, 20))
    np.add.at(expected, label, weight[:, None] * table[items])
    found = native.sum_rows(rows, items, weight, label, n_groups, 20)
    np.testing.assert_allclose(make_dense(found, 20), expected, atol=1e-12)
    rising = np.diff(found.column) > 0
    rising[found.start[1:-1][(found.start[1:-1] > 0) & (found.start[1:-1] < len(found.data))] - 1] = True
    assert rising.all()


def test_no_rows_have_a_sum_of_nothing():
    rows, none = draw_sparse(np.random.default_rng(0), 5, 3)[1], np.empty(0, np.int32)
    assert native.sum_rows(rows, none, np.empty(0), none, 2, 3).start.tolist() == [0, 0, 0]


@pytest.mark.parametrize("k", [0, 1, 7, 40])
def test_chances_are_split_into_those_of_items(k):
    rng = np.random.default_rng(k)
    n, m = 50, 6
    join = rng.dirichlet(np.full(k, 0.2), n) if k else np.zeros((n, 0))
    trust, fine = rng.uniform(0, 1, n).round(1), rng.integers(0, m, n, dtype=np.int32)
    found = native.split_chances(join, trust, fine, m, 0.01)
    joined = join * trust[:, None]
    joined[joined < 0.01] = 0
    expected = np.hstack([joined, np.eye(m)[fine], trust[:, None] * np.eye(m)[fine]])
    np.testing.assert_array_equal(make_dense(found.rows, k + 2 * m), expected)
    if k:
        np.testing.assert_array_equal(found.likeliest, join.round(9).argmax(axis=1))
        np.testing.assert_array_equal(found.most, (join * trust[:, None]).max(axis=1))


def test_of_shares_that_differ_by_rounding_the_first_is_the_likeliest():
    join = np.array([[0.1, 0.4, 0.4 + 1e-12, 0.1]])
    assert native.split_chances(join, np.ones(1), np.zeros(1, np.int32), 1, 0.0).likeliest.tolist() == [1]


def test_groups_are_as_far_apart_as_their_rows_on_average():
    rng = np.random.default_rng(0)
    belonging, size = rng.uniform(0, 1, (9, 9)), rng.integers(1, 9, 9).astype(float)
    expected = (1 - belonging / np.outer(size, size)).round(9)
    np.testing.assert_array_equal(native.mean_distances(belonging, size), expected)


def draw_gains(seed, n=400, width=24, n_clusters=60):
    rng = np.random.default_rng(seed)
    table, rows = draw_sparse(rng, n, width)
    return {
        "table": table,
        "items": np.sort(rng.permutation(n)[: n // 2]).astype(np.int32),
        "rows": rows,
        "gains": rng.normal(size=(n_clusters, width)).round(1),
        "cost": rng.normal(size=n_clusters).round(1),
        "stay": rng.normal(size=n).round(1),
        "labels": rng.integers(0, n_clusters, n, dtype=np.int32),
    }


def choose(world, n_threads=1, **other):
    return native.best_clusters(
        n_threads=n_threads, **{name: each for name, each in (world | other).items() if name != "table"}
    )


@pytest.mark.parametrize("n_clusters", [1, 31, 60, 130])
@pytest.mark.parametrize("seed", range(3))
def test_items_go_where_they_gain_most(seed, n_clusters):
    world = draw_gains(seed, n_clusters=n_clusters)
    total = world["table"] @ world["gains"].T - world["cost"]
    total[np.arange(400), world["labels"]] -= world["stay"]
    found = choose(world)
    np.testing.assert_array_equal(found, total.round(9).argmax(axis=1)[world["items"]])
    np.testing.assert_array_equal(found, choose(world, 3))


@pytest.mark.parametrize("at", [1, 40])
def test_of_gains_that_differ_by_rounding_the_first_counts(at):
    rows, one, none = make_sparse(np.ones((1, 1))), np.zeros(1, np.int32), np.zeros(1)
    gains = np.zeros((50, 1))
    gains[at], gains[at + 1], gains[49] = 1.0, 1.0 + 1e-12, 1.0 + 1e-12
    assert native.best_clusters(one, rows, gains, np.zeros(50), none, one, 1).tolist() == [at]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"items": np.array([400], np.int32)}, "items holds 400 to 400"),
        ({"labels": np.full(400, 60, np.int32)}, "labels holds 60 to 60"),
        ({"gains": np.zeros((60, 5))}, "column holds"),
        ({"stay": np.zeros(3)}, r"stay must have shape \(400\)"),
        ({"cost": np.zeros(3)}, r"cost must have shape \(60\)"),
        ({"n_threads": 0}, "n_threads must be at least 1"),
    ],
)
def test_bad_arguments_raise_errors(wrong, words):
    with pytest.raises(ValueError, match=words):
        choose(draw_gains(0), **wrong)


@pytest.mark.parametrize("n_clusters", [5, 33, 300])
@pytest.mark.parametrize("seed", range(3))
def test_items_that_gain_most_where_they_are_stay(seed, n_clusters):
    """All clusters but their own are ruled out for most, and a few items gain more elsewhere."""
    world = draw_gains(seed, n_clusters=n_clusters)
    gains, at = world["gains"], np.arange(400)
    total = world["table"] @ gains.T - world["cost"]
    best = total.argmax(axis=1)
    is_there = np.random.default_rng(seed).random(400) < 0.9
    world |= {"labels": np.where(is_there, best, world["labels"]).astype(np.int32), "stay": np.zeros(400)}
    found = choose(world)
    np.testing.assert_array_equal(found, total.round(9).argmax(axis=1)[world["items"]])
    total[at, world["labels"]] -= 0.1
    np.testing.assert_array_equal(
        choose(world, stay=np.full(400, 0.1)), total.round(9).argmax(axis=1)[world["items"]]
    )


def test_no_entry_may_be_below_0():
    world = draw_gains(0)
    rows = world["rows"]
    with pytest.raises(ValueError, match=r"rows must hold no entry below 0, got -1\."):
        choose(world, rows=rows._replace(data=np.full_like(rows.data, -1.0)))


def test_bad_sparse_tables_raise_errors():
    rng = np.random.default_rng(0)
    form = draw_form(rng, 1, 2)[0]
    rows = draw_sparse(rng, 20, 5)[1]
    one, none = np.zeros(1), np.zeros(1, np.int32)
    with pytest.raises(ValueError, match="column holds"):
        native.evaluate_form(rows, draw_form(rng, 1, 1)[0])
    with pytest.raises(ValueError, match="start must rise from 0 to 28"):
        native.evaluate_form(rows._replace(start=rows.start[::-1].copy()), form)
    with pytest.raises(TypeError, match="column must be a NumPy array of int32"):
        native.multiply_form(rows._replace(column=rows.column.astype(np.int64)), form, 1)
    with pytest.raises(ValueError, match="20 rows times 3 rows are not symmetric"):
        native.multiply_across(rows, np.zeros((3, 5)), 1, is_symmetric=True)
    with pytest.raises(ValueError, match="label holds 0 to 0"):
        native.sum_rows(rows, none, one, none, 0, 5)
    with pytest.raises(ValueError, match="fine holds 0 to 0"):
        native.split_chances(np.ones((1, 1)), one, none, 0, 0.1)


def mend(order, some, begin, differs, gain, label):
    """What `mend_clusters` does, in plain Python."""
    n_clusters = fresh = gain.shape[1]
    mended, placed = label.tolist(), [-1] * len(label)
    for number in order.tolist():
        a = int(some[number])
        barred = {placed[b] for b in differs[begin[number] : begin[number + 1]]}
        if mended[a] in barred:
            left = gain[number].copy()
            left[[to for to in barred if 0 <= to < n_clusters]] = 0
            mended[a] = int(left.argmax())
            if left[mended[a]] <= 0:
                mended[a], fresh = fresh, fresh + 1
        placed[a] = mended[a]
    return np.array(mended)


@pytest.mark.parametrize("seed", range(20))
def test_groups_that_differ_leave_a_cluster(seed):
    rng = np.random.default_rng(seed)
    n_groups, n_clusters = int(rng.integers(2, 30)), int(rng.integers(1, 6))
    apart = np.triu(rng.random((n_groups, n_groups)) < rng.choice([0.05, 0.3, 0.9]), 1)
    one, differs = (np.ascontiguousarray(each) for each in np.nonzero(apart | apart.T))
    some, first = np.unique(one, return_index=True)
    begin, order = np.append(first, len(one)), rng.permutation(len(some))
    gain = rng.normal(size=(len(some), n_clusters)).round(1)
    label = rng.integers(0, n_clusters, n_groups)
    found = native.mend_clusters(order, some, begin, differs, gain, label)
    np.testing.assert_array_equal(found, mend(order, some, begin, differs, gain, label))
    assert not (found[one] == found[differs]).any()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"order": np.array([2])}, r"order holds 2 to 2\. Pass 0 to 0"),
        ({"some": np.array([3])}, r"some holds 3 to 3\. Pass 0 to 2"),
        ({"begin": np.array([0, 2])}, "begin must rise from 0 to 1"),
        ({"begin": np.array([1, 0])}, "begin must rise from 0 to 1"),
        ({"differs": np.array([-1])}, r"differs holds -1 to -1\. Pass 0 to 2"),
        ({"label": np.array([0, 2, 1])}, r"label holds 0 to 2\. Pass 0 to 1"),
        ({"gain": np.zeros((2, 2))}, "gain must have shape"),
    ],
)
def test_groups_that_do_not_exist_raise_an_error(changed, words):
    good = {
        "order": np.array([0]),
        "some": np.array([0]),
        "begin": np.array([0, 1]),
        "differs": np.array([1]),
    }
    good |= {"gain": np.zeros((1, 2)), "label": np.array([0, 1, 1])}
    with pytest.raises(ValueError, match=words):
        native.mend_clusters(**(good | changed))
