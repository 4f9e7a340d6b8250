"""Small trees for given labels: what cutting back may and may not do."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.cluster.trees.tree import Condition, Tree
from linkwise.reasons.small_tree import grow_small_tree, prune_tree, sample_rows


def grown(X, codes, **settings):
    return grow_small_tree(
        X,
        codes,
        **{"nominal": (), "max_leaves": 50, "fidelity": 1.0, "n_sample": 10**6, "seed": 0, **settings},
    )


problems = st.integers(0, 10_000).map(np.random.default_rng).map(
    lambda rng: (
        rng.integers(0, 6, (rng.integers(2, 40), rng.integers(1, 4))).astype(float),
        rng,
    )
)  # fmt: skip


def codes_for(X, rng):
    raw = rng.integers(0, 4, len(X))
    return np.unique(raw, return_inverse=True)[1].ravel().astype(np.int32)


@pytest.mark.slow
@given(problems)
@settings(max_examples=60, deadline=None)
def test_the_largest_tree_is_as_good_as_rows_allow(problem):
    X, rng = problem
    codes = codes_for(X, rng)
    tree = grown(X, codes, max_leaves=1000)
    _, same = np.unique(X, axis=0, return_inverse=True)
    best = sum(np.bincount(codes[same.ravel() == s]).max() for s in range(same.max() + 1))
    assert (tree.predict(X) == codes).sum() == best


@pytest.mark.slow
@given(problems, st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_what_is_asked_for_is_kept_and_every_cluster_has_a_leaf(problem, fidelity):
    X, rng = problem
    codes = codes_for(X, rng)
    full, small = grown(X, codes, max_leaves=1000), grown(X, codes, max_leaves=1000, fidelity=fidelity)
    reached = (full.predict(X) == codes).mean()
    assert (small.predict(X) == codes).mean() >= min(fidelity, reached) - 1e-12
    assert len(small.leaves) <= len(full.leaves)
    assert set(small.predict(X)) == set(full.predict(X))
    for node, test in enumerate(small.tests):  # nothing is left to merge for nothing
        if test is not None:
            ends = small.label[[small.yes[node], small.no[node]]]
            assert ends[0] < 0 or ends[0] != ends[1]


def test_the_branch_that_fewest_rows_need_goes_first():
    #            0: x0>0
    #      1: x1>0        2: x1>0
    #   3: A   4: B     5: A   6: C
    tests = (Condition(0, 0.0), Condition(1, 0.0), Condition(1, 0.0), None, None, None, None)
    yes, no = np.array([[1, 3, 5, -1, -1, -1, -1], [2, 4, 6, -1, -1, -1, -1]], dtype=np.int32)
    tree = Tree(tests, yes, no, np.array([-1, -1, -1, 0, 0, 0, 0], dtype=np.int32))
    reached = np.zeros((7, 3))
    reached[3, 0], reached[4, 1], reached[5, 0], reached[6, 2] = 50, 2, 10, 38
    assert len(prune_tree(tree, reached, 1.0).leaves) == 4
    cut = prune_tree(tree, reached, 0.9)  # ten rows of cluster 0 go before the only leaf of cluster 1
    assert [(len(path), int(cut.label[leaf])) for leaf, path in cut.paths()] == [(2, 0), (2, 1), (1, 2)]
    reached[5, 1], reached[5, 0] = 10, 0
    cut = prune_tree(tree, reached, 0.9)  # cluster 1 has two leaves now, and the smaller one goes
    assert [(len(path), int(cut.label[leaf])) for leaf, path in cut.paths()] == [(1, 0), (2, 1), (2, 2)]


def test_close_values_far_from_zero_are_distinguished():
    X = 1e9 + np.arange(8.0)[:, None] / 8
    codes = (np.arange(8) >= 4).astype(np.int32)
    tree = grown(X, codes)
    assert len(tree.leaves) == 2
    np.testing.assert_array_equal(tree.predict(X), codes)


def test_nominal_columns_are_asked_for_one_value():
    X = np.array([[float(v)] for v in (0, 1, 2, 3, 4) * 4])
    codes = (X[:, 0] == 2).astype(np.int32)
    tree = grown(X, codes, nominal=(0,))
    assert tree.tests[0] == Condition(0, 2.0, equals=True)
    assert len(tree.leaves) == 2


def test_one_cluster_is_one_leaf():
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert grown(X, np.zeros(20, np.int32)).tests == (None,)
    two = grown(X, np.arange(20, dtype=np.int32) % 2, max_leaves=1)
    assert (two.tests, two.label.tolist()) == ((None,), [0])


@pytest.mark.parametrize(("most", "k"), list(product([50, 300], [1, 3, 40])))
def test_a_sample_holds_every_cluster_and_weighs_like_all_rows(most, k):
    rng = np.random.default_rng(k)
    codes = np.sort(rng.integers(0, k, 2000)) ** 2 // max(k, 1)
    codes = np.unique(codes, return_inverse=True)[1].ravel().astype(np.int32)
    rng.shuffle(codes)
    rows, weight = sample_rows(codes, most, 0)
    sizes = np.bincount(codes)
    assert len(rows) <= max(most, len(sizes))
    assert (np.diff(rows) > 0).all()
    np.testing.assert_allclose(np.bincount(codes[rows], weight), sizes)
    again, _ = sample_rows(codes, most, 0)
    np.testing.assert_array_equal(rows, again)


def test_few_rows_are_all_taken():
    rows, weight = sample_rows(np.zeros(10, np.int32), 10, 0)
    assert rows.tolist() == list(range(10))
    assert weight is None
