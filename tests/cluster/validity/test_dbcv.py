"""DBCV beside a transcription of its definitions, by hand, and its laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_iris, load_wine, make_moons
from sklearn.preprocessing import minmax_scale

import linkwise as lw
from linkwise.cluster.validity import dbcv as module
from linkwise.cluster.validity.dbcv import dbcv_scorer
from reference.dbcv import dbcv


@st.composite
def clusterings(draw):
    """Rows without equal distances, and labels of any kind."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 5))
    labels = rng.integers(-1, draw(st.integers(0, 5)), n)
    return rng.normal(size=(n, d)) + draw(st.floats(0, 5)) * labels[:, None], labels


@settings(deadline=None)
@given(clusterings())
def test_the_transcription_finds_the_same(given_):
    X, labels = given_
    assert lw.dbcv_score(X, labels) == pytest.approx(dbcv(X.tolist(), labels.tolist()), abs=1e-12)


@settings(deadline=None)
@given(clusterings(), st.integers(0, 99))
def test_neither_the_order_of_rows_nor_the_names_of_clusters_matter(given_, seed):
    X, labels = given_
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(len(X)), np.append(rng.permutation(50)[:6], -1)
    score = lw.dbcv_score(X, labels)
    assert -1 <= score <= 1
    assert lw.dbcv_score(X[order], names[labels][order]) == pytest.approx(score, abs=1e-9)


@settings(deadline=None)
@given(clusterings(), st.sampled_from([2.0**-300, 2.0**-20, 2.0**20, 2.0**300]))
def test_neither_unit_nor_place_matter(given_, unit):
    X, labels = given_
    assert lw.dbcv_score(X * unit, labels) == pytest.approx(lw.dbcv_score(X, labels), abs=1e-9)
    assert lw.dbcv_score(X + 1.0, labels) == pytest.approx(lw.dbcv_score(X, labels), abs=1e-6)


@settings(deadline=None, max_examples=50)
@given(clusterings())
def test_in_small_blocks_and_without_shared_distances_it_is_the_same(given_):
    X, labels = given_
    whole = lw.dbcv_score(X, labels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SHARED_ROWS", 0)
        patch.setattr(module, "BLOCK", 7)
        assert lw.dbcv_score(X, labels) == pytest.approx(whole, abs=1e-12)


# ---------------------------------------------------------------- by hand
def test_two_triples_on_a_line():
    """Core distances of 0, 1, 2: the harmonic means 4/3, 1, 4/3. The centres are the internal nodes.

    No edge lies between internal nodes, so the larger of both edges, 4/3, is the sparseness. The
    centres are 10 apart.
    """
    X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    assert lw.dbcv_score(X, [0, 0, 0, 1, 1, 1]) == pytest.approx((10 - 4 / 3) / 10)


def test_noise_counts_in_the_denominator_only():
    X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    far = [[1000.0], [-500.0]]
    score = lw.dbcv_score(X, [0, 0, 0, 1, 1, 1])
    assert lw.dbcv_score(X + far, [0, 0, 0, 1, 1, 1, -1, -1]) == pytest.approx(score * 6 / 8)
    singletons = lw.dbcv_score(X + far, [0, 0, 0, 1, 1, 1, 2, 3])
    assert singletons == pytest.approx(score * 6 / 8)  # a cluster of one row is noise


def test_squared_distances():
    X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]  # 2 / (1 + 1/4) = 8/5 at the ends, 100 between
    score = lw.dbcv_score(X, [0, 0, 0, 1, 1, 1], metric="sqeuclidean")
    assert score == pytest.approx((100 - 8 / 5) / 100)


@pytest.mark.parametrize(
    "labels", [[0, 0, 0, 0], [-1, -1, -1, -1], [0, 0, -1, -1], [0, 0, 1, -1], [0, 1, 2, 3]]
)
def test_fewer_than_two_clusters_are_the_worst(labels):
    assert lw.dbcv_score(np.arange(4.0)[:, None], labels) == -1


def test_equal_rows():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 4, axis=0)
    assert lw.dbcv_score(X, [0] * 4 + [1] * 4) == 1.0
    assert lw.dbcv_score(np.zeros((8, 2)), [0] * 4 + [1] * 4) == 0.0
    mixed = np.vstack([X, [[0.2, 0.0], [1.2, 1.0]]])
    labels = [0] * 4 + [1] * 4 + [0, 1]
    assert lw.dbcv_score(mixed, labels) == pytest.approx(dbcv(mixed.tolist(), labels))


@pytest.mark.parametrize("d", [30, 300, 3000])
def test_many_dimensions_stay_within_floats(d):
    """Powers of distances do not: the mean of their logarithms does."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, d)) * 40
    X[15:] += 100
    labels = np.repeat([0, 1], 15)
    with np.errstate(all="raise"):
        score = lw.dbcv_score(X, labels)
    assert 0 < score < 1
    core = module._core_distances(np.arange(15), module._make_distances(X, "euclidean"), d)
    apart = np.sqrt(((X[1:15] - X[0]) ** 2).sum(axis=1))
    assert core[0] == pytest.approx(np.exp(-(logsumexp(-d * np.log(apart)) - np.log(14)) / d))


def test_moons_are_found_and_halves_of_moons_are_not():
    X, y = make_moons(300, noise=0.02, random_state=0)
    halves = y * 2 + (X[:, 0] > np.where(y, 1.0, 0.0))
    assert lw.dbcv_score(X, y) > 0.4 > 0 > lw.dbcv_score(X, halves) > lw.dbcv_score(X, X[:, 0] > 0.5)


# ---------------------------------------------------------------- many clusterings
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_a_scorer_gives_each_clustering_its_score(load):
    X = minmax_scale(load().data)
    score = dbcv_scorer(X)
    for eps in (0.1, 0.2, 0.4, 0.2):
        for least in (2, 5):
            labels = DBSCAN(eps=eps, min_samples=least).fit_predict(X)
            assert score(labels) == lw.dbcv_score(X, labels)


# ---------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("X", "labels", "metric", "words"),
    [
        (np.eye(3), [0, 1], "euclidean", r"labels have shape \(2,\)\. Pass one label for each of 3 rows"),
        (np.eye(3), np.eye(3), "euclidean", r"labels have shape \(3, 3\)"),
        (np.full((3, 2), np.nan), [0, 1, 1], "euclidean", "NaN"),
        (np.eye(3), [0, 1, 1], "cosine", r"metric is unknown: 'cosine'\. Pass 'euclidean' or 'sqeuclidean'"),
    ],
)
def test_bad_arguments_of_scores_raise_errors(X, labels, metric, words):
    with pytest.raises(ValueError, match=words):
        lw.dbcv_score(X, labels, metric=metric)
