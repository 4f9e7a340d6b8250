"""Clusterers are scikit-learn estimators: every check that it generates passes, none is expected to fail."""

import pickle
from functools import cache

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import linkwise as lw
from registry import CLUSTERERS, each_clusterer, each_kmeans

X, y = load_iris(return_X_y=True)
C = lw.Constraints.sample(y, 60, 0)
ODD = [(0, 60), (60, 120), (0, 120)]  # three rows apart need three clusters


@pytest.fixture(autouse=True)
def _routing(request):
    wanted = request.getfixturevalue("routing") if "routing" in request.fixturenames else False
    with sklearn.config_context(enable_metadata_routing=wanted):
        yield


routing = pytest.mark.parametrize(
    "routing",
    [
        pytest.param(False, id="routing off"),
        pytest.param(True, id="routing on", marks=pytest.mark.slow(nightly=True)),
    ],
)


FIRST_OF_CLASS = {type(entry.make(3)): entry.make(3) for entry in reversed(CLUSTERERS)}


@parametrize_with_checks(list(FIRST_OF_CLASS.values()))
def test_every_generated_check(estimator, check):
    check(estimator)


@each_clusterer
def test_clones_and_pickles_do_the_same(entry):
    model = entry.make(3, random_state=0).fit(X, constraints=C)
    np.testing.assert_array_equal(clone(model).fit(X, constraints=C).labels_, model.labels_)
    thawed = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(thawed.labels_, model.labels_)
    np.testing.assert_array_equal(thawed.predict(X), model.predict(X))


@each_clusterer
def test_fit_predict_is_fit_and_labels(entry):
    labels = entry.make(3, random_state=0).fit_predict(X, constraints=C)
    np.testing.assert_array_equal(labels, entry.make(3, random_state=0).fit(X, constraints=C).labels_)


@routing
@each_clusterer
def test_in_a_pipeline(entry, routing):
    alone = entry.make(3, random_state=0).fit(StandardScaler().fit_transform(X), constraints=C)
    pipeline = make_pipeline(StandardScaler(), entry.make(3, random_state=0))
    key = "constraints" if routing else f"{pipeline.steps[-1][0]}__constraints"
    np.testing.assert_array_equal(pipeline.fit(X, **{key: C})[-1].labels_, alone.labels_)
    np.testing.assert_array_equal(pipeline.predict(X), alone.predict(StandardScaler().fit_transform(X)))


FOLDS = KFold(2, shuffle=True, random_state=0)


@cache
def fitted_to_folds(entry):
    """What cross-validation should fit, made without it; the tests share these."""
    return [entry.make(3, random_state=0).fit(X[rows], constraints=C[rows]) for rows, _ in FOLDS.split(X)]


@routing
@each_clusterer
def test_in_cross_validation(entry, routing):
    found = cross_validate(
        entry.make(3, random_state=0), X, params={"constraints": C}, cv=FOLDS, return_estimator=True
    )
    for model, alone, score, (_, held) in zip(
        found["estimator"], fitted_to_folds(entry), found["test_score"], FOLDS.split(X), strict=True
    ):
        np.testing.assert_array_equal(model.labels_, alone.labels_)
        routed = C[held] if routing else None
        assert score == alone.score(X[held], constraints=routed)


@routing
@each_kmeans
def test_in_a_grid_search(entry, routing):
    search = GridSearchCV(entry.make(3, random_state=0), {"n_clusters": [3, 4]}, cv=2)
    search.fit(X, constraints=C)
    alone = entry.make(search.best_params_["n_clusters"], random_state=0).fit(X, constraints=C)
    np.testing.assert_array_equal(search.best_estimator_.labels_, alone.labels_)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@each_kmeans
def test_a_pipeline_in_a_grid_search(entry):
    steps = make_pipeline(StandardScaler(), entry.make(3, random_state=0))
    name = f"{steps.steps[-1][0]}__n_clusters"
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(steps, {name: [3, 4]}, cv=2).fit(X, constraints=C)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    with pytest.raises(TypeError, match="must_link_weight"):
        search.best_estimator_[-1].score(X, constraints=C, sample_weight=np.ones(len(X)))


@routing
@each_kmeans
def test_clusterers_in_linkwise_s_own_searches(entry, routing):
    search = lw.NumSatSearch(entry.make(3, random_state=0), {"n_clusters": [2, 3]})
    triangle = lw.Constraints(len(X), (), ODD)
    assert search.fit(X, constraints=triangle).best_params_ == {"n_clusters": 3}
