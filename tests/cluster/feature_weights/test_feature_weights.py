"""FeatureWeightClustering: the paper's climb, its figures, its rounds, and what it says of the columns."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import FunctionTransformer, minmax_scale
from threadpoolctl import threadpool_limits

import linkwise as lw
from laws.asking import partition
from linkwise.cluster import points
from linkwise.cluster.feature_weights import tuning
from linkwise.cluster.feature_weights.feature_weights import (
    LEAST_OF_A_ROUND,
    count_dimensions_by_round,
    find_dimensions,
    s_dbw_validity,
)
from linkwise.cluster.feature_weights.tuning import Aim, Clustering, Trials, Weighting, tune_weights
from linkwise.cluster.metric.mmc import diagonal_weights
from reference import feature_weights as reference

IRIS, IRIS_CLASSES = load_iris(return_X_y=True)
WINE, WINE_CLASSES = load_wine(return_X_y=True)
WINE = minmax_scale(WINE)
CENTRED = partial(lw.FeatureWeightClustering.paper, center=True)
PRESETS = [lw.FeatureWeightClustering, CENTRED]
each_preset = pytest.mark.parametrize("make", PRESETS, ids=["default", "paper"])


def a_problem(seed, n=30, d=4):
    """Two columns with three groups, others without, and some pairs."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) * rng.choice([1.0, 3.0], d)
    X[:, :2] += np.array([[0, 0], [5, 0], [0, 5]])[y]
    return X, lw.Constraints.sample(y, 12, seed)


def an_aim(Z, constraints, k=3, seed=0, factor="mean"):
    validity = partial(s_dbw_validity, factor=factor)
    return Aim(np.ascontiguousarray(Z), constraints, tuning.make_k_means(k, seed, 4), validity)


# ---------------------------------------------------------------- the paper
@pytest.mark.parametrize("max_evals", [1, 9, 40, 400])
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow(nightly=True)) for seed in range(2, 5))]
)
@pytest.mark.parametrize("climb", ["factors", "steps of the mean", "printed"])
def test_the_climb_is_the_papers(climb, seed, max_evals):
    X, c = a_problem(seed)
    Z = X - X.mean(axis=0)
    factor = "printed" if climb == "printed" else "mean"
    trials = Trials(an_aim(Z, c, factor=factor), max_evals)
    base = "weight" if climb == "printed" else "mean"
    printed = climb != "factors"
    tune = tuning.make_step_search(0.1, base) if printed else tuning.try_factors
    found = tune_weights(
        trials, None, tune, 3, start="mmc" if printed else "best", until_satisfied=not printed
    )

    framework = reference.Framework(
        Z, c.must_link, c.cannot_link, points.draw_starts(Z, 3, 0, 4), max_evals, factor
    )
    learned = diagonal_weights(Z, c.must_link, c.cannot_link)
    mixes = [1.0] if printed else [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]
    if printed:  # draws are made in the space of the first weights
        framework.starts = points.draw_starts(Z * np.sqrt(learned), 3, 0, 4) / np.sqrt(
            np.where(learned, learned, 1)
        )
    start = reference.best_of_starts(framework, [(1 - t) + t * learned for t in mixes])
    if printed:
        weights, labels, count, validity = reference.climb_by_steps(
            framework, start, 3, least=int(climb != "printed")
        )
    else:
        weights, labels, count, validity = reference.climb_by_factors(framework, start, 3)

    np.testing.assert_allclose(found.weights, weights, rtol=1e-9)
    assert partition(found.found.labels) == partition(labels)  # of runs that end alike either may be kept
    assert (found.satisfied, trials.done) == (count, framework.n_evals)
    assert found.validity == pytest.approx(validity)


