"""Clusterers and validity indices that are plugged into FeatureWeightClustering."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import silhouette_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, minmax_scale

import linkwise as lw
from linkwise.cluster.feature_weights import tuning
from linkwise.cluster.feature_weights.parts import make_clusterer, name_clusters

X, CLASSES = load_iris(return_X_y=True)
X = minmax_scale(X)
C = lw.Constraints.sample(CLASSES, 40, 0)


def fitted(clusterer, n_clusters=3, constraints=C, **settings):
    settings = {"max_evals": 40, "random_state": 0, **settings}
    model = lw.FeatureWeightClustering(n_clusters, clusterer=clusterer, **settings)
    return model.fit(X, constraints=constraints)


# ---------------------------------------------------------------- what a clusterer is told
@pytest.mark.slow
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_the_number_and_the_seed_reach_the_last_step_of_a_pipeline(depth):
    clusterer = KMeans(2, init="random", n_init=1)
    for _ in range(depth):
        clusterer = make_pipeline(StandardScaler(), clusterer)
    one, other = fitted(clusterer), fitted(clusterer)
    assert one.n_clusters_ == 3
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.predict(X), one.labels_)


def test_a_seed_that_is_settled_and_a_number_that_is_none_stay():
    assert make_clusterer(KMeans(2, random_state=7), 3, 1).get_params()["random_state"] == 7
    threshold = AgglomerativeClustering(n_clusters=None, distance_threshold=3.0)
    assert make_clusterer(threshold, 3, 1).n_clusters is None
    assert fitted(threshold).n_clusters_ >= 1


class Wavering(ClusterMixin, BaseEstimator):
    """Every model tells the rows apart by the next column; all of them are kept."""

    fits = 0

    def fit_predict(self, X, y=None):
        self.column_ = Wavering.fits % X.shape[1]
        Wavering.fits += 1
        return self.predict(X)

    def predict(self, X):
        return (X[:, self.column_] > 0).astype(int)


def test_the_model_that_was_best_predicts_and_every_clustering_is_counted():
    Wavering.fits = 0
    model = fitted(Wavering(), 2)
    assert model.n_evals_ == Wavering.fits
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_a_class_instead_of_an_estimator_raises_an_error():
    with pytest.raises(TypeError, match=r"clusterer=KMeans is a class\. Pass an estimator: clusterer=KMeans"):
        fitted(KMeans)


# ---------------------------------------------------------------- constraints
class Told(lw.PCKMeans):
    """Remembers how many constraints each fit was given."""

    told: ClassVar[list[int]] = []

    def fit(self, X, y=None, *, constraints=None, progress=None):
        self.told.append(0 if constraints is None else constraints.n_constraints)
        return super().fit(X, y, constraints=constraints, progress=progress)


def test_weights_are_judged_by_what_a_clusterer_does_without_the_constraints():
    """With them it would satisfy all under any weights, and nothing would be learned."""
    Told.told.clear()
    model = fitted(Told(n_init=2))
    assert Told.told[-1] == 40
    assert set(Told.told[:-1]) == {0}
    assert model.n_evals_ == len(Told.told) > 10
    assert len(set(model.weights_.tolist())) > 1
    assert model.violations_ <= lw.PCKMeans(3, random_state=0).fit(X, constraints=C).violations_


def test_a_pair_in_the_noise_is_no_merit():
    rows = np.array([[0.0], [1.0], [2.0]])
    c = lw.Constraints(3, [(0, 1)], [(0, 2)])

    def labels(*given):
        return lambda rows, starts: name_clusters(rows, np.array(given))

    found = [
        tuning.Trials(tuning.Aim(rows, c, labels(*given), lambda r, f: 0.0), 1)(np.ones(1))
        for given in ((-1, -1, -1), (-1, -1, 0), (0, 0, 1), (0, 0, 0))
    ]
    assert [(w.satisfied, w.broken) for w in found] == [(0, 2), (1, 1), (2, 0), (1, 1)]


# ---------------------------------------------------------------- validity
def test_an_index_without_a_value_is_the_worst():
    """The silhouette wants two clusters at least, and DBSCAN may find one."""
    model = fitted(DBSCAN(eps=0.3), validity=silhouette_score)
    assert model.violations_ >= 0
    assert fitted(None, 1, validity=silhouette_score).quality_ == -np.inf
    assert fitted(None, validity=lambda rows, labels: float("nan")).quality_ == -np.inf


def test_an_index_with_a_value_comes_before_one_without():
    seen = []

    def odd(rows, labels):
        seen.append(len(seen))
        return 0.25 if len(seen) == 5 else float("nan")

    model = fitted(None, validity=odd, delta=0.1, constraints=lw.Constraints(150, [(0, 1)], [(0, 149)]))
    assert model.quality_ == 2.25


@pytest.mark.parametrize("value", [None, "0.5", [0.5], 1j])
def test_an_index_that_returns_no_number_raises_an_error(value):
    with pytest.raises(TypeError, match=r"validity returned .*\. It must return a number"):
        fitted(None, validity=lambda rows, labels: value)
