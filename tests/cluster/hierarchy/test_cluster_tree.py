"""The clusters of a dendrogram: the tree, and the best choice against every choice there is."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.cluster.hierarchy.cluster_tree import (
    build_cluster_tree,
    label_rows,
    score_clusters,
    select_clusters,
)


def tree_of(X, least=2, method="single"):
    found = linkage(X, method)
    return build_cluster_tree(found[:, :2].astype(np.int64), found[:, 2], least)


def rows_in(tree):
    """The rows of each cluster, as sets."""
    rows = [set() for _ in tree.parent]
    for row, cluster in enumerate(tree.last.tolist()):
        while cluster >= 0:
            rows[cluster].add(row)
            cluster = int(tree.parent[cluster])
    return rows


@st.composite
def problems(draw):
    n, d = draw(st.integers(3, 16)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    grid = draw(st.booleans())  # rows on a grid: many merges at one height
    X = rng.integers(0, 5, (n, d)).astype(float) if grid else rng.normal(size=(n, d))
    y = rng.integers(0, 3, n)
    n_pairs = draw(st.integers(0, min(10, n * (n - 1) // 2)))
    return X, draw(st.integers(2, 4)), lw.Constraints.sample(y, n_pairs, 0)


@pytest.mark.slow
@given(problems())
def test_clusters_are_parts_of_cuts(problem):
    X, least, _ = problem
    tree, rows = tree_of(X, least), rows_in(tree_of(X, least))
    merged = linkage(X, "single")
    cuts = {
        frozenset(np.flatnonzero(labels == c).tolist())
        for height in (0.0, *merged[:, 2])
        for labels in [fcluster(merged, height, "distance")]
        for c in np.unique(labels)
    }
    assert rows[0] == set(range(len(X)))
    for cluster, parent in enumerate(tree.parent.tolist()[1:], start=1):
        assert parent < cluster
        assert len(rows[cluster]) >= least
        assert frozenset(rows[cluster]) in cuts
        assert rows[cluster] < rows[parent]
    for kin in tree.children:
        assert len(kin) != 1
        assert len(set().union(*(rows[c] for c in kin))) == sum(len(rows[c]) for c in kin)
    assert (tree.stability >= 0).all()


def satisfied(labels, constraints):
    must, cannot = constraints.must_link, constraints.cannot_link
    joined = (labels[must[:, 0]] == labels[must[:, 1]]) & (labels[must] >= 0).all(axis=1)
    apart = (labels[cannot[:, 0]] != labels[cannot[:, 1]]) | (labels[cannot] < 0).all(axis=1)
    return int(joined.sum() + apart.sum())


@pytest.mark.slow
@given(problems(), st.booleans())
def test_no_other_choice_satisfies_more(problem, whole):
    X, least, constraints = problem
    tree = tree_of(X, least)
    found = select_clusters(tree, score_clusters(tree, constraints), whole=whole)
    labels, rows = label_rows(tree, found), rows_in(tree)
    assert [set(np.flatnonzero(labels == labels[min(rows[c])]).tolist()) for c in found] == [
        rows[c] for c in found
    ]
    leaves = {c for c, kin in enumerate(tree.children) if not kin}
    most = (-1, -1.0)
    for some in chain.from_iterable(combinations(range(len(rows)), k) for k in range(1, len(rows) + 1)):
        disjoint = sum(len(rows[c]) for c in some) == len(set().union(*(rows[c] for c in some)))
        covers = all(any(rows[leaf] <= rows[c] for c in some) for leaf in leaves)
        if disjoint and covers and (whole or 0 not in some or len(rows) == 1):
            value = satisfied(label_rows(tree, list(some)), constraints)
            most = max(most, (value, float(tree.stability[list(some)].sum())))
    assert satisfied(labels, constraints) == most[0]
    assert tree.stability[found].sum() == pytest.approx(most[1])


def test_without_constraints_it_is_hdbscan():
    """Where no rows are equally far, stability chooses what scikit-learn's HDBSCAN does."""
    X, _ = make_blobs(200, centers=5, cluster_std=1.5, random_state=1)
    tree = tree_of(X, 5)
    none = score_clusters(tree, lw.Constraints(200))
    labels = label_rows(tree, select_clusters(tree, none, whole=False))
    theirs = HDBSCAN(min_cluster_size=5, min_samples=1, copy=True).fit_predict(X)
    assert adjusted_rand_score(theirs, labels) == 1
