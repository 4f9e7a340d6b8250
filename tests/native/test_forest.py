"""Random trees and shared leaves against their twins, and trees against those of scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import ExtraTreesClassifier

from linkwise import native
from reference import forest as twin


def a_problem(kind, n, d, n_known, n_classes, seed):
    """Rows, known items and their classes."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d))
    if kind == "ties":
        rows = np.round(rows)
    elif kind == "duplicates":
        rows = rows[rng.integers(0, max(n // 4, 1), n)]
    elif kind == "constant":
        rows[:, rng.random(d) < 0.6] = 0.1
    elif kind == "nearly constant":  # thresholds are rounded to the ends
        rows = 1 + rng.integers(0, 3, (n, d)) * np.finfo(float).eps
    elif kind == "far apart":  # ranges are beyond all numbers
        rows = rng.choice([-1.7e308, -1.0, 0.0, 1e-308, 1.7e308], (n, d))
    items = rng.choice(n, n_known) if kind == "duplicates" else rng.permutation(n)[:n_known]
    home = rng.integers(0, min(n_classes, len(items)), len(items))
    return np.ascontiguousarray(rows), items.astype(np.int64), home


KINDS = ["noise", "ties", "duplicates", "constant", "nearly constant", "far apart"]


@settings(deadline=None)
@given(
    st.sampled_from(KINDS),
    st.integers(1, 60),
    st.integers(1, 12),
    st.integers(1, 40),
    st.integers(1, 8),
    st.integers(0, 2**64 - 1),
    st.data(),
)
def test_trees_are_those_of_the_twin(kind, n, d, n_known, n_classes, seed, data):
    problem = a_problem(kind, n, d, n_known, n_classes, seed % 2**32)
    most = data.draw(st.integers(1, d))
    found = native.random_trees(*problem, 3, seed, 1, most)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, twin.random_trees(*problem, 3, seed, most))


@settings(deadline=None)
@given(
    st.sampled_from(KINDS),
    st.integers(1, 60),
    st.integers(1, 12),
    st.integers(1, 40),
    st.integers(1, 8),
    st.integers(0, 2**32 - 1),
    st.integers(1, 3),
)
def test_an_item_of_weight_two_counts_like_two_items(kind, n, d, n_known, n_classes, seed, n_threads):
    rows, items, home = a_problem(kind, n, d, n_known, n_classes, seed)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, (3, len(items))).astype(np.int32)
    weights[:, rng.integers(len(items))] += 1
    seeds = rng.integers(2**63, size=3).astype(np.uint64)
    found = native.weighted_trees(rows, items, home, weights, seeds, n_threads)
    for tree, own, begin in zip(found.T, weights, seeds.tolist(), strict=True):
        twice, classes = np.repeat(items, own), np.repeat(home, own)
        classes = np.unique(classes, return_inverse=True)[1]
        np.testing.assert_array_equal(tree, native.random_trees(rows, twice, classes, 1, begin, 1)[:, 0])


@pytest.mark.parametrize("d", [1, 3, 4, 8, 9, 20])
def test_the_root_of_the_number_of_features_is_tried(d):
    problem = a_problem("noise", 80, d, 50, 4, d)
    found = native.random_trees(*problem, 5, 1, 1)
    np.testing.assert_array_equal(found, native.random_trees(*problem, 5, 1, 1, int(np.sqrt(d))))


def test_different_items_are_separated_by_class():
    rows, items, home = a_problem("noise", 200, 5, 120, 6, 0)
    leaves = native.random_trees(rows, items, home, 20, 0, 1)
    for leaf in leaves[items].T:
        assert all(len(set(home[leaf == one])) == 1 for one in set(leaf.tolist()))
    assert (leaves.max(axis=0) >= 5).all()
    assert len(np.unique(leaves, axis=1).T) == 20  # no two trees are equal
    for tree in leaves.T:
        np.testing.assert_array_equal(np.unique(tree), np.arange(tree.max() + 1))


@pytest.mark.parametrize(
    ("items", "home"), [([3], [0]), ([0, 1, 2, 5], [1, 1, 1, 1]), ([4, 4], [0, 1])], ids=str
)
def test_items_that_cannot_be_separated_share_a_leaf(items, home):
    rows = np.random.default_rng(0).normal(size=(6, 3))
    assert not native.random_trees(rows, np.array(items), np.array(home), 4, 0, 1).any()


def test_two_items_are_separated_between_their_values():
    rows = np.linspace(0, 1, 101)[:, None]
    leaves = native.random_trees(rows, np.array([20, 80]), np.array([1, 0]), 200, 0, 1)
    cut = leaves.argmax(axis=0)
    assert (np.diff(leaves, axis=0) >= 0).all()
    assert (leaves.max(axis=0) == 1).all()
    assert cut.min() >= 21
    assert cut.max() <= 80
    assert cut.mean() == pytest.approx(50.5, abs=4 * 17.3 / np.sqrt(200))  # uniform between them


def test_values_that_are_no_numbers_end_in_some_leaf():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 4))
    rows[rng.random(rows.shape) < 0.3] = np.nan
    rows[rng.random(rows.shape) < 0.1] = np.inf
    rows[rng.random(rows.shape) < 0.1] = -np.inf
    leaves = native.random_trees(rows, np.arange(60), rng.integers(0, 5, 60), 10, 0, 1)
    assert leaves.min() == 0
    assert leaves.max() < 60


