"""Coarser graphs: what they keep, and that clusterings of them have the same value on the finer ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from linkwise.cluster.graph.coarsen import coarsen, refine
from linkwise.cluster.graph.partition import evaluate_partition
from linkwise.cluster.graph.ratio_cut import CutProblem


def random_problem(m, seed, n_pairs=0, balance="ncut"):
    """A connected graph, volumes, and random cannot-links."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((m, m)) * (rng.random((m, m)) < 0.3), 1)
    upper[np.arange(m - 1), np.arange(1, m)] += 0.1
    weights = upper + upper.T
    pairs = [(i, j) for i in range(m) for j in range(i + 1, m)]
    apart = np.array(pairs)[rng.permutation(len(pairs))[:n_pairs]].reshape(-1, 2)
    return CutProblem(sp.csr_array(weights), weights.sum(axis=0), np.unique(apart, axis=0), balance)


def test_the_strongest_edges_are_merged_first():
    W = np.array([[0, 5, 1, 0], [5, 0, 2, 0], [1, 2, 0, 4], [0, 0, 4, 0.0]])
    problem = CutProblem(sp.csr_array(W), W.sum(axis=0), np.empty((0, 2), dtype=np.int64), "ncut")
    coarse, levels = coarsen(problem, 3)
    assert [level.number.tolist() for level in levels] == [[0, 1, 2, 2]]  # 4 (1/7 + 1/4) > 5 (1/6 + 1/7)
    np.testing.assert_array_equal(coarse.weights.toarray(), [[0, 5, 1], [5, 0, 2], [1, 2, 0]])
    np.testing.assert_array_equal(coarse.volume, [6, 7, 11])


@settings(max_examples=40)
@given(
    st.integers(4, 25),
    st.integers(0, 1000),
    st.integers(0, 6),
    st.integers(2, 12),
    st.sampled_from(["ncut", "cheeger"]),
)
def test_a_clustering_has_the_same_value_on_the_finer_graph(m, seed, n_pairs, most, balance):
    problem = random_problem(m, seed, n_pairs, balance)
    coarse, levels = coarsen(problem, most)
    assert coarse.volume.sum() == pytest.approx(problem.volume.sum())
    assert len(coarse.apart) == len(problem.apart)
    k = min(3, len(coarse.volume))
    labels = np.random.default_rng(seed).permutation(np.arange(len(coarse.volume)) % k).astype(np.int32)
    fine = labels
    for level in reversed(levels):
        fine = fine[level.number]
    one, other = evaluate_partition(coarse, labels), evaluate_partition(problem, fine)
    assert one[:2] == other[:2]
    assert one.cut == pytest.approx(other.cut)
    better = evaluate_partition(problem, refine(labels, levels, k))
    assert better <= other._replace(cut=other.cut + 1e-9)


def test_nodes_with_cannot_links_stay_apart():
    problem = random_problem(12, 0)
    every = np.array([(i, j) for i in range(12) for j in range(i + 1, 12)])
    coarse, levels = coarsen(problem._replace(apart=every), 2)
    assert not levels
    assert len(coarse.volume) == 12


def test_small_graphs_are_cut_whole():
    X, y = make_blobs(120, 4, centers=3, cluster_std=3.0, random_state=0)
    pairs = lw.Constraints.sample(y, 20, random_state=0)
    one, other = (
        lw.COSC(3, n_runs=1, max_nodes=most, random_state=0).fit(X, constraints=pairs)
        for most in ("auto", None)
    )
    np.testing.assert_array_equal(one.labels_, other.labels_)


@pytest.mark.parametrize("k", [2, 3])
def test_coarse_cuts_keep_the_constraints_and_are_hardly_worse(k):
    X, y = make_blobs(400, 4, centers=3, cluster_std=1.0, random_state=0)
    pairs = lw.Constraints.sample(y if k == 3 else y > 0, 40, random_state=0)
    whole, coarse = (
        lw.COSC(k, n_init=2, n_runs=1, max_nodes=most, random_state=0).fit(X, constraints=pairs)
        for most in (None, 100)
    )
    assert coarse.violations_ == whole.violations_ == 0
    assert adjusted_rand_score(whole.labels_, coarse.labels_) > 0.95
    assert coarse.cut_ <= 1.1 * whole.cut_


def test_max_nodes_is_checked():
    with pytest.raises(ValueError, match="max_nodes"):
        lw.COSC(2, max_nodes=1).fit(np.eye(3))
