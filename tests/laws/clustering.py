"""What the laws of clusterers share: small problems, and what a clustering satisfies."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

import linkwise as lw
from linkwise.cluster import points

CENTERS = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])


def blobs(n=60, seed=0, spread=1.0):
    """Three clear groups."""
    return make_blobs(n, centers=CENTERS, cluster_std=spread, random_state=seed)


def breaking_is_told():
    """Let those that break constraints warn of it."""
    return warnings.catch_warnings(action="ignore", category=lw.ConstraintWarning)


def of_pairs(model):
    """The labels by which pairs are together: rows of noise, where the clusterer declares it, are alone."""
    if not has_noise(model):
        return model.labels_
    alone = model.labels_.max() + 1 + np.arange(len(model.labels_))
    return np.where(model.labels_ < 0, alone, model.labels_)


def has_noise(model):
    """Whether it is one of those that leave rows out of all clusters."""
    return getattr(model, "leaves_noise", False)


def weight_satisfied(model, constraints):
    """Weight of the constraints that a clusterer satisfied."""
    must, cannot = constraints.find_violations(of_pairs(model))
    return constraints.must_link_weight[~must].sum() + constraints.cannot_link_weight[~cannot].sum()


def unnamed(constraints):
    """The rows that stand in no constraint."""
    named = np.concatenate([constraints.must_link, constraints.cannot_link]).ravel()
    return np.setdiff1d(np.arange(constraints.n_rows), named)


def plain_labels(X, starts, model):
    """Plain k-means from `starts`: labels of the run of least inertia."""
    most = getattr(model, "max_iter", None) or model.max_passes
    runs = points.run_lloyd(X, starts, max_iter=most, tol=getattr(model, "tol", 1e-4))
    return runs.labels[int(runs.inertia.argmin())]


def check_result(model, X, constraints):
    """The common attributes say what they should."""
    labels = model.labels_
    assert labels.shape == (X.shape[0],)
    assert labels.dtype == np.int32
    in_clusters = labels[labels != -1] if has_noise(model) else labels
    assert np.unique(in_clusters).tolist() == list(range(model.n_clusters_))
    assert model.violations_ == sum(
        int(broken.sum()) for broken in constraints.find_violations(of_pairs(model))
    )
    if hasattr(model, "cluster_centers_"):
        assert model.cluster_centers_.shape == (model.n_clusters_, X.shape[1])
        assert model.cluster_centers_.dtype == np.float64


@st.composite
def problems(draw, max_rows=14, conflicts=False, weights=False):
    """Rows, a number of clusters, and constraints that need not fit the rows, nor each other."""
    n, d = draw(st.integers(2, max_rows)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.normal(size=(n, d))
    y = rng.integers(0, draw(st.integers(1, 4)), n)
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
    pairs = pairs[rng.permutation(len(pairs))[: draw(st.integers(0, 2 * n))]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    if conflicts:
        same ^= rng.random(len(pairs)) < draw(st.sampled_from([0.0, 0.1, 0.5]))
    weight = rng.integers(1, 9, len(pairs)) / 2.0 if weights and draw(st.booleans()) else np.ones(len(pairs))
    return X, draw(st.integers(1, min(n, 4))), kept(n, pairs[same], pairs[~same], weight[same], weight[~same])


def kept(n, must, cannot, must_weight=None, cannot_weight=None):
    """Constraints that may contradict each other."""
    weights = {"must_link_weight": must_weight, "cannot_link_weight": cannot_weight}
    with warnings.catch_warnings(action="ignore", category=lw.ConstraintWarning):
        return lw.Constraints(n, must, cannot, **weights, on_conflict="keep")


def colourable(constraints, k):
    """Whether k clusters can satisfy all constraints: every way to label the components is tried."""
    before = [[] for _ in range(constraints.component.max() + 1)]
    for a, b in constraints.component_cannot_link.tolist():
        before[b].append(a)

    def goes_on(labels):
        if len(labels) == len(before):
            return True
        free = set(range(k)) - {labels[a] for a in before[len(labels)]}
        return any(goes_on([*labels, label]) for label in free)

    return len(constraints.conflicts) == 0 and goes_on([])