@pytest.mark.slow
@pytest.mark.parametrize("load", [load_iris, pytest.param(load_digits, marks=pytest.mark.slow(nightly=True))])
def test_as_fine_and_as_pure_as_those_of_scikit_learn(load):
    X, y = load(return_X_y=True)
    # scikit-learn's count features that do not differ as tried: here all do
    X = np.ascontiguousarray(X + np.random.default_rng(0).normal(size=X.shape) / 100)
    gap = np.zeros((8, 2))
    for seed in range(8):
        items = np.random.default_rng(seed).permutation(len(X))[:60]
        home = np.unique(y[items], return_inverse=True)[1].astype(np.int64)
        theirs = ExtraTreesClassifier(100, random_state=seed).fit(X[items], home).apply(X)
        ours = native.random_trees(X, items, home, 100, seed, 1)
        gap[seed] = np.subtract(of_one_class(ours, y), of_one_class(theirs, y))
    error = gap.std(axis=0, ddof=1) / np.sqrt(8)
    assert (error < 0.005).all()
    assert (np.abs(gap.mean(axis=0)) < 4 * error).all()


def of_one_class(leaves, y):
    """Share of the pairs of rows that share a leaf, and share of these that are of one class."""
    pairs = np.zeros(2)
    for leaf in leaves.T:
        table = np.zeros((leaf.max() + 1, y.max() + 1))
        np.add.at(table, (leaf, y), 1)
        pairs += (table.sum(axis=1) ** 2).sum(), (table**2).sum()
    return pairs[0] / leaves.shape[1] / len(y) ** 2, pairs[1] / pairs[0]


# blocks are 128 rows wide and 64 high; numbers of leaves have one byte that differs, or several, or none
@settings(deadline=None)
@given(
    st.integers(1, 40) | st.sampled_from([63, 64, 65, 127, 128, 129, 300]),
    st.integers(1, 9),
    st.lists(st.sampled_from([1, 2, 200, 256, 257, 70_000, 2**31 - 1]), min_size=1, max_size=5),
    st.integers(0, 10**6),
)
def test_pairs_of_leaves(n, t, numbers, seed):
    rng = np.random.default_rng(seed)
    leaves = rng.integers(0, rng.choice(numbers, t), (n, t)).astype(np.int32)
    leaves[rng.random((n, t)) < 0.3] = 1  # so that some are shared
    leaves -= rng.choice([0, 2**30], t).astype(np.int32)
    packed, some = native.pack_leaves(leaves), rng.integers(0, n, 5)
    wanted = twin.shared(leaves)
    np.testing.assert_array_equal(native.shared_leaves(packed, np.arange(n), 1), wanted)
    np.testing.assert_array_equal(native.shared_leaves(packed, some, 1), wanted[some])
    out = np.zeros((n, n), dtype=np.float32)
    forest = native.ForestShare(packed, np.float32(0.5), np.float32(0.25))
    mean = rng.integers(0, 8, (n, n)).astype(np.float32)
    native.mix_lower(out, mean, [], np.ones(1, dtype=np.float32), forest, 1)
    np.testing.assert_array_equal(out, np.tril(mean * 0.5 + wanted * 0.25))


