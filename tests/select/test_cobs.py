"""COBS: the clustering that satisfies most constraints, and the reports about it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, minmax_scale

import linkwise as lw
from linkwise.select.assign import find_rule
from linkwise.select.pool import build_pool
from linkwise.select.ranking import rank_clusterings, satisfied_weights
from reference.cobs import cobs

X, y = load_iris(return_X_y=True)
X = minmax_scale(X)
SMALL = lw.Preset(clusters=(2, 3, 4), n_runs=3, n_eps=6, min_pts=(2, 5), neighbours=(5, 8), sigmas=(0.3,))


@pytest.fixture(scope="module")
def pool():
    return build_pool(X, "paper", 0)


def few_candidates(**parameters):
    return lw.COBS(preset=SMALL, **parameters)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow(nightly=True)) for seed in range(1, 5))]
)
def test_the_choice_is_that_of_the_printed_algorithm(pool, seed):
    c = lw.Constraints.sample(y, 30, seed)
    candidates = [pool.clustering(candidate.clustering) for candidate in pool.candidates]
    most, best = cobs(candidates, c.must_link.tolist(), c.cannot_link.tolist())
    model = lw.COBS(random_state=0).fit(X, constraints=c)
    assert c.n_constraints - model.violations_ == most
    assert model.n_tied_ == len({candidates[b].tobytes() for b in best})
    assert any(np.array_equal(model.labels_, candidates[b]) for b in best)


def test_reports_fit_the_labels(pool):
    c = lw.Constraints.sample(y, 20, 3)
    model = lw.COBS(random_state=0).fit(X, constraints=c)
    score = satisfied_weights(model.pool_, c)
    assert score.max() == c.n_constraints - model.violations_
    assert model.n_fitting_ == (score == c.n_constraints).sum()
    assert model.n_clusters_ == len(np.unique(model.labels_))
    made = [
        candidate
        for candidate in model.pool_.candidates
        if (candidate.algorithm, candidate.parameters) == (model.algorithm_, model.parameters_)
    ]
    assert np.array_equal(model.pool_.clustering(made[0].clustering), model.labels_)
    for other in model.alternatives_:
        labels = model.pool_.clustering(other.clustering)
        assert other.score == c.n_constraints - sum(v.sum() for v in c.find_violations(labels))
        assert other.n_clusters == len(np.unique(labels))
        assert adjusted_rand_score(labels, model.labels_) < 1
    scores = [other.score for other in model.alternatives_]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.slow
def test_of_tied_clusterings_the_one_that_agrees_most_with_those_that_fit(pool):
    c = lw.Constraints(len(X), must_link=[(0, 1), (2, 3)], cannot_link=[(0, 149)])
    score = satisfied_weights(pool, c)
    best = rank_clusterings(pool, score)
    assert sorted(best) == np.flatnonzero(score == 3).tolist()
    weight = pool.multiplicity / 2.25 ** (3 - score)
    agreement = [
        sum(w * adjusted_rand_score(pool.labels[b], one) for w, one in zip(weight, pool.labels, strict=True))
        for b in best[:20:8]
    ]
    assert agreement[0] == pytest.approx(max(agreement), rel=1e-4)
    assert agreement == pytest.approx(sorted(agreement, reverse=True), rel=1e-3)


def test_a_single_cluster_is_the_last_of_those_that_tie(pool):
    score = satisfied_weights(pool, lw.Constraints(len(X), must_link=[(0, 1), (0, 149)]))
    best = rank_clusterings(pool, score)
    assert pool.n_clusters[best[-1]] == 1 < pool.n_clusters[best[0]]


@pytest.mark.slow
def test_a_few_constraints_are_better_than_none(tmp_path):
    found = []
    for seed in range(10):
        c = lw.Constraints.sample(y, 2, seed)
        labels = lw.COBS(preset="quick", cache=str(tmp_path), random_state=0).fit(X, constraints=c).labels_
        found.append(adjusted_rand_score(y, labels))
    assert np.mean(found) > 0.5


def test_chance_may_break_ties(pool):
    c = lw.Constraints(len(X), must_link=[(0, 1)], cannot_link=[(0, 149)])
    chosen = {
        few_candidates(tie="random", random_state=seed).fit(X, constraints=c).labels_.tobytes()
        for seed in range(8)
    }
    assert len(chosen) > 2
    again = [few_candidates(tie="random", random_state=3).fit(X, constraints=c).labels_ for _ in range(2)]
    assert np.array_equal(*again)


def test_weights_decide():
    c = lw.Constraints(len(X), [(0, 149)], [(0, 1)], must_link_weight=[1.0], cannot_link_weight=[5.0])
    pool = build_pool(X, SMALL)
    one = satisfied_weights(pool, c)
    labels = [pool.clustering(number) for number in range(len(pool))]
    expected = [(q[0] == q[149]) * 1.0 + (q[0] != q[1]) * 5.0 for q in labels]
    assert one.tolist() == expected


def test_without_constraints_the_pool_s_consensus_is_returned():
    blobs = np.repeat(np.eye(3) * 5, 20, axis=0) + np.random.default_rng(0).normal(0, 0.3, (60, 3))
    model = lw.COBS(random_state=0).fit(minmax_scale(blobs))
    assert adjusted_rand_score(np.repeat(range(3), 20), model.labels_) == 1
    assert (model.violations_, model.n_fitting_) == (0, len(model.pool_))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("load", "least"), [(load_iris, 0.7), pytest.param(load_wine, 0.8, marks=pytest.mark.slow(nightly=True))]
)
def test_fifty_constraints_find_the_classes(load, least, tmp_path):
    rows, truth = load(return_X_y=True)
    rows, found = minmax_scale(rows), []
    for seed in range(3):
        c = lw.Constraints.sample(truth, 50, seed)
        model = lw.COBS(cache=str(tmp_path), random_state=0).fit(rows, constraints=c)
        found.append(adjusted_rand_score(truth, model.labels_))
    assert np.mean(found) > least


KINDS = {
    "k-means": replace(SMALL, n_eps=0, neighbours=(), sigmas=()),
    "DBSCAN": replace(SMALL, clusters=(), min_pts=(4,), n_eps=20),
    "spectral": replace(SMALL, n_runs=0, n_eps=0),
}


@pytest.mark.parametrize("noise", ["cluster", "singletons", "nearest"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_rows_that_were_clustered_are_predicted_where_they_are(kind, noise, seed):
    c = lw.Constraints.sample(y, 20, seed)
    model = lw.COBS(preset=KINDS[kind], noise=noise, random_state=0).fit(X, constraints=c)
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.approximation_ is None
    with pytest.raises(NotFittedError):
        few_candidates().predict(X)


def test_new_rows_follow_the_rule_of_what_was_chosen():
    rows = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [9.0]])
    new = np.array([[0.45], [2.4], [2.8], [7.0], [100.0]])
    c = lw.Constraints(8, [(0, 3), (4, 6)], [(0, 4), (4, 7)])

    def fitted(preset, noise="cluster"):
        return lw.COBS(preset=preset, noise=noise, random_state=0).fit(rows, constraints=c)

    means = fitted(lw.Preset(clusters=(3,), n_eps=0, neighbours=(), sigmas=()))
    assert (means.algorithm_, means.rule_) == ("k-means", "nearest centre")
    assert means.predict(new).tolist() == [0, 0, 1, 1, 2]
    one = lw.Preset(clusters=(), n_eps=50, min_pts=(3,))
    density = fitted(one)
    assert (density.algorithm_, density.rule_) == ("DBSCAN", "nearest core row within eps")
    assert density.predict(new).tolist() == [0, 2, 2, 2, 2]
    assert fitted(one, "singletons").predict(new).tolist() == [0, -1, -1, -1, -1]
    graph = fitted(lw.Preset(clusters=(3,), n_runs=0, n_eps=0, neighbours=(), sigmas=(0.05,)))
    assert (graph.algorithm_, graph.rule_) == ("spectral, Gaussian", "nearest row")
    nearest = np.abs(new - rows.T).argmin(axis=1)
    assert graph.predict(new).tolist() == graph.labels_[nearest].tolist()


def test_the_score_is_the_share_of_constraints_satisfied():
    c = lw.Constraints.sample(y, 40, 1)
    model = make_pipeline(MinMaxScaler(), few_candidates(random_state=0)).fit(X, cobs__constraints=c)
    cobs_ = model[-1]
    assert cobs_.score(X, constraints=c) == 1 - cobs_.violations_ / 40
    assert cobs_.score(X) == 1.0


def test_a_cache_spares_the_work(tmp_path, monkeypatch):
    c = lw.Constraints.sample(y, 40, 1)
    first = few_candidates(cache=str(tmp_path), random_state=0).fit(X, constraints=c)
    monkeypatch.setattr("linkwise.select.pool.run_task", None)
    again = few_candidates(cache=str(tmp_path), random_state=0).fit(X, constraints=c)
    assert np.array_equal(first.labels_, again.labels_)
    assert first.parameters_ == again.parameters_


def test_a_graph_of_landmarks_is_named_an_approximation(monkeypatch):
    monkeypatch.setattr("linkwise.select.clusterings.MOST_WEIGHED", 100)
    only = lw.Preset(clusters=(3,), n_runs=0, n_eps=0, neighbours=(), sigmas=(0.3,))
    c = lw.Constraints.sample(y, 20, 0)
    model = lw.COBS(preset=only, random_state=0).fit(X, constraints=c)
    landmarks = model.parameters_["landmarks"]
    assert model.approximation_ == f"its graph is known by {landmarks} landmarks"
    of_sample = lw.COBS(preset=only, max_rows=120, random_state=0).fit(X, constraints=c).approximation_
    assert of_sample.startswith("chosen on a sample of 1")
    assert "; its graph is known by " in of_sample


def test_any_clusterer_may_join():
    rows, truth = make_blobs(120, 2, centers=[[0, 0], [9, 9]], cluster_std=1.0, random_state=0)
    only = lw.Preset(clusters=(5,), n_runs=1, n_eps=0, neighbours=(), sigmas=())
    extra = [(AgglomerativeClustering(), {"n_clusters": [2, 3]})]
    model = lw.COBS(preset=only, extra=extra).fit(rows, constraints=lw.Constraints.sample(truth, 30, 0))
    assert (model.algorithm_, model.parameters_) == ("AgglomerativeClustering", {"n_clusters": 2})
    assert np.array_equal(model.predict(rows), model.labels_)
    assert clone(model).extra[0][1] == extra[0][1]


def test_an_added_clusterer_of_the_same_name_is_followed_by_the_nearest_row():
    pool = build_pool(X, replace(SMALL, n_eps=0), extra=[(DBSCAN(), {"eps": [0.1], "min_samples": [4]})])
    (number,) = {c.clustering for c in pool.candidates if c.algorithm == "DBSCAN"}
    rule = find_rule(pool, number, X, 1)
    assert rule.how == "nearest row"
    assert np.array_equal(rule(X, 1), pool.clustering(number))


@pytest.mark.parametrize("kind", KINDS)
def test_of_many_rows_a_sample_is_clustered(kind):
    rows = np.vstack([X + shift for shift in np.linspace(0, 1e-3, 5)])
    truth = np.tile(y, 5)
    model = lw.COBS(preset=KINDS[kind], max_rows=150, random_state=0).fit(
        rows, constraints=lw.Constraints.sample(truth, 60, 0)
    )
    assert len(model.labels_) == 750
    assert adjusted_rand_score(truth, model.labels_) > 0.4
    assert f"on a sample of {len(model.pool_.base_rows)} of 750 rows; " in model.approximation_
    assert model.n_clusters_ == len(np.unique(model.labels_))
    if kind == "k-means":
        assert "ran on all rows" in model.approximation_
        means = [rows[model.labels_ == k].mean(axis=0) for k in range(model.n_clusters_)]
        nearest = ((rows[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
        assert (nearest == model.labels_).mean() > 0.99  # up to the tolerance of k-means
        assert np.array_equal(model.predict(rows), model.labels_)
    else:
        assert model.rule_ in model.approximation_
        new = np.unique(rows, axis=0)
        assert np.array_equal(adjusted_rand_score(model.predict(rows), model.labels_), 1.0), (
            "DBSCAN and graphs: as new rows"
        )
        assert len(model.predict(new)) == len(new)


def test_constraints_about_other_rows_raise_errors():
    with pytest.raises(ValueError, match="about 5 rows, but X has 150"):
        few_candidates().fit(X, constraints=lw.Constraints(5))