@pytest.mark.parametrize(("weight", "sign"), [(0.5, 1), (0.5, -1), (2.0, 1), (0.0, 1), (0.0, -1)])
@pytest.mark.parametrize("base", ["mean", "weight"])
def test_a_step_is_a_fraction_of_the_weight_as_printed(weight, sign, base):
    """Section 3.3: a weight changes by a fraction delta, and by half of it for comparison."""
    X, c = a_problem(0)
    before = np.array([weight, 1.0, 1.0, 4.0 - weight - 2.0])
    tried = []

    class Watched(Trials):
        def __call__(self, weights, near=None, rival=None):
            tried.append(weights[0])
            return super().__call__(weights, near, rival)

    trials = Watched(an_aim(X, c), 3)
    best = trials(before)
    tuning._step(trials, best, 0, sign * 0.1, base)
    size = weight if base == "weight" else max(weight, 1.0)
    wanted = [max(0.0, weight + sign * share * size) for share in (0.1, 0.05)]
    np.testing.assert_allclose(tried[1:], [value for value in wanted if value != weight])


def test_a_weight_of_zero_stays_zero_as_printed():
    """A fraction of nothing is nothing; with steps of the mean weight it may grow."""
    X, c = a_problem(0)
    for base, least in (("weight", True), ("mean", False)):
        trials = Trials(an_aim(X, c), 10_000)
        best = trials(np.array([0.0, 0.0, 2.0, 2.0]))
        tune = tuning.make_step_search(0.1, base)
        for dimension in (0, 1):
            best = tune(trials, best, dimension)
        assert (trials.done == 1) == least
        assert (not best.weights[:2].any()) == least


@pytest.mark.parametrize("factor", ["mean", "printed"])
def test_validity_has_the_factor_that_was_asked_for(factor):
    """Equation 5 divides by four times the number of pairs of clusters."""
    X, c = a_problem(2)
    model = lw.FeatureWeightClustering.paper(3, s_dbw_factor=factor, random_state=0).fit(X, constraints=c)
    rows = (X @ model.components_.T) * np.sqrt(model.weights_)
    wanted = 1 / (1 + lw.s_dbw_score(rows, model.labels_, factor=factor))
    assert model.quality_ - (c.n_constraints - model.violations_) == pytest.approx(wanted)


def test_satisfied_constraints_come_before_validity():
    def of(satisfied, validity):
        return Weighting(
            np.ones(1), Clustering(np.zeros(1, np.int32), np.zeros((1, 1))), 0, satisfied, validity
        )

    assert of(3, 0.1).better_than(of(2, 0.9))
    assert of(3, 0.2).better_than(of(3, 0.1))
    assert not of(3, 0.2).better_than(of(3, 0.2))


def test_the_preset_of_the_paper():
    known = lw.FeatureWeightClustering.paper(4, sweeps=2).get_params()
    wanted = {"n_clusters": 4, "start": "newton", "delta": 0.1, "sweeps": 2}
    printed = {"center": False, "max_evals": 10_000, "step_base": "weight", "s_dbw_factor": "printed"}
    assert known == lw.FeatureWeightClustering().get_params() | wanted | printed


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("w", [0.0, 0.01, 1.0, 40.0])
def test_quality_is_equation_3(seed, w):
    """Q = w times the satisfied share of the constraints, plus validity; the climb maximises it."""
    X, c = a_problem(seed)
    model = lw.FeatureWeightClustering.paper(3, svd="none", constraint_weight=w, n_init=4, random_state=0)
    model.fit(X, constraints=c)
    rows = (X - model.mean_) * np.sqrt(model.weights_)
    validity = 1 / (1 + lw.s_dbw_score(rows, model.labels_, factor="printed"))
    assert model.quality_ == pytest.approx(w * lw.constraint_score(model.labels_, c) + validity)
    least = lw.FeatureWeightClustering.paper(
        3, svd="none", constraint_weight=w, n_init=4, max_evals=1, random_state=0
    )
    assert model.quality_ >= least.fit(X, constraints=c).quality_


@pytest.mark.parametrize("seed", range(4))
def test_the_number_of_constraints_as_w_puts_them_first(seed):
    """Section 3.3: then no constraint is broken in favour of validity."""
    X, c = a_problem(seed)
    default, equation = (
        lw.FeatureWeightClustering.paper(3, constraint_weight=w, random_state=0).fit(X, constraints=c)
        for w in (None, c.n_constraints)
    )
    np.testing.assert_array_equal(default.labels_, equation.labels_)
    np.testing.assert_array_equal(default.weights_, equation.weights_)
    assert default.quality_ == pytest.approx(equation.quality_)


