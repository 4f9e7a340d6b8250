"""FOSC: the hierarchies, the choice, noise, the order of the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_iris, load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import linkwise as lw
from reference import fosc as reference

each_hierarchy = pytest.mark.parametrize("hierarchy", ["optics", "hdbscan"])


@st.composite
def problems(draw, ties=False):
    n, d = draw(st.integers(1, 18)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    grid = ties and draw(st.booleans())
    X = rng.integers(0, 4, (n, d)).astype(float) if grid else rng.normal(size=(n, d))
    y = rng.integers(0, 3, n)
    constraints = lw.Constraints.sample(y, draw(st.integers(0, min(12, n * (n - 1) // 2))), 0)
    return X, draw(st.integers(1, 5)), draw(st.integers(2, 4)), constraints


def clusters_in(labels):
    return {frozenset(np.flatnonzero(labels == c).tolist()) for c in np.unique(labels[labels >= 0])}


def satisfied(labels, constraints):
    alone = np.where(labels < 0, len(labels) + np.arange(len(labels)), labels)
    return constraints.n_constraints - sum(int(broken.sum()) for broken in constraints.find_violations(alone))


@pytest.mark.slow
@each_hierarchy
@given(problem=problems(), ties=st.sampled_from(["stability", "larger"]), whole=st.booleans())
def test_the_clusters_are_those_of_the_definition(hierarchy, problem, ties, whole):
    X, min_samples, least, c = problem
    model = lw.FOSC(
        least, min_samples=min_samples, hierarchy=hierarchy, ties=ties, allow_single_cluster=whole
    ).fit(X, constraints=c)
    wanted = reference.clusters(
        X, min_samples, least, c.must_link.tolist(), c.cannot_link.tolist(),
        hierarchy=hierarchy, ties=ties, whole=whole,
    )  # fmt: skip
    assert clusters_in(model.labels_) == wanted
    assert model.violations_ == c.n_constraints - satisfied(model.labels_, c)


@pytest.mark.filterwarnings("ignore:A cannot-link separates rows .* identical")
@each_hierarchy
@given(problem=problems(ties=True), seed=st.integers(0, 1000))
def test_the_order_of_the_rows_changes_nothing(hierarchy, problem, seed):
    X, min_samples, least, constraints = problem
    order = np.random.default_rng(seed).permutation(len(X))
    for noise in ("label", "nearest"):
        make = lw.FOSC(least, min_samples=min_samples, hierarchy=hierarchy, noise=noise)
        one = make.fit_predict(X, constraints=constraints)
        other = make.fit_predict(X[order], constraints=constraints[order])
        assert clusters_in(other) == clusters_in(np.asarray(one)[order])


SETS = {
    "iris": lambda: load_iris().data,
    "wine": lambda: load_wine().data,
    "blobs": lambda: make_blobs(300, 3, centers=5, cluster_std=1.5, random_state=3)[0],
    "moons": lambda: make_moons(300, noise=0.1, random_state=0)[0],
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("min_samples", [1, 4, 8])
def test_without_constraints_it_is_hdbscan(name, min_samples):
    """Theirs takes merges at one height one after the other, so a row between two clusters may be in one."""
    X, least = SETS[name](), max(min_samples, 2)
    ours = lw.FOSC(min_samples=min_samples, hierarchy="hdbscan").fit(X)
    theirs = HDBSCAN(min_cluster_size=least, min_samples=min_samples, copy=True).fit(X)
    np.testing.assert_array_equal(lw.extract(theirs), ours.labels_)
    both = (ours.labels_ >= 0) & (theirs.labels_ >= 0)
    assert adjusted_rand_score(theirs.labels_[both], ours.labels_[both]) == 1
    assert ours.n_clusters_ == theirs.labels_.max() + 1
    apart = np.flatnonzero((ours.labels_ < 0) != (theirs.labels_ < 0))
    core = np.sort(cdist(X, X), axis=1)[:, min_samples - 1]
    assert len(apart) <= 0.03 * len(X)
    for row in apart:  # two merges are at its core distance
        assert (np.abs(ours.distances_ - core[row]) <= 1e-9 * core[row]).sum() >= 2


@each_hierarchy
def test_pairs_choose_the_level(hierarchy):
    X, y = make_moons(300, noise=0.1, random_state=0)
    plain = lw.FOSC(hierarchy=hierarchy).fit(X)
    constraints = lw.Constraints.sample(y, 20, 0)
    told = lw.FOSC(hierarchy=hierarchy).fit(X, constraints=constraints)
    assert adjusted_rand_score(y, plain.labels_) < 0.6
    assert adjusted_rand_score(y, told.labels_) > 0.85
    assert told.violations_ == 0


def test_noise_is_apart_from_all():
    X = np.r_[np.zeros((5, 1)), np.full((5, 1), 10.0), [[100.0], [-100.0]]] + np.linspace(0, 0.1, 12)[:, None]
    constraints = lw.Constraints(12, must_link=[(10, 11)], cannot_link=[(0, 10)])
    model = lw.FOSC(3, min_samples=3).fit(X, constraints=constraints)
    assert model.labels_.tolist() == [0] * 5 + [1] * 5 + [-1, -1]
    assert (model.n_clusters_, model.violations_) == (2, 1)
    nearest = lw.FOSC(3, min_samples=3, noise="nearest").fit(X, constraints=constraints)
    assert nearest.labels_.tolist() == [0] * 5 + [1] * 5 + [1, 0]
    assert nearest.violations_ == 1


@pytest.mark.filterwarnings("ignore:A cannot-link separates rows .* identical")
@given(problem=problems(ties=True))
def test_the_nearest_row_takes_noise_in(problem):
    X, min_samples, least, constraints = problem
    label = lw.FOSC(least, min_samples=min_samples).fit(X, constraints=constraints).labels_
    settled = lw.FOSC(least, min_samples=min_samples, noise="nearest").fit(X, constraints=constraints).labels_
    assert adjusted_rand_score(label[label >= 0], settled[label >= 0]) == 1
    inside, away = np.flatnonzero(label >= 0), cdist(X, X)
    for row in np.flatnonzero(label < 0):
        near = inside[away[row, inside] <= away[row, inside].min() * (1 + 1e-12)]
        assert settled[row] in settled[near]


def test_identical_rows_are_one_cluster():
    model = lw.FOSC().fit(np.ones((9, 2)))
    assert (model.labels_.tolist(), model.n_clusters_) == ([0] * 9, 1)


@pytest.mark.parametrize("hierarchy", ["optics", "hdbscan"])
@pytest.mark.parametrize("seed", [*range(40), 281])
def test_a_copy_is_where_its_row_is(hierarchy, seed):
    """OPTICS may visit another row between two that are identical."""
    rng = np.random.default_rng(seed)
    point = np.r_[np.arange(6), rng.integers(0, 6, 12)]
    labels = lw.FOSC(hierarchy=hierarchy).fit(rng.normal(size=(6, 2))[point]).labels_
    assert all(len(set(labels[point == p])) == 1 for p in range(6))


def test_ties_by_stability_or_size():
    """Nothing is said of the right half: stable parts, or the larger one."""
    X = np.r_[0.0, 0.1, 0.2, 50, 50.1, 50.2, 51, 51.1, 51.2][:, None]
    constraints = lw.Constraints(9, must_link=[(0, 1)])
    found = [
        lw.FOSC(3, min_samples=1, ties=ties).fit(X, constraints=constraints).labels_.tolist()
        for ties in ("stability", "larger")
    ]
    assert found == [[0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1, 1, 1, 1]]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"min_cluster_size": 1}, "min_cluster_size"),
        ({"min_samples": 0}, "min_samples"),
        ({"hierarchy": "single"}, "hierarchy"),
        ({"noise": "cluster"}, "noise"),
        ({"ties": "first"}, "ties"),
    ],
)
def test_bad_arguments_raise_errors(parameters, words):
    with pytest.raises(ValueError, match=f"'{words}' parameter of FOSC must be"):
        lw.FOSC(**parameters).fit(np.eye(4))


@pytest.mark.parametrize("search", [lw.NumSatSearch, lw.CVCPSearch])
def test_searches_choose_its_min_samples(search):
    X, y = load_iris(return_X_y=True)
    constraints = lw.Constraints.sample(y, 60, 0)
    grid = {"min_samples": range(3, 25, 3)}
    seeded = {"random_state": 0} if search is lw.CVCPSearch else {}
    found = search(lw.FOSC(), grid, **seeded).fit(X, constraints=constraints)
    assert [tried.params["min_samples"] for tried in found.results_] == list(range(3, 25, 3))
    assert all(tried.failed is None for tried in found.results_)
    alone = lw.FOSC(**found.best_params_).fit(X, constraints=constraints)
    np.testing.assert_array_equal(found.labels_, alone.labels_)
    assert found.violations_ == alone.violations_


@pytest.mark.parametrize("factor", [1e-12, 1e9])
def test_a_factor_of_all_weights_changes_nothing(factor):
    X, y = load_iris(return_X_y=True)
    c = lw.Constraints.sample(y, 40, random_state=0)
    weights = {
        "must_link_weight": np.full(len(c.must_link), factor),
        "cannot_link_weight": np.full(len(c.cannot_link), factor),
    }
    other = lw.Constraints(len(X), c.must_link, c.cannot_link, **weights)
    np.testing.assert_array_equal(
        lw.FOSC().fit(X, constraints=c).labels_, lw.FOSC().fit(X, constraints=other).labels_
    )


# ---------------------------------------------------------------- new rows
@pytest.mark.parametrize("hierarchy", ["optics", "hdbscan"])
def test_new_rows_beyond_the_reach_of_every_cluster_are_noise(hierarchy):
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + np.array([20.0, 0.0])])
    model = lw.FOSC(hierarchy=hierarchy).fit(rows)
    assert model.n_clusters_ == 2
    near, other, between, far = model.predict([[0.0, 0.0], [20.0, 0.0], [10.0, 0.0], [0.0, 500.0]])
    assert (near, other) == (model.labels_[0], model.labels_[40])
    assert far == -1
    assert between in (-1, near, other)
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    nearest = lw.FOSC(hierarchy=hierarchy, noise="nearest").fit(rows)
    assert nearest.predict([[0.0, 500.0]])[0] in nearest.labels_


def test_a_single_cluster_reaches_everywhere():
    rows = np.random.default_rng(0).normal(size=(30, 2))
    model = lw.FOSC(min_cluster_size=20).fit(rows)
    assert model.n_clusters_ == 1
    assert model.predict([[1000.0, 0.0]]).tolist() == [0]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("hierarchy", ["optics", "hdbscan"])
def test_fitted_rows_keep_their_labels_after_rounding(name, hierarchy):
    """OPTICS reaches a row below its core distance if the rows before it are dense."""
    X = SETS[name]().astype(np.float64)
    model = lw.FOSC(hierarchy=hierarchy).fit(X)
    for moved in (X.astype(np.float32), X + 1e-12, X * (1 + 1e-15)):
        np.testing.assert_array_equal(model.predict(moved), model.labels_)
