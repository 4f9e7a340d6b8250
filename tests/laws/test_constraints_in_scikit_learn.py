"""Constraints pass through scikit-learn's tools as labels do: cut with the rows, never by pair number.

The probe is an estimator that only writes down what reached it; what should have reached it is cut by
hand.
"""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.datasets import load_iris
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    cross_val_score,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

import linkwise as lw


class Probe(ClusterMixin, BaseEstimator):
    """Keeps the rows and the constraints that it is fitted on; its score tells of both."""

    __metadata_request__fit = {"constraints": True}  # noqa: RUF012
    __metadata_request__score = {"constraints": True}  # noqa: RUF012

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None, *, constraints=None):
        assert constraints is None or len(constraints) == len(X)
        self.X_, self.constraints_ = np.asarray(X), constraints
        return self

    def fit_predict(self, X, y=None, *, constraints=None):
        self.fit(X, constraints=constraints)
        return constraints.component

    def score(self, X, y=None, sample_weight=None, *, constraints=None):
        # a pipeline offers sample_weight to whatever it scores
        held_out = 0.0 if constraints is None else fingerprint(X, constraints)
        return fingerprint(self.X_, self.constraints_) + 3 * held_out + self.n_clusters


def fingerprint(X, constraints):
    """A number that another row, pair or numbering would change."""
    pairs = np.vstack([constraints.must_link, -constraints.cannot_link - 1])
    return float(X.sum() + 1e-3 * (pairs * [1, 7]).sum() + len(pairs))


X, y = load_iris(return_X_y=True)
C = lw.Constraints.sample(y, 120, 0)
FOLDS = KFold(4, shuffle=True, random_state=1)


def cut_by_hand(routing, scale=lambda rows: X):
    """The scores that folds should have; without routing no constraints reach `score`."""
    return np.array(
        [
            fingerprint(scale(rows)[rows], C[rows]) + 3 * routing * fingerprint(scale(rows)[held], C[held])
            for rows, held in FOLDS.split(X)
        ]
    )


routing = pytest.mark.parametrize("routing", [False, True], ids=["routing off", "routing on"])


@pytest.fixture(autouse=True)
def _routing(request):
    wanted = request.getfixturevalue("routing") if "routing" in request.fixturenames else False
    with sklearn.config_context(enable_metadata_routing=wanted):
        yield


def test_a_cut_says_nothing_of_other_rows():
    for rows, _ in FOLDS.split(X):
        assert lw.constraint_score(y[rows], C[rows]) == 1.0
        assert C[rows].n_constraints < C.n_constraints


@routing
def test_clones_of_probes_and_of_constraints(routing):
    model = clone(Probe(3)).fit(X, constraints=C)
    assert model.constraints_ is C
    assert clone(C, safe=False) == C


@pytest.mark.slow
@routing
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_cross_validation(routing, n_jobs):
    options = {"params": {"constraints": C}, "cv": FOLDS, "n_jobs": n_jobs}
    found = cross_validate(Probe(), X, return_estimator=True, **options)
    np.testing.assert_allclose(found["test_score"], cut_by_hand(routing) + 2)
    for model, (rows, _) in zip(found["estimator"], FOLDS.split(X), strict=True):
        assert model.constraints_ == C[rows]
    np.testing.assert_allclose(cross_val_score(Probe(), X, **options), found["test_score"])


@routing
def test_cross_validation_by_shuffling(routing):
    folds = ShuffleSplit(3, train_size=0.5, random_state=0)
    found = cross_validate(Probe(), X, params={"constraints": C}, cv=folds, return_estimator=True)
    for model, (rows, _) in zip(found["estimator"], folds.split(X), strict=True):
        assert model.constraints_ == C[rows]


@routing
def test_a_pipeline(routing):
    pipeline = make_pipeline(StandardScaler(), Probe())
    key = "constraints" if routing else "probe__constraints"
    assert pipeline.fit(X, **{key: C})[-1].constraints_ is C
    np.testing.assert_array_equal(pipeline.fit_predict(X, **{key: C}), C.component)


@routing
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_grid_search(routing, n_jobs):
    search = GridSearchCV(Probe(), {"n_clusters": [2, 5]}, cv=FOLDS, n_jobs=n_jobs).fit(X, constraints=C)
    assert search.best_params_ == {"n_clusters": 5}
    assert search.best_score_ == pytest.approx(cut_by_hand(routing).mean() + 5)
    assert search.best_estimator_.constraints_ == C


@routing
def test_a_grid_search_over_a_pipeline(routing):
    pipeline = make_pipeline(StandardScaler(), Probe())
    key = "constraints" if routing else "probe__constraints"
    search = GridSearchCV(pipeline, {"probe__n_clusters": [2, 5]}, cv=FOLDS).fit(X, **{key: C})
    scaled = cut_by_hand(routing, lambda rows: StandardScaler().fit(X[rows]).transform(X))
    assert search.best_score_ == pytest.approx(scaled.mean() + 5)


def test_train_test_split():
    rows_a, rows_b, X_a, _, C_a, C_b = train_test_split(np.arange(len(X)), X, C, random_state=0)
    assert (len(C_a), len(C_b)) == (len(rows_a), len(rows_b))
    assert (C_a, C_b) == (C[rows_a], C[rows_b])
    np.testing.assert_array_equal(X_a, X[rows_a])


def test_resampling_with_repeats():
    rows, cut = resample(np.arange(len(X)), C, random_state=0)
    assert len(set(rows)) < len(rows)
    assert cut == C[rows]
    assert lw.constraint_score(y[rows], cut) == 1.0


@routing
def test_learners_take_constraints_through_a_pipeline(routing):
    pipeline = make_pipeline(StandardScaler(), lw.COBRAS(random_state=0))
    key = "constraints" if routing else "cobras__constraints"
    model = pipeline.fit(X, **{key: C})[-1]
    assert model.violations_ == 0
    assert model.constraints_.n_constraints == C.n_constraints