def test_a_small_w_gives_validity_the_last_word():
    def of(quality):
        return Weighting(
            np.ones(1), Clustering(np.zeros(1, np.int32), np.zeros((1, 1))), 0, 1, 0.5, quality=quality
        )

    assert of(0.6).better_than(of(0.5))
    assert not of(0.5).better_than(of(0.5))
    X, c = a_problem(1)
    loose, strict = (
        lw.FeatureWeightClustering(3, constraint_weight=w, random_state=0).fit(X, constraints=c)
        for w in (0, 100)
    )
    assert loose.violations_ > strict.violations_


# ---------------------------------------------------------------- the paper's figures
def squares(seed):
    """Figure 1: A above B, C far off; plain k-means joins A and B, the user means B and C."""
    rng = np.random.default_rng(seed)
    part = np.repeat([0, 1, 2], 40)
    return rng.uniform(-1, 1, (120, 2)) + np.array([[-2, 5], [-5, 0], [5, 0]])[part], part


def three_lines(seed):
    """Figure 4: three parallel lines in space, far longer than they are apart."""
    rng = np.random.default_rng(seed)
    line = np.repeat([0, 1, 2], 50)
    at = np.array([[0, 0], [3, 0], [0, 3]])[line]
    return np.column_stack([rng.uniform(0, 30, 150), at]) + rng.normal(0, 0.3, (150, 3)), line


@each_preset
@pytest.mark.parametrize("svd", ["scores", "whiten", "none"])
@pytest.mark.parametrize("seed", range(3))
def test_one_pair_of_each_kind_finds_the_squares_that_the_user_means(make, svd, seed):
    X, part = squares(seed)
    meant = np.minimum(part, 1)
    assert adjusted_rand_score(meant, KMeans(2, n_init=10, random_state=0).fit_predict(X)) < 0.2
    assert adjusted_rand_score(meant, make(2, svd=svd, random_state=0).fit(X).labels_) < 0.2
    c = lw.Constraints(120, must_link=[(45, 90)], cannot_link=[(3, 50)])
    model = make(2, svd=svd, random_state=0).fit(X, constraints=c)
    assert partition(model.labels_) == partition(meant)


@pytest.mark.parametrize("svd", ["scores", "whiten"])
@pytest.mark.parametrize("seed", range(3))
def test_fifteen_pairs_find_the_lines(svd, seed):
    X, line = three_lines(seed)
    assert adjusted_rand_score(line, KMeans(3, n_init=10, random_state=0).fit_predict(X)) < 0.2
    c = lw.Constraints.sample(line, 15, seed)
    model = lw.FeatureWeightClustering(3, svd=svd, random_state=0).fit(X, constraints=c)
    assert partition(model.labels_) == partition(line)
    assert model.feature_weights_[0] < (0.05 if svd == "scores" else 0.4)  # along the lines nothing counts
    fresh, where = three_lines(seed + 100)
    match = {int(line[i]): int(model.labels_[i]) for i in (0, 50, 100)}
    np.testing.assert_array_equal(model.predict(fresh), [match[int(w)] for w in where])


# ---------------------------------------------------------------- dimensions
@pytest.mark.parametrize("shape", [(20, 5), (4, 9)])
def test_without_centring_the_rows_are_decomposed_as_they_are(shape):
    X = np.random.default_rng(0).normal(size=shape) + 7
    mean, components = find_dimensions(X, "scores", False)
    assert not mean.any()
    values, directions = np.linalg.svd(X, full_matrices=False)[1:]
    np.testing.assert_allclose(np.abs(components @ directions.T), np.eye(len(directions)), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(X @ components.T, axis=0), values)


