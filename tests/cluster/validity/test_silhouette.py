"""The mean silhouette of many clusterings."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import silhouette_score

from linkwise.cluster.validity import silhouette as module
from linkwise.cluster.validity.silhouette import silhouette_scorer

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("shared", [0, 4000])
def test_it_is_scikit_learns_without_noise(shared, monkeypatch):
    monkeypatch.setattr(module, "SHARED_ROWS", shared)
    score = silhouette_scorer(X)
    assert score(y) == pytest.approx(silhouette_score(X, y))
    noisy = np.where(np.arange(150) % 7 == 0, -1, y)
    assert score(noisy) == pytest.approx(silhouette_score(X[noisy >= 0], noisy[noisy >= 0]))


def test_clusterings_without_silhouettes_score_minus_one_or_zero():
    score = silhouette_scorer(X[:4])
    assert score([0, 0, 0, 0]) == score([-1, -1, -1, -1]) == score([1, 1, -1, -1]) == -1.0
    assert score([0, 1, 2, 3]) == score([0, 1, -1, -1]) == 0.0
