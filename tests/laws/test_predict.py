"""What holds for every clusterer and learner that assigns new rows."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from laws.clustering import CENTERS, blobs, unnamed
from linkwise.learn.oracles import TruthOracle
from linkwise.select.base import route_constraints
from registry import LEARNERS, STORABLE, each_learner, each_predictor, each_sparse, sweep

FAR = 3.0 * CENTERS  # groups that no method divides
MOST_ELSEWHERE = {
    "COPKMeans": 0.1,
    "ConstrainedKMeans": 0.05,
    "PCKMeans": 0.1,
    "MPCKMeans": 0.1,
    "CKM": 0.12,
    "RCKM": 0.11,
    "BCKM": 0.19,
    "COBRAS": 0.03,
    "ExploreConsolidate": 0.03,
    "MinMax": 0.15,
    "NPU": 0.03,
    "ActiveFeatureWeights": 0.04,
    "ActiveCOBS": 0.01,
}
"""The largest share of fitted rows that constraints put elsewhere than `predict` does; 0 by default.

Add a method whose `fit` looks at constraints and whose `predict` cannot.
"""
UNSETTLED = {"RCKM": 0.05, "BCKM": 0.05}
"""The same share of the rows that no constraint names, where rounds may end before their labels repeat."""


def far_blobs(n=90, seed=0):
    """Three groups that lie far apart."""
    X, y = blobs(n, seed)
    return X - CENTERS[y] + FAR[y], y


def fit_clusterer(entry, X, y, n_pairs=30):
    return fit_with(entry.make(3, random_state=0), X, lw.Constraints.sample(y, n_pairs, 0))


def fit_with(model, X, constraints):
    return model.fit(X, **route_constraints(model, constraints))


def check_new_labels(model, new):
    """Labels of new rows have a fixed form, and depend on nothing but the row."""
    labels = model.predict(new)
    assert labels.shape == (len(new),)
    assert labels.dtype == np.int32
    named = set(model.labels_.tolist()) | ({-1} if getattr(model, "leaves_noise", False) else set())
    assert set(labels.tolist()) <= named
    order = np.random.default_rng(0).permutation(len(new))
    np.testing.assert_array_equal(model.predict(new[order]), labels[order])
    np.testing.assert_array_equal(model.predict(np.vstack([new, new])), np.r_[labels, labels])
    for at in range(0, len(new), 17):
        assert model.predict(new[[at]]).tolist() == [labels[at]]
    with pytest.raises(ValueError, match=r"3 features, but .* is expecting 2"):
        model.predict(np.zeros((2, 3)))


def check_fitted_rows(model, X, constraints, name):
    """`predict` tells what `fit` told, except of rows that a constraint put elsewhere than the rule would."""
    predicted = model.predict(X)
    for moved in (X.astype(np.float32), X + 1e-12):
        np.testing.assert_array_equal(model.predict(moved), predicted)
    is_elsewhere, method = predicted != model.labels_, name.replace(",", "").split()[0]
    assert is_elsewhere.mean() <= MOST_ELSEWHERE.get(method, 0), f"See MOST_ELSEWHERE for {method}."
    assert is_elsewhere[unnamed(constraints)].mean() <= UNSETTLED.get(method, 0)


@each_predictor
def test_labels_of_new_rows_depend_on_the_row_alone(entry):
    X, y = blobs(spread=3.0)
    check_new_labels(fit_clusterer(entry, X, y), blobs(100, seed=1, spread=4.0)[0])


@each_predictor
def test_fitting_does_not_keep_a_reference_to_the_rows(entry):
    X, y = blobs(spread=3.0)
    new = blobs(50, seed=1, spread=3.0)[0]
    model = fit_clusterer(entry, X, y)
    before = model.predict(new)
    X[:] = 0.0
    np.testing.assert_array_equal(model.predict(new), before)


@each_predictor
def test_held_out_rows_get_the_clusters_that_a_refit_gives_them(entry):
    X, y = far_blobs()
    held = np.arange(len(X)) % 3 == 0
    model = fit_clusterer(entry, X[~held], y[~held])
    again = fit_with(
        entry.make(3, random_state=0),
        np.vstack([X[~held], X[held]]),
        lw.Constraints(
            len(X),
            lw.Constraints.sample(y[~held], 30, 0).must_link,
            lw.Constraints.sample(y[~held], 30, 0).cannot_link,
        ),
    )
    predicted, refitted = model.predict(X[held]), again.labels_[(~held).sum() :]
    known = (predicted >= 0) & (refitted >= 0)
    assert known.mean() >= 0.8  # the others lie at the rim of a group: noise
    assert adjusted_rand_score(refitted[known], predicted[known]) == 1.0
    assert adjusted_rand_score(y[held][known], predicted[known]) == 1.0


@each_predictor
def test_fitted_rows_keep_their_labels_after_rounding(entry):
    X, y = blobs(120, spread=3.0)
    constraints = lw.Constraints.sample(y, 60, 0)
    check_fitted_rows(fit_with(entry.make(3, random_state=0), X, constraints), X, constraints, entry.name)


@each_sparse
@pytest.mark.parametrize("n_pairs", [0, 30])
def test_new_rows_may_be_sparse(entry, n_pairs):
    from scipy.sparse import csr_array

    X, y = far_blobs()
    X, new = (
        np.where(np.abs(X) < 1, 0, X),
        np.where(np.abs(far_blobs(seed=1)[0]) < 1, 0, far_blobs(seed=1)[0]),
    )
    model = fit_clusterer(entry, csr_array(X), y, n_pairs)
    np.testing.assert_array_equal(model.predict(csr_array(new)), model.predict(new))


# ---------------------------------------------------------------- learners
def corners(n=120, seed=0, spread=1.0):
    """Four groups at the corners of a square, far apart unless the spread is large."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4
    X = rng.normal(scale=spread, size=(n, 2)) + 30.0 * np.column_stack([y // 2, y % 2])
    return X, y


@each_learner
@pytest.mark.parametrize("budget", [0, 3, 40])
def test_learners_label_new_rows_by_the_row_alone(entry, budget):
    X, y = corners(spread=8.0)
    model = entry.make(random_state=0).fit(X, oracle=TruthOracle(y), budget=budget)
    check_new_labels(model, corners(seed=1, spread=12.0)[0])
    new, before = corners(seed=2, spread=12.0)[0], model.labels_.copy()
    predicted = model.predict(new)
    X[:] = 0.0
    np.testing.assert_array_equal(model.predict(new), predicted)
    np.testing.assert_array_equal(model.labels_, before)


@each_learner
def test_learners_label_new_rows_without_an_oracle_too(entry):
    X, y = corners(spread=8.0)
    model = entry.make(random_state=0).fit(X, constraints=lw.Constraints.sample(y, 40, 0))
    check_new_labels(model, corners(seed=1, spread=12.0)[0])
    assert (model.predict(X) == model.labels_).mean() >= 0.8


@sweep((*(entry for entry in LEARNERS if entry.name != "ActiveCOBS"), STORABLE[-1]))
def test_fitted_rows_keep_the_labels_of_a_learner_after_rounding(entry):
    X, y = corners(spread=8.0)
    model = entry.make(random_state=0).fit(X, oracle=TruthOracle(y), budget=30)
    check_fitted_rows(model, X, model.constraints_, entry.name)


@each_learner
def test_held_out_rows_get_the_clusters_that_asking_about_all_rows_gives_them(entry):
    X, y = corners(48)
    held = np.arange(len(X)) % 3 == 0
    model = entry.make(random_state=0).fit(X[~held], oracle=TruthOracle(y[~held]))
    predicted = model.predict(X[held])
    for group in range(4):
        fitted = np.unique(model.labels_[y[~held] == group])
        assert set(predicted[y[held] == group].tolist()) <= set(fitted.tolist())
    if entry.exact:
        again = entry.make(random_state=0).fit(X, oracle=TruthOracle(y))
        assert adjusted_rand_score(y[held], predicted) == 1.0
        assert adjusted_rand_score(again.labels_[held], predicted) == 1.0