def test_without_centring_it_matters_where_the_rows_lie():
    c = lw.Constraints.sample(WINE_CLASSES, 40, 0)
    for center, same in ((True, True), (False, False)):
        model = lw.FeatureWeightClustering.paper(3, center=center, start="mmc", random_state=0)
        here, far = (model.fit(WINE - offset, constraints=c).labels_ for offset in (0.0, 50.0))
        assert (partition(here) == partition(far)) == same


def test_any_transformation_will_do():
    """Principal components are the default dimensions, but for their signs."""
    c = lw.Constraints.sample(WINE_CLASSES, 60, 0)
    default = lw.FeatureWeightClustering(3, random_state=0).fit(WINE, constraints=c)
    model = lw.FeatureWeightClustering(3, transformation=PCA(), random_state=0).fit(WINE, constraints=c)
    assert partition(model.labels_) == partition(default.labels_)
    np.testing.assert_allclose(model.weights_, default.weights_, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(WINE), model.labels_)
    assert not hasattr(model, "feature_weights_")
    assert hasattr(default, "feature_weights_")
    default.set_params(transformation=PCA(2)).fit(WINE, constraints=c)
    assert default.weights_.shape == (2,)
    assert not hasattr(default, "feature_weights_")
    np.testing.assert_array_equal(default.predict(WINE), default.labels_)


