"""Searches: every setting is tried, the best is kept, and constraints reach those who take them."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import linkwise as lw
from linkwise.select.base import route_constraints

X, y = load_iris(return_X_y=True)
C = lw.Constraints.sample(y, 60, 0)
KS = {"n_clusters": [2, 3, 4, 5]}
SEARCHES = (lw.NumSatSearch, lw.CVCPSearch, lw.SilhouetteSearch, lw.DBCVSearch)


def k_means(**parameters):
    return KMeans(n_init=1, random_state=0, **parameters)


def made(search, estimator, grid, **parameters):
    seed = {"random_state": 0} if search is lw.CVCPSearch else {}
    return search(estimator, grid, **seed, **parameters)


each_search = pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.__name__)


@parametrize_with_checks(
    [made(search, k_means(), {"n_clusters": [2, 3]}) for search in SEARCHES]
    + [lw.NumSatSearch(AgglomerativeClustering(), {"n_clusters": [2, 3]})]
)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


class Obedient(ClusterMixin, BaseEstimator):
    """Puts components together, keeps what it was given, and fails where it is told to."""

    def __init__(self, n_clusters=2, fails=False):
        self.n_clusters = n_clusters
        self.fails = fails

    def fit(self, X, y=None, *, constraints=None):
        if self.fails:
            raise RuntimeError(f"no luck with {self.n_clusters}")
        self.constraints_ = constraints
        self.labels_ = constraints.component % self.n_clusters
        return self


# ---------------------------------------------------------------- what is kept
@each_search
def test_all_that_is_reported_fits_together(search):
    model = made(search, k_means(), KS).fit(X, constraints=C)
    assert [tried.params for tried in model.results_] == [{"n_clusters": k} for k in (2, 3, 4, 5)]
    assert [tried.n_clusters for tried in model.results_] == [2, 3, 4, 5]
    assert {tried.failed for tried in model.results_} == {None}
    assert model.best_score_ == max(tried.score for tried in model.results_)
    assert model.best_estimator_.n_clusters == model.best_params_["n_clusters"] == model.n_clusters_
    np.testing.assert_array_equal(model.labels_, model.best_estimator_.labels_)
    np.testing.assert_array_equal(model.labels_, k_means(**model.best_params_).fit_predict(X))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.violations_ == sum(v.sum() for v in C.find_violations(model.labels_))
    assert model.score(X, constraints=C) == 1 - model.violations_ / 60
    assert not hasattr(model.estimator, "labels_")


@each_search
def test_a_repeat_does_the_same(search):
    model = made(search, k_means(), KS).fit(X, constraints=C)
    again = clone(model).fit(X, constraints=C)
    assert again.results_ == model.results_
    np.testing.assert_array_equal(again.labels_, model.labels_)


@pytest.mark.slow
@each_search
@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (DBSCAN(), {"eps": [0.3, 0.5, 0.9], "min_samples": [3, 6]}),
        (SpectralClustering(random_state=0), {"n_clusters": [2, 3], "gamma": [0.5, 1.0]}),
        (GaussianMixture(random_state=0), {"n_components": [2, 3]}),
        (lw.EigengapSearch(random_state=0), {"affinity": ["local_scaling", "nearest_neighbors"]}),
        (lw.COBS(random_state=0), {"preset": [lw.Preset((2, 3), 2, 5, (3, 5), (5,), (0.3,))]}),
        (make_pipeline(MinMaxScaler(), k_means()), [{"kmeans__n_clusters": [2, 3]}]),
    ],
    ids=["DBSCAN", "spectral", "Gaussian mixture", "eigengap", "COBS", "pipeline"],
)
def test_any_clusterer_will_do(search, estimator, grid):
    some = np.arange(0, len(X), 3)
    model = made(search, estimator, grid).fit(X[some], constraints=lw.Constraints.sample(y[some], 30, 0))
    assert len(model.labels_) == len(some)
    assert {tried.failed for tried in model.results_} == {None}
    assert hasattr(model, "predict") == hasattr(estimator, "predict")


def test_equal_scores_go_to_fewer_clusters_then_to_the_first():
    grid = {"n_clusters": [6, 3, 3, 4], "fails": [False]}
    model = lw.NumSatSearch(Obedient(), grid).fit(X, constraints=lw.Constraints(len(X)))
    assert (model.n_clusters_, model.best_score_) == (3, 0)
    assert model.best_params_ is model.results_[1].params


# ---------------------------------------------------------------- constraints
@each_search
def test_constraints_reach_who_takes_them(search):
    model = made(search, Obedient(), {"n_clusters": [2, 3]}).fit(X, constraints=C)
    assert model.best_estimator_.constraints_ == C


def test_constraints_reach_the_last_step_of_a_pipeline():
    pipeline = make_pipeline(MinMaxScaler(), Obedient())
    search = lw.NumSatSearch(pipeline, {"obedient__n_clusters": [2, 3]})
    assert search.fit(X, constraints=C).best_estimator_[-1].constraints_ == C
    with config_context(enable_metadata_routing=True):
        requested = make_pipeline(MinMaxScaler(), Obedient().set_fit_request(constraints=True))
        search = lw.NumSatSearch(requested, {"obedient__n_clusters": [2, 3]})
        assert search.fit(X, constraints=C).best_estimator_[-1].constraints_ == C
        outer = make_pipeline(MinMaxScaler(), lw.NumSatSearch(k_means(), KS)).fit(X, constraints=C)
        assert (
            outer[-1].violations_
            == lw.NumSatSearch(k_means(), KS).fit(MinMaxScaler().fit_transform(X), constraints=C).violations_
        )


def test_who_takes_no_constraints_is_not_given_any():
    assert route_constraints(k_means(), C) == {}
    assert route_constraints(make_pipeline(MinMaxScaler(), DBSCAN()), C) == {}


@each_search
def test_constraints_about_other_rows_raise_errors(search):
    with pytest.raises(ValueError, match="about 5 rows, but X has 150"):
        made(search, k_means(), KS).fit(X, constraints=lw.Constraints(5))


# ---------------------------------------------------------------- what fails
@each_search
def test_a_setting_that_fails_is_recorded(search):
    grid = {"n_clusters": [2, 3], "fails": [True, False]}
    model = made(search, Obedient(), grid).fit(X, constraints=C)
    failed = [tried for tried in model.results_ if tried.params["fails"]]
    assert [tried.failed for tried in failed] == [f"RuntimeError: no luck with {k}" for k in (2, 3)]
    assert all(math.isnan(tried.score) and tried.n_clusters == 0 for tried in failed)
    assert not model.best_params_["fails"]


@each_search
def test_the_error_names_the_reason_if_all_settings_fail(search):
    words = r"Obedient could not .* 2 settings\. .* {'fails': True, 'n_clusters': 2}, .*RuntimeError: no luck"
    with pytest.raises(ValueError, match=words) as caught:
        made(search, Obedient(), {"fails": [True], "n_clusters": [2, 3]}).fit(X, constraints=C)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_parameter_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="Invalid parameter 'n_cluster' for estimator KMeans"):
        lw.NumSatSearch(KMeans(), {"n_cluster": [2]}).fit(X)


def test_labels_of_other_rows_count_as_a_failure():
    class Short(Obedient):
        def fit(self, X, y=None):
            self.labels_ = np.zeros(3)
            return self

    with pytest.raises(ValueError, match=r"labels have shape \(3,\), but there are 150 rows"):
        lw.NumSatSearch(Short(), {"n_clusters": [2]}).fit(X)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: lw.NumSatSearch(3, KS), "estimator"),
        (lambda: lw.NumSatSearch(KMeans(), 3), "param_grid"),
        (lambda: lw.CVCPSearch(KMeans(), KS, n_folds=1), "n_folds"),
        (lambda: lw.DBCVSearch(KMeans(), KS, metric="cosine"), "metric"),
        (lambda: lw.SilhouetteSearch(KMeans(), KS, progress=3), "progress"),
    ],
)
def test_bad_settings_raise_errors(make, words):
    with pytest.raises(ValueError, match=words):
        make().fit(X)


def test_progress_is_reported_and_may_end_the_search():
    told = []
    lw.NumSatSearch(k_means(), KS, progress=lambda *at: told.append(at)).fit(X)
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]

    def enough(done, planned):
        raise KeyError(done)

    with pytest.raises(KeyError, match="1"):
        lw.NumSatSearch(k_means(), KS, progress=enough).fit(X)


# ---------------------------------------------------------------- each by its own score
PARTS = {k: k_means(n_clusters=k).fit_predict(X) for k in (2, 3, 4, 5)}


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6), st.integers(0, 40))
def test_numsat_satisfies_no_fewer_than_any_setting(seed, n):
    c = lw.Constraints.sample(y, n, seed)
    model = lw.NumSatSearch(k_means(), KS).fit(X, constraints=c)
    broken = [(sum(int(v.sum()) for v in c.find_violations(labels)), k) for k, labels in PARTS.items()]
    assert (model.violations_, model.n_clusters_) == min(broken)
    assert model.best_score_ == c.n_constraints - model.violations_


def test_numsat_counts_a_constraint_by_its_weight():
    pairs, weight = [(0, 1), (0, 60), (60, 120)], [1.0, 1.0, 9.0]
    c = lw.Constraints(len(X), pairs[:1], pairs[1:], cannot_link_weight=weight[1:])
    assert lw.NumSatSearch(k_means(), {"n_clusters": [2, 3]}).fit(X, constraints=c).best_score_ == 11


def test_the_silhouette_is_scikit_learns_without_noise():
    grid = {"eps": [0.02, 0.5, 0.9, 50.0]}
    model = lw.SilhouetteSearch(DBSCAN(), grid).fit(X)
    for tried in model.results_:
        labels = DBSCAN(**tried.params).fit_predict(X)
        kept = labels >= 0
        clusters = len(set(labels[kept]))
        wanted = silhouette_score(X[kept], labels[kept]) if clusters > 1 else -1.0
        assert tried.score == pytest.approx(wanted, abs=1e-12)
    assert [tried.score for tried in model.results_][0::3] == [-1.0, -1.0]


def test_dbcv_scores_are_those_of_the_function():
    moons, _ = make_moons(120, noise=0.05, random_state=0)
    model = lw.DBCVSearch(DBSCAN(), {"eps": [0.1, 0.2, 0.3]}, metric="sqeuclidean").fit(moons)
    for tried in model.results_:
        labels = DBSCAN(**tried.params).fit_predict(moons)
        assert tried.score == lw.dbcv_score(moons, labels, metric="sqeuclidean")


@each_search
def test_one_cluster_is_never_preferred_to_clear_ones(search):
    blobs, truth = make_blobs(60, centers=3, cluster_std=0.2, random_state=1)
    c = lw.Constraints.sample(truth, 40, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = made(search, DBSCAN(), {"eps": [100.0, 1.0]}).fit(blobs, constraints=c)
    assert model.n_clusters_ == 3
