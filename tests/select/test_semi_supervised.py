"""COBS over clusterers that take constraints, and what becomes of constraints on the way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale
from sklearn.utils.estimator_checks import parametrize_with_checks

import linkwise as lw
from linkwise.cluster.graph import cosc
from linkwise.cluster.graph.neighbour_graph import build_neighbour_graph
from linkwise.select.base_rows import find_base_rows, restrict_to_base_rows
from linkwise.select.cobs import NOTHING
from linkwise.select.pool import build_pool
from linkwise.select.ranking import satisfied_weights
from linkwise.select.semi_supervised import list_clusterers, split_into_halves

X, y = load_iris(return_X_y=True)
X = minmax_scale(X)
SMALL = lw.Preset(clusters=(2, 3, 4), n_runs=2, n_eps=0, min_pts=(4,), neighbours=(8,), sigmas=())


def semi_supervised(**settings):
    return lw.COBS(preset=SMALL, pool="semi-supervised", **settings)


@parametrize_with_checks([semi_supervised(random_state=0)])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@given(st.integers(0, 10**6), st.integers(0, 40))
def test_halves_are_all_and_share_nothing(seed, n):
    rng = np.random.default_rng(seed)
    known = lw.Constraints.sample(rng.integers(0, 3, 30), n, rng)
    first, second = split_into_halves(known, seed)
    assert second.n_constraints - first.n_constraints in (0, 1)
    for kind in ("must_link", "cannot_link"):
        parts = np.vstack([getattr(first, kind), getattr(second, kind)])
        assert sorted(parts.tolist()) == getattr(known, kind).tolist()


def test_halves_keep_weights_and_what_contradicts():
    pairs = {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2), (2, 3)]}
    weights = {"must_link_weight": [2, 3], "cannot_link_weight": [5, 7]}
    with pytest.warns(lw.ConstraintWarning):
        known = lw.Constraints(4, **pairs, **weights, on_conflict="keep")
    parts = split_into_halves(known, 0)
    found = [w for part in parts for w in (*part.must_link_weight, *part.cannot_link_weight)]
    assert sorted(found) == [2, 3, 5, 7]


@given(st.integers(0, 10**6), st.integers(0, 30), st.booleans())
def test_constraints_of_base_rows_are_those_of_the_rows_that_follow_them(seed, n, sampled):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (20, 2)).astype(float)
    known = lw.Constraints.sample(rng.integers(0, 3, 20), n, rng)
    base = find_base_rows(rows, 5 if sampled else 20, seed, 1)
    told = restrict_to_base_rows(known, base.of, len(base.rows))
    must = {tuple(sorted(pair)) for pair in base.of[known.must_link].tolist() if pair[0] != pair[1]}
    assert set(map(tuple, told.must_link.tolist())) == must
    joined = told.component
    cannot = {
        tuple(sorted(pair))
        for pair in base.of[known.cannot_link].tolist()
        if joined[pair[0]] != joined[pair[1]]
    }
    assert set(map(tuple, told.cannot_link.tolist())) == cannot
    assert len(told.conflicts) == 0


@pytest.mark.slow
def test_the_pool_is_made_with_one_half_and_chosen_by_the_other():
    known = lw.Constraints.sample(y, 60, 0)
    model = semi_supervised(random_state=5).fit(X, constraints=known)
    making, choosing = split_into_halves(known, 5)
    pool = build_pool(X, NOTHING, 5, extra=list_clusterers(SMALL, 5, 150), constraints=making)
    broken = sum(v.sum() for v in choosing.find_violations(model.labels_))
    assert satisfied_weights(pool, choosing).max() == choosing.n_constraints - broken
    np.testing.assert_array_equal(pool.labels, model.pool_.labels)
    assert model.violations_ == sum(v.sum() for v in known.find_violations(model.labels_))
    whole = semi_supervised(split=False, random_state=5).fit(X, constraints=known)
    assert whole.violations_ <= model.violations_


def test_clusterings_are_those_of_the_clusterers():
    known = lw.Constraints.sample(y, 40, 1)
    model = semi_supervised(split=False, random_state=3).fit(X, constraints=known)
    distinct = model.pool_.base_rows
    told = restrict_to_base_rows(known, model.pool_.base, len(distinct))
    (made,) = [
        c
        for c in model.pool_.candidates
        if c.algorithm == "MPCKMeans" and c.parameters == {"n_clusters": 3, "random_state": 4}
    ]
    alone = lw.MPCKMeans(3, n_init=1, random_state=4).fit(X[distinct], constraints=told)
    assert adjusted_rand_score(alone.labels_, model.pool_.clustering(made.clustering)[distinct]) == 1


def test_fits_with_the_same_neighbours_share_their_graph(monkeypatch):
    built = []

    def build(rows, constraints, n_neighbors):
        built.append(n_neighbors)
        return build_neighbour_graph(rows, constraints, n_neighbors)

    monkeypatch.setattr(cosc, "build_neighbour_graph", build)
    blobs, classes = make_blobs(60, centers=3, random_state=0)  # no row twice
    grid = {"n_clusters": [2, 3], "n_neighbors": [4, 5]}
    extra = [(lw.COSC(n_init=2, n_runs=1, random_state=0), grid)]
    build_pool(blobs, NOTHING, 0, extra=extra, constraints=lw.Constraints.sample(classes, 10, random_state=0))
    assert sorted(built) == [4, 5]


def test_the_rest_of_the_pool_does_not_hear_of_constraints():
    known = lw.Constraints.sample(y, 40, 1)
    plain = build_pool(X, SMALL, 0)
    np.testing.assert_array_equal(plain.labels, build_pool(X, SMALL, 0, constraints=known).labels)


def test_of_many_rows_a_sample_is_clustered():
    rows, truth = make_blobs(400, 2, centers=3, cluster_std=0.5, random_state=0)
    known = lw.Constraints.sample(truth, 60, 0)
    model = semi_supervised(max_rows=100, random_state=0).fit(rows, constraints=known)
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    assert "sample of 100" in model.approximation_


@pytest.mark.parametrize("settings", [{"pool": "supervised"}, {"split": "half"}])
def test_refusals(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        lw.COBS(preset=SMALL, **settings).fit(X)


def test_other_constraints_make_another_pool_in_the_cache(tmp_path):
    settings = {"preset": SMALL, "pool": "semi-supervised", "random_state": 0, "cache": str(tmp_path)}
    for seed in (0, 1, 0):
        lw.COBS(**settings).fit(X, constraints=lw.Constraints.sample(y, 40, seed))
    assert len(list(tmp_path.glob("*.npz"))) == 2


def test_few_distinct_rows_have_few_clusters():
    rows = np.repeat([[0.0, 0.0], [1.0, 1.0]], 30, axis=0)
    known = lw.Constraints(60, must_link=[(0, 1)], cannot_link=[(0, 59)])
    model = lw.COBS(pool="semi-supervised", preset="quick", random_state=0).fit(rows, constraints=known)
    assert model.n_clusters_ == 2


def test_added_clusterers_may_take_constraints_or_not():
    known = lw.Constraints.sample(y, 40, 0)
    extra = [
        (KMeans(n_init=1), {"n_clusters": [3]}),
        (lw.PCKMeans(), {"n_clusters": [3], "random_state": [0]}),
    ]
    model = semi_supervised(extra=extra, random_state=0).fit(X, constraints=known)
    made = {c.algorithm for c in model.pool_.candidates}
    assert made == {"MPCKMeans", "FOSC", "COSC", "KMeans", "PCKMeans"}


@pytest.mark.parametrize(
    "model",
    [lw.COBS(preset=SMALL), lw.NumSatSearch(KMeans(n_init=1), {"n_clusters": [2]})],
    ids=["COBS", "search"],
)
def test_constraints_are_not_taken_for_classes(model):
    with pytest.raises(TypeError, match="constraints="):
        model.fit(X, lw.Constraints.sample(y, 10, 0))