@pytest.mark.parametrize(
    ("transformation", "error", "words"),
    [
        (PCA, TypeError, r"Pass an object: transformation=PCA\(\)"),
        (FunctionTransformer(lambda X: X[:2]), ValueError, "a row for each of the 3 rows"),
        (FunctionTransformer(np.log), ValueError, "finite numbers"),
        (3, ValueError, "transformation"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_bad_transformations_raise_errors(transformation, error, words):
    with pytest.raises(error, match=words):
        lw.FeatureWeightClustering(2, transformation=transformation).fit(np.eye(3))


def test_plain_k_means_is_the_same_in_any_dimensions():
    """A rotation changes no distance."""
    plain = KMeans(3, n_init=10, tol=0, random_state=0).fit(IRIS)
    for svd in ("scores", "none"):
        model = lw.FeatureWeightClustering(3, svd=svd, random_state=0).fit(IRIS)
        assert partition(model.labels_) == partition(plain.labels_)
        assert model.weights_.tolist() == [1.0] * 4


@pytest.mark.parametrize("shape", [(20, 5), (4, 9), (1, 3)])
def test_dimensions_are_those_of_the_singular_value_decomposition(shape):
    X = (
        np.random.default_rng(0).normal(size=shape)
        * [3.0, 1.0, 1e-3, 2.0, 5.0, 1.0, 1.0, 1.0, 1.0][: shape[1]]
    )
    mean, components = find_dimensions(X, "scores")
    rank = max(1, min(shape[0] - 1, shape[1]))
    assert components.shape == (rank, shape[1])
    scores = (X - mean) @ components.T
    lengths = np.linalg.norm(components, axis=1)
    np.testing.assert_allclose(
        (components / lengths[:, None]) @ (components / lengths[:, None]).T, np.eye(rank), atol=1e-9
    )
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:rank]
    np.testing.assert_allclose(np.linalg.norm(scores, axis=0), values * lengths, atol=1e-9)
    assert (components[np.arange(rank), np.abs(components).argmax(axis=1)] > 0).all()
    if shape[0] > 1:
        whitened = (X - mean) @ find_dimensions(X, "whiten")[1].T
        np.testing.assert_allclose(whitened.T @ whitened / len(X), np.eye(rank), atol=1e-9)


@pytest.mark.parametrize("svd", ["scores", "whiten", "none"])
def test_the_weights_of_the_columns_are_their_shares_of_the_distance(svd):
    c = lw.Constraints.sample(WINE_CLASSES, 40, 0)
    model = lw.FeatureWeightClustering(3, svd=svd, max_evals=200, random_state=0).fit(WINE, constraints=c)
    metric = model.components_.T @ np.diag(model.weights_) @ model.components_
    apart = (WINE[:, None] - WINE[None]).reshape(-1, 13)
    of_column = (apart * (apart @ metric)).sum(axis=0)
    np.testing.assert_allclose(model.feature_weights_, of_column / of_column.sum(), atol=1e-9)
    assert (model.feature_weights_ > -1e-12).all()
    assert round(model.weights_.sum(), 9) in range(2, 14)  # of mean 1 over the dimensions used


def test_without_constraints_columns_count_by_their_variance():
    model = lw.FeatureWeightClustering(3, random_state=0).fit(WINE)
    np.testing.assert_allclose(model.feature_weights_, WINE.var(axis=0) / WINE.var(axis=0).sum())


# ---------------------------------------------------------------- rounds
def test_the_history_tells_of_each_round():
    c = lw.Constraints.sample(IRIS_CLASSES, 60, 0)
    model = lw.FeatureWeightClustering(3, random_state=0).fit(IRIS, constraints=c)
    assert [r.dimensions for r in model.history_] == list(range(2, 2 + len(model.history_)))
    assert model.history_[-1].n_evals == model.n_evals_ <= 500
    best = max(model.history_, key=lambda r: (r.satisfied, r.validity))
    assert model.quality_ == pytest.approx(best.satisfied + best.validity)
    assert best.satisfied == c.n_constraints - model.violations_
    assert np.flatnonzero(model.weights_).max() < best.dimensions


@each_preset
@pytest.mark.parametrize("max_evals", [1, 2, 20])
def test_the_budget_holds(make, max_evals):
    c = lw.Constraints.sample(IRIS_CLASSES, 60, 0)
    model = make(3, max_evals=max_evals, random_state=0).fit(IRIS, constraints=c)
    assert model.n_evals_ <= max_evals
    assert model.budget_exhausted_ or (max_evals == 20 and make is not lw.FeatureWeightClustering)


@each_preset
def test_it_is_reported_whether_the_budget_cut_a_climb_short(make):
    """A round has its share only: it may be cut although the sum is not spent."""
    c = lw.Constraints.sample(WINE_CLASSES, 60, 1)
    ample = make(3, max_evals=100_000, sweeps=1, random_state=0).fit(WINE, constraints=c)
    assert not ample.budget_exhausted_
    short = make(3, max_evals=ample.n_evals_ - 1, sweeps=1, random_state=0).fit(WINE, constraints=c)
    assert short.budget_exhausted_


@given(st.integers(2, 2000), st.integers(1, 5000))
def test_rounds_reach_all_dimensions(d, max_evals):
    rounds = count_dimensions_by_round(d, max_evals)
    assert rounds[-1] == d
    assert len(rounds) == 1 or rounds[0] == 2
    assert (np.diff(rounds) > 0).all()
    assert len(rounds) * LEAST_OF_A_ROUND <= max(max_evals, LEAST_OF_A_ROUND)
    gaps = np.diff(rounds)
    assert len(gaps) == 0 or np.ptp(gaps) <= 1, "they join evenly"
    assert (d - 1) * LEAST_OF_A_ROUND > max_evals or rounds == list(range(2, d + 1))


@pytest.mark.parametrize("svd", ["scores", "none"])
def test_the_last_of_many_dimensions_is_found(svd):
    """One narrow column of thirty tells the groups apart, and comes last by any order."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.uniform(size=(300, 30))
    X[:, -1] = 0.5 + 0.15 * (y * 2 - 1) + rng.normal(size=300) * 0.02
    c = lw.Constraints.sample(y, 60, random_state=0)
    model = lw.FeatureWeightClustering(2, svd=svd, random_state=0).fit(X, constraints=c)
    together = lw.FeatureWeightClustering(2, svd=svd, sequential=False, random_state=0).fit(X, constraints=c)
    assert model.violations_ <= together.violations_ < 5
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_first_weights_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 60)), rng.integers(0, 2, 2000)
    c = lw.Constraints.sample(y, 1500, random_state=0)
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads, user_api="blas"):
            found.append(diagonal_weights(X, c.must_link, c.cannot_link))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_it_ends_where_every_constraint_is_satisfied():
    c = lw.Constraints(178, [(0, 1)], [(0, 177)])
    model = lw.FeatureWeightClustering(3, random_state=0).fit(WINE, constraints=c)
    assert (model.n_evals_, model.history_, model.violations_) == (1, [], 0)
    together = partial(lw.FeatureWeightClustering.paper, 3, sequential=False, start="mmc", random_state=0)
    on = together(step_base="mean").fit(WINE, constraints=c)
    assert on.n_evals_ > 20
    printed = together().fit(WINE, constraints=c)
    assert 1 < printed.n_evals_ < on.n_evals_, "most of the first weights are 0, and stay 0"


def test_constraints_may_come_and_dimensions_be_added_between_rounds():
    """A round is a function of the weighting before: what an interactive learner needs."""
    mean, components = find_dimensions(WINE, "scores")
    Z = (WINE - mean) @ components.T
    few, more = (lw.Constraints.sample(WINE_CLASSES, n, 0) for n in (10, 40))
    aim = an_aim(Z, few)
    one = tune_weights(Trials(aim.first(2), 60), None, tuning.try_factors, 3)
    kept = one.weights.copy()
    same = tune_weights(Trials(aim.first(2)._replace(constraints=more), 60), one, tuning.try_factors, 3)
    wide = tune_weights(Trials(aim.first(5)._replace(constraints=more), 100), same, tuning.try_factors, 3)
    assert [len(w.weights) for w in (one, same, wide)] == [2, 2, 5]
    assert wide.satisfied >= same.satisfied
    np.testing.assert_array_equal(one.weights, kept)
    again = tune_weights(Trials(aim.first(2), 60), None, tuning.try_factors, 3)
    np.testing.assert_array_equal(again.found.labels, one.found.labels)


def test_more_is_satisfied_than_by_equal_weights():
    c = lw.Constraints.sample(WINE_CLASSES, 60, 0)
    plain = lw.FeatureWeightClustering(3, random_state=0).fit(WINE)
    model = lw.FeatureWeightClustering(3, random_state=0).fit(WINE, constraints=c)
    before = sum(int(broken.sum()) for broken in c.find_violations(plain.labels_))
    assert model.violations_ < before
    assert adjusted_rand_score(WINE_CLASSES, model.labels_) > adjusted_rand_score(WINE_CLASSES, plain.labels_)


# ---------------------------------------------------------------- any clusterer, any validity
@pytest.mark.slow
@pytest.mark.parametrize(
    "clusterer",
    [KMeans(n_init=3), AgglomerativeClustering(), lw.PCKMeans(n_init=2), lw.ClusILC(4)],
    ids=lambda model: type(model).__name__,
)
def test_any_clusterer_will_do(clusterer):
    c = lw.Constraints.sample(IRIS_CLASSES, 40, 0)
    model = lw.FeatureWeightClustering(3, clusterer=clusterer, max_evals=40, random_state=0)
    model.fit(IRIS, constraints=c)
    assert model.n_clusters_ == 3
    assert clusterer.get_params()["n_clusters"] != 3  # it is left as it was
    m = len(model._weights)
    rows = np.ascontiguousarray(((IRIS - model.mean_) @ model.components_[:m].T) * np.sqrt(model._weights))
    if hasattr(clusterer, "predict"):
        held = np.unique(np.r_[c.must_link, c.cannot_link]) if isinstance(clusterer, lw.PCKMeans) else []
        free = np.delete(np.arange(150), held)
        np.testing.assert_array_equal(model.predict(IRIS)[free], model.labels_[free])
    else:
        np.testing.assert_array_equal(
            model.predict(IRIS), points.nearest_centers(rows, model._found.centers)[0]
        )
    assert model.score(IRIS, constraints=c) > 0.8


@pytest.mark.slow
def test_a_mixture_of_gaussians_has_its_own_numbers():
    """It has ``fit_predict`` but no `labels_`, and may leave components empty."""
    c = lw.Constraints.sample(IRIS_CLASSES, 40, 0)
    for n_components in (3, 12):
        mixture = GaussianMixture(n_components)
        model = lw.FeatureWeightClustering(clusterer=mixture, max_evals=20, random_state=0)
        model.fit(IRIS, constraints=c)
        np.testing.assert_array_equal(model.predict(IRIS), model.labels_)


class Skipping(ClusterMixin, BaseEstimator):
    """Signs of the first column, by the numbers 3 and 7; 9 for new rows in between."""

    def fit_predict(self, X, y=None):
        return np.where(X[:, 0] > 0, 7, 3)

    def predict(self, X):
        return np.where(np.abs(X[:, 0]) < 0.5, 9, np.where(X[:, 0] > 0, 7, 3))


def test_numbers_of_a_clusterer_may_have_gaps():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    model = lw.FeatureWeightClustering(2, clusterer=Skipping(), svd="none").fit(X)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert model.predict([[-5.0], [0.1], [0.2], [5.0]]).tolist() == [0, 1, 1, 1]


def test_clusterers_with_noise():
    c = lw.Constraints.sample(IRIS_CLASSES, 20, 0)
    model = lw.FeatureWeightClustering(clusterer=DBSCAN(eps=0.5), max_evals=30, random_state=0)
    model.fit(IRIS, constraints=c)
    assert model.labels_.min() == -1
    assert model.cluster_centers_.shape == (model.labels_.max() + 1, 4)
    nothing = lw.FeatureWeightClustering(clusterer=DBSCAN(eps=1e-9), max_evals=10, random_state=0)
    nothing.fit(IRIS[:20] + np.arange(20)[:, None], constraints=lw.Constraints(20, [(0, 1)]))
    assert nothing.labels_.tolist() == nothing.predict(IRIS[:20]).tolist() == [-1] * 20
    assert nothing.quality_ == 0.0  # a pair in the noise is not together, and there is no validity


def test_any_validity_will_do():
    seen = []

    def silhouette(rows, labels):
        seen.append(rows.shape)
        return silhouette_score(rows, labels)

    c = lw.Constraints.sample(WINE_CLASSES, 10, 0)
    model = lw.FeatureWeightClustering(3, validity=silhouette, max_evals=100, random_state=0)
    model.fit(WINE, constraints=c)
    assert len(seen) <= model.n_evals_  # it is not asked where fewer constraints are satisfied
    assert seen[:2] == [(178, 13), (178, 2)]
    assert 0 < model.quality_ - (c.n_constraints - model.violations_) < 1


def test_weights_of_constraints_decide():
    """Two pairs that cannot both hold: the heavier one does."""
    X, part = squares(0)
    for heavy, meant in ((0, np.minimum(part, 1)), (1, part == 2)):
        weight = np.ones(2)
        weight[heavy] = 5.0
        both = lw.Constraints(120, [(45, 90), (3, 50)], [(3, 90)], must_link_weight=weight)
        model = lw.FeatureWeightClustering(2, random_state=0).fit(X, constraints=both)
        assert adjusted_rand_score(meant, model.labels_) > 0.9


# ---------------------------------------------------------------- odd tables, what is refused
@pytest.mark.filterwarnings("ignore::linkwise.cluster.base.FewerClustersWarning")
@pytest.mark.parametrize("X", [np.full((6, 3), 0.1), np.ones((6, 1)), np.eye(6), np.arange(6.0)[:, None]])
def test_odd_tables(X):
    c = lw.Constraints(6, [(0, 1)], [(2, 5)] if len(np.unique(X, axis=0)) > 1 else [])
    model = lw.FeatureWeightClustering(2, random_state=0).fit(X, constraints=c)
    assert model.n_clusters_ == min(2, len(np.unique(X, axis=0)))
    assert model.feature_weights_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "setting",
    [
        {"clusterer": "k-means"},
        {"svd": "pca"},
        {"validity": 3},
        {"delta": 0.0},
        {"max_evals": 0},
        {"start": "xing"},
    ],
)
def test_bad_settings_raise_errors(setting):
    with pytest.raises(ValueError, match=next(iter(setting))):
        lw.FeatureWeightClustering(2, **setting).fit(np.eye(3))
