"""Rows that were not clustered: what the nearest base row decides is what the rule decides."""

import numpy as np
import pytest

from linkwise.select import assign
from linkwise.select.pool import build_pool


@pytest.mark.parametrize("noise", ["cluster", "singletons", "nearest"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_followers_are_assigned_as_by_the_rule(dtype, noise):
    X = np.random.default_rng(0).normal(size=(600, 3)).round(1).astype(dtype)  # with copies
    pool = build_pool(X, "quick", 0, max_rows=100, noise=noise)
    assert pool.sampled
    base = X[pool.base_rows].astype(np.float64)
    hows = set()
    for number in range(len(pool.labels)):
        rule = assign.find_rule(pool, number, X, 1)
        hows.add(rule.how)
        assert np.array_equal(rule.label_followers(X, base, pool.base, 1), rule(X, 1))
    assert len(hows) == 3


def test_rows_too_near_for_their_squared_distance_are_searched():
    """A base row that is no core decides about its copies, even at a squared distance of 0 from a core."""
    X = np.array([[0.0], [1e-200], [1.0], [1e-200]])
    labels = np.array([0, 1, 2], dtype=np.int32)
    others = assign.WithinRadius(X[1:2], labels[1:2], 0.0, np.array([1]))
    cores = assign.WithinRadius(X[[0, 2]], labels[[0, 2]], 1.0, np.array([0, 2]))
    rule = assign.AssignmentRule("", (others, cores), -1)
    of = np.array([0, 0, 2, 0], dtype=np.int32)
    assert rule.label_followers(X, X[:3], of, 1).tolist() == rule(X, 1).tolist() == [1, 1, 2, 1]
