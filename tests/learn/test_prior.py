"""The clustering that constraints alone give."""

import numpy as np
from sklearn.datasets import make_blobs

import linkwise as lw
from linkwise.learn import prior as module
from linkwise.learn.prior import cluster_by_constraints


def test_as_many_clusters_as_the_silhouette_says():
    for k in (2, 3, 5):
        X, y = make_blobs(150, centers=[[30 * j, 30 * (j % 2)] for j in range(k)], random_state=k)
        labels = cluster_by_constraints(X, lw.Evidence(len(X)), 0)
        assert len(set(labels)) == k
        assert len(set(zip(labels.tolist(), y.tolist(), strict=True))) == k


def test_many_rows_are_judged_by_a_sample(monkeypatch):
    monkeypatch.setattr(module, "SILHOUETTE_ROWS", 60)
    X, y = make_blobs(900, centers=[[0, 0], [30, 0], [0, 30]], random_state=0)
    labels = cluster_by_constraints(X, lw.Evidence(len(X)), 0)
    assert len(set(zip(labels.tolist(), y.tolist(), strict=True))) == 3


def test_float32_rows():
    X, y = make_blobs(60, centers=[[0, 0], [30, 0]], random_state=0)
    known = lw.Constraints.sample(y, 20, 0)
    labels = lw.COBRAS(random_state=0).fit(X.astype(np.float32), constraints=known).labels_
    assert lw.constraint_score(labels, known) == 1.0


def test_hundreds_of_groups():
    """About half of the rows are named by a constraint."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 3)), rng.integers(0, 5, 1000)
    known = lw.Constraints.sample(y, 350, 0)
    model = lw.COBRAS(random_state=0).fit(X, constraints=known)
    assert model.violations_ == 0
