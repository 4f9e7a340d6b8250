"""Self-tuning spectral clustering: scales, the rotation, and the number of clusters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine, make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import linkwise as lw
from linkwise.select.self_tuning import (
    alignment_cost,
    alignment_gradient,
    choose_best_aligned,
    compose_givens,
    find_aligning_rotation,
    label_by_axes,
    relative_squared_distances,
    rotate_vectors,
    scale_affinities_locally,
)


@parametrize_with_checks([lw.SelfTuningSpectral()])
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- the affinity
def test_affinities_by_hand():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    sigma = [3.0, 2.0, 3.0, 6.0]  # distance to the second neighbour
    affinity = scale_affinities_locally(relative_squared_distances(X), 2)
    for i in range(4):
        for j in range(4):
            wanted = np.exp(-((X[i, 0] - X[j, 0]) ** 2) / (sigma[i] * sigma[j])) if i != j else 0.0
            assert affinity[i, j] == pytest.approx(wanted)


def test_the_scale_of_copies_is_the_nearest_row_that_differs():
    X = np.r_[np.zeros(9), 1.0, 2.0][:, None]
    affinity = scale_affinities_locally(relative_squared_distances(X), 2)
    assert affinity[0, 1] == 1.0
    assert affinity[0, 9] == pytest.approx(np.exp(-1.0))  # scales 1 and 1
    assert affinity[0, 10] == pytest.approx(np.exp(-4.0 / 2.0))  # scales 1 and 2


# ---------------------------------------------------------------- the rotation
@settings(deadline=None)
@given(st.integers(2, 6), st.integers(1, 30), st.integers(0, 10**6))
def test_the_gradient_is_that_of_the_cost(k, n, seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, k))
    top = np.sort(np.abs(Z), axis=1)
    Z = Z[top[:, -1] - top[:, -2] > 1e-3]  # where two entries are largest the cost has an edge
    if len(Z) == 0:
        return
    step, size = 1e-6, k * (k - 1) // 2
    numerical = [
        (alignment_cost(Z @ compose_givens(at, k)) - alignment_cost(Z @ compose_givens(-at, k))) / (2 * step)
        for at in step * np.eye(size)
    ]
    np.testing.assert_allclose(
        alignment_gradient(Z), numerical, rtol=1e-3, atol=1e-4 * max(1.0, np.abs(numerical).max())
    )


@given(st.integers(2, 6), st.integers(0, 10**6))
def test_givens_rotations_are_rotations(k, seed):
    turn = compose_givens(np.random.default_rng(seed).uniform(-9, 9, k * (k - 1) // 2), k)
    np.testing.assert_allclose(turn @ turn.T, np.eye(k), atol=1e-12)
    assert np.linalg.det(turn) == pytest.approx(1.0)


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(2, 5), st.integers(0, 10**6))
def test_rows_that_lie_on_axes_are_found_after_a_turn(k, seed):
    rng = np.random.default_rng(seed)
    axis = np.r_[np.arange(k), rng.integers(0, k, 40)]
    on_axes = np.eye(k)[axis] * rng.uniform(0.5, 2.0, len(axis))[:, None]
    turned = on_axes @ compose_givens(rng.uniform(-0.4, 0.4, k * (k - 1) // 2), k)
    back = turned @ find_aligning_rotation(turned)
    assert alignment_cost(back) <= alignment_cost(turned)
    assert alignment_cost(back) == pytest.approx(1.0, abs=1e-3)
    labels = label_by_axes(back, np.zeros((len(axis), len(axis))))
    assert adjusted_rand_score(axis, labels) == 1.0


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 6), st.integers(0, 10**6))
def test_the_cost_never_rises_and_rows_may_have_any_length(k, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(25, k))
    turn = find_aligning_rotation(vectors)
    assert alignment_cost(vectors @ turn) <= alignment_cost(vectors)
    longer = vectors * rng.uniform(0.1, 10.0, 25)[:, None]
    assert alignment_cost(longer) == pytest.approx(alignment_cost(vectors))
    np.testing.assert_allclose(find_aligning_rotation(longer), turn, atol=1e-6)


def test_each_number_goes_on_from_the_rotation_before():
    vectors = np.random.default_rng(0).normal(size=(20, 4))
    found = rotate_vectors(vectors, [2, 3, 4])
    for k in (2, 3, 4):
        np.testing.assert_allclose(found[k].vectors @ found[k].vectors.T, vectors[:, :k] @ vectors[:, :k].T)
        assert found[k].alignment == pytest.approx(1 - (alignment_cost(found[k].vectors) - 1) / k)
    np.testing.assert_array_equal(
        found[3].vectors,
        (start := np.column_stack([found[2].vectors, vectors[:, 2]])) @ find_aligning_rotation(start),
    )


def test_of_near_equal_alignments_the_largest_number():
    assert choose_best_aligned({2: 0.9, 3: 0.9991, 4: 0.5, 5: 1.0, 6: 0.9992, 7: 0.998}) == 6
    assert choose_best_aligned({2: 1.0, 3: 0.99}) == 2


# ---------------------------------------------------------------- the clusters
@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_separate_blobs_are_counted(k):
    X, y = make_blobs(60 * k, 2, centers=16 * np.c_[np.arange(k), np.arange(k) % 2], random_state=0)
    model = lw.SelfTuningSpectral().fit(X)
    assert model.n_clusters_ == k
    assert adjusted_rand_score(y, model.labels_) > 0.99
    assert list(model.alignment_) == list(range(2, 11))
    assert max(model.alignment_.values()) - model.alignment_[k] <= 1e-3


def test_clusters_of_different_scales_within_each_other():
    X, y = make_circles(300, factor=0.2, noise=0.02, random_state=0)
    model = lw.SelfTuningSpectral().fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0


@pytest.mark.parametrize(("load", "ari"), [(load_iris, 0.56), (load_wine, 0.90)])
def test_the_figures_of_the_paper_that_compares_cobs_with_it(load, ari):
    """Van Craenendonck and Blockeel (2017), Table III."""
    X, y = load(return_X_y=True)
    rows = np.sort(np.unique(X, axis=0, return_index=True)[1])
    labels = lw.SelfTuningSpectral().fit(minmax_scale(X[rows])).labels_
    assert adjusted_rand_score(y[rows], labels) == pytest.approx(ari, abs=0.015)


def test_the_order_of_rows_does_not_matter():
    X = minmax_scale(load_wine().data)
    order = np.random.default_rng(0).permutation(len(X))
    one, other = lw.SelfTuningSpectral().fit(X), lw.SelfTuningSpectral().fit(X[order])
    assert adjusted_rand_score(one.labels_[order], other.labels_) == 1.0


def test_the_number_of_threads_changes_nothing():
    X = minmax_scale(load_wine().data)
    found = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            found.append(lw.SelfTuningSpectral().fit(X))
    assert found[0].alignment_ == found[1].alignment_
    np.testing.assert_array_equal(found[0].labels_, found[1].labels_)


@pytest.mark.parametrize("unit", [1e-100, 1e-9, 1e9, 1e100])
def test_neither_unit_nor_place_matter(unit):
    X = minmax_scale(load_iris().data[::2])
    one = lw.SelfTuningSpectral().fit(X).labels_
    other = lw.SelfTuningSpectral().fit((X + 3) * unit).labels_
    assert adjusted_rand_score(one, other) == 1.0


def test_more_parts_than_are_tried_are_joined():
    large, small = 30, 9  # a small part lies 100 beside each large one, far from all others
    part = np.r_[np.arange(large), 100 + np.arange(small)]
    X = np.concatenate([1000 * c + part for c in range(5)]).astype(float)[:, None]
    model = lw.SelfTuningSpectral(max_clusters=5).fit(X)
    assert adjusted_rand_score(np.repeat(np.arange(5), len(part)), model.labels_) == 1.0


@pytest.mark.parametrize(
    ("X", "labels"), [([[3.0, 4.0]], [0]), ([[1.0]] * 12, [0] * 12), (np.full((5, 2), 7), [0] * 5)]
)
def test_rows_that_do_not_differ_are_one_cluster(X, labels):
    model = lw.SelfTuningSpectral().fit(X)
    assert model.labels_.tolist() == labels
    assert (model.n_clusters_, model.alignment_) == (1, {1: 1.0})


@pytest.mark.parametrize("distinct", [2, 3, 4])
def test_few_rows(distinct):
    X = np.repeat(np.arange(float(distinct)) ** 2, 4)[:, None]
    model = lw.SelfTuningSpectral().fit(X)
    assert 1 <= model.n_clusters_ <= distinct
    assert max(model.alignment_) == distinct


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"min_clusters": 1}, "min_clusters"),
        ({"min_clusters": 5, "max_clusters": 4}, r"min_clusters=5 is above max_clusters=4\. Swap them"),
    ],
)
def test_bad_settings_raise_errors(parameters, words):
    with pytest.raises(ValueError, match=words):
        lw.SelfTuningSpectral(**parameters).fit(np.eye(3))