@given(st.integers(1, 30), st.integers(1, 6), st.integers(1, 4), st.integers(0, 10**6))
def test_leaves_that_rows_share_with_groups(n, n_trees, n_groups, seed):
    rng = np.random.default_rng(seed)
    leaves = rng.integers(0, 4, (n, n_trees)).astype(np.int32)
    rows, members = rng.integers(0, n, 7), rng.integers(0, n, 9)
    group = rng.integers(0, n_groups, 9)
    found = native.count_leaf_mates(leaves, rows, members, group, n_groups)
    same = (leaves[rows][:, None] == leaves[members]).sum(axis=2)
    expected = np.stack([same[:, group == g].sum(axis=1) for g in range(n_groups)], axis=1)
    np.testing.assert_array_equal(found, expected)


def test_any_number_of_threads_gives_the_same():
    problem = a_problem("noise", 1500, 10, 300, 7, 0)
    leaves = native.random_trees(*problem, 150, 5, 1)
    np.testing.assert_array_equal(leaves, native.random_trees(*problem, 150, 5, 3))
    packed, every = native.pack_leaves(leaves), np.arange(1500)
    one, three = (native.shared_leaves(packed, every, n_threads) for n_threads in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_more_trees_are_the_same_and_some_more():
    problem = a_problem("noise", 50, 4, 30, 3, 0)
    few, many = native.random_trees(*problem, 3, 9, 1), native.random_trees(*problem, 8, 9, 1)
    np.testing.assert_array_equal(few, many[:, :3])


ROWS, ITEMS, HOME = np.zeros((5, 3)), np.arange(4), np.array([0, 1, 1, 0])
LEAVES = np.zeros((5, 2), np.int32)
PACKED = native.pack_leaves(LEAVES)
SQUARE, FACTOR = np.zeros((5, 5), np.float32), np.ones(1, np.float32)
WEIGHTS, SEEDS = np.ones((2, 4), np.int32), np.zeros(2, np.uint64)
FIXED = SQUARE.copy()
FIXED.flags.writeable = False


def grow(rows=ROWS, items=ITEMS, home=HOME, n_trees=2, seed=0, n_threads=1, max_features=None):
    return native.random_trees(rows, items, home, n_trees, seed, n_threads, max_features)


def weigh(weights=WEIGHTS, seeds=SEEDS):
    return native.weighted_trees(ROWS, ITEMS, HOME, weights, seeds, 1)


def mates(leaves=LEAVES, rows=ITEMS, members=ITEMS, group=HOME, n_groups=2):
    return native.count_leaf_mates(leaves, rows, members, group, n_groups)


def share(rows=ITEMS, n_threads=1, **changed):
    return native.shared_leaves(PACKED._replace(**changed), rows, n_threads)


def mix(out=SQUARE, families=(), factors=FACTOR, rows=5, n_threads=1):
    forest = native.ForestShare(native.pack_leaves(LEAVES[:rows]), np.float32(1), np.float32(1))
    return native.mix_lower(out, SQUARE, families, factors, forest, n_threads)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: weigh(weights=WEIGHTS[:, :3].copy()), ValueError, r"weights must have shape \(≥1, 4\)"),
        (lambda: weigh(weights=WEIGHTS.astype("i8")), TypeError, "weights .* int32"),
        (lambda: weigh(weights=WEIGHTS - 1), ValueError, "one must be at least 1"),
        (lambda: weigh(weights=np.array([[2, -1, 1, 1]] * 2, np.int32)), ValueError, "not be negative"),
        (lambda: weigh(seeds=SEEDS[:1]), ValueError, r"seeds must have shape \(2\)"),
        (lambda: mates(leaves=LEAVES - 1), ValueError, "leaves holds -1"),
        (lambda: mates(rows=ITEMS + 2), ValueError, r"rows holds 2 to 5\. Pass 0 to 4"),
        (lambda: mates(members=ITEMS - 1), ValueError, "members holds -1 to 2"),
        (lambda: mates(group=HOME + 1), ValueError, r"group holds 1 to 2\. Pass 0 to 1"),
        (lambda: mates(n_groups=0), ValueError, "n_groups must be at least 1"),
        (lambda: grow(rows=ROWS.astype("f4")), TypeError, "rows .* float64, got an array of float32"),
        (lambda: grow(rows=ROWS[:, :0]), ValueError, r"rows .* got \(5, 0\)"),
        (lambda: grow(rows=ROWS.T), ValueError, "rows must be C-contiguous"),
        (lambda: grow(items=ITEMS.astype("i4")), TypeError, "items .* int64"),
        (lambda: grow(items=ITEMS[:0], home=HOME[:0]), ValueError, r"items .* \(≥1\)"),
        (lambda: grow(items=ITEMS + 2), ValueError, r"items holds 2 to 5\. Pass 0 to 4"),
        (lambda: grow(items=ITEMS - 1), ValueError, r"items holds -1 to 2\. Pass 0 to 4"),
        (lambda: grow(home=HOME[:2]), ValueError, r"home must have shape \(4\)"),
        (lambda: grow(home=HOME - 1), ValueError, r"home holds -1 to 0\. Pass 0 to 3"),
        (lambda: grow(home=HOME * 4), ValueError, r"home holds 0 to 4\. Pass 0 to 3"),
        (lambda: grow(n_trees=0), ValueError, "n_trees must be at least 1, got 0"),
        (lambda: grow(n_threads=0), ValueError, "n_threads must be at least 1, got 0"),
        (lambda: grow(seed=-1), ValueError, r"seed must be 0 to 2\*\*64 - 1, got -1"),
        (lambda: grow(seed=2**64), ValueError, r"seed must be 0 to 2\*\*64 - 1, got 1844"),
        (lambda: grow(max_features=0), ValueError, "max_features must be 1 to 3, got 0"),
        (lambda: grow(max_features=4), ValueError, "max_features must be 1 to 3, got 4"),
        (lambda: native.pack_leaves(LEAVES.astype("i8")), TypeError, "leaves .* int32"),
        (lambda: native.pack_leaves(LEAVES[:, :0]), ValueError, r"leaves .* got \(5, 0\)"),
        (lambda: native.pack_leaves(np.zeros((5, 256), "i4")), ValueError, "256 trees. Pass at most 255"),
        (lambda: share(rows=ITEMS + 2), ValueError, r"rows holds 2 to 5\. Pass 0 to 4"),
        (lambda: share(rows=ITEMS.astype("i4")), TypeError, "rows .* int64"),
        (lambda: share(of_tree=PACKED.of_tree + 1), ValueError, "of_tree must hold .* add up to 2"),
        (lambda: share(block=PACKED.block[:0]), ValueError, r"block must have shape \(1, 2, 128\)"),
        (lambda: share(n_threads=0), ValueError, "n_threads must be at least 1"),
        (lambda: mix(out=FIXED), ValueError, "out is read-only"),
        (lambda: mix(out=SQUARE[:4]), ValueError, r"out must have shape \(5, 5\)"),
        (lambda: mix(families=[SQUARE]), TypeError, "families .* uint16"),
        (lambda: mix(factors=np.ones(2, "f4")), ValueError, r"factors must have shape \(0\), got \(1,\)"),
        (lambda: mix(rows=4), ValueError, r"row must have shape \(5, 2\)"),
        (lambda: mix(n_threads=0), ValueError, "n_threads must be at least 1"),
    ],
)
def test_bad_arguments_raise_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()
