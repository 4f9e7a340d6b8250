"""All DBSCANs at once beside scikit-learn's, one at a time."""

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.neighbors import NearestNeighbors

from linkwise import native
from reference import kernels as twin

MIN_PTS = np.arange(2, 22)


def grid():
    steps = np.arange(15.0)
    return np.column_stack([np.repeat(steps, 15), np.tile(steps, 15)])


def duplicates():
    X = np.random.default_rng(0).normal(size=(60, 3))
    return X[np.random.default_rng(1).integers(0, 60, 240)]


SETS = {
    "iris": lambda: load_iris().data,
    "wine": lambda: load_wine().data,
    "breast_cancer": lambda: load_breast_cancer().data,
    "digits": lambda: load_digits().data[:400],
    "duplicates": duplicates,
    "a grid, all distances tied": grid,
    "one feature": lambda: np.random.default_rng(2).normal(size=(200, 1)),
    "blobs": lambda: make_blobs(300, 2, centers=4, random_state=0)[0],
}


def radii(X, how_many=20):
    least, most = native.distance_range(X, 1)
    return np.linspace(np.sqrt(least), np.sqrt(most), how_many)


class NeighboursOnce(NearestNeighbors):
    """Neighbours by radius, for `DBSCAN`s on the same rows that differ in `min_samples`."""

    found: ClassVar[dict] = {}

    def radius_neighbors(self, X, return_distance):
        assert not return_distance
        if self.radius not in self.found:
            self.found[self.radius] = super().radius_neighbors(X, return_distance=False)
        return self.found[self.radius]


ODD = ("iris", "duplicates", "a grid, all distances tied", "one feature")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [*ODD, *(pytest.param(name, marks=pytest.mark.slow(nightly=True)) for name in SETS if name not in ODD)],
)
def test_each_of_400_is_scikit_learns(name, monkeypatch):
    monkeypatch.setattr("sklearn.cluster._dbscan.NearestNeighbors", NeighboursOnce)
    monkeypatch.setattr(NeighboursOnce, "found", {})
    X = np.ascontiguousarray(SETS[name]())
    eps = radii(X)
    ours = native.all_dbscans(X, eps, MIN_PTS, 2)
    for p, min_samples in enumerate(MIN_PTS):
        for e, radius in enumerate(eps):
            theirs = DBSCAN(eps=radius, min_samples=min_samples, algorithm="kd_tree").fit(X)
            np.testing.assert_array_equal(ours[p, e], theirs.labels_, f"{min_samples=} {radius=}")
    assert len(NeighboursOnce.found) == len(eps)


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 2**32 - 1), st.sampled_from(["f4", "f8"]))
def test_the_kernel_equals_its_twin(n, d, seed, dtype):
    rng = np.random.default_rng(seed)
    X = (rng.integers(-6, 7, (n, d)) / 4).astype(dtype)
    eps = np.sort(rng.integers(0, 12, 5) / 4)
    min_pts = rng.integers(1, n + 3, 4)
    ours = native.all_dbscans(X, eps, min_pts, 1)
    for p, least in enumerate(min_pts):
        for e, radius in enumerate(eps):
            assert ours[p, e].tolist() == twin.dbscan(X, radius, least).tolist()
    assert native.distance_range(X, 1) == twin.distance_range(X)


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(1, 30), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_a_weight_is_that_many_copies_of_a_row(n, d, seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.integers(-6, 7, (n, d)) / 4, rng.integers(1, 5, n)
    eps, min_pts = np.sort(rng.integers(0, 12, 4) / 4), rng.integers(1, 12, 3)
    copies = np.repeat(np.arange(n), weight)
    one = native.all_dbscans(X, eps, min_pts, 1, weight)
    assert one[..., copies].tolist() == native.all_dbscans(X[copies], eps, min_pts, 1).tolist()
    for p, least in enumerate(min_pts):
        theirs = DBSCAN(eps=eps[1] or 1e-9, min_samples=least, algorithm="kd_tree").fit(
            X, sample_weight=weight
        )
        assert one[p, 1].tolist() == theirs.labels_.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_number_of_threads_gives_the_same_labels(dtype):
    X = np.random.default_rng(0).normal(size=(1000, 4)).astype(dtype)
    eps = radii(X)
    one = native.all_dbscans(X, eps, MIN_PTS, 1)
    np.testing.assert_array_equal(one, native.all_dbscans(X, eps, MIN_PTS, 3))
    assert native.distance_range(X, 1) == native.distance_range(X, 3)


def test_more_neighbours_than_rows_leave_noise_only():
    X = np.zeros((5, 2))
    labels = native.all_dbscans(X, np.array([0.0, 1.0]), np.array([5, 6, 10**9]), 1)
    assert labels[0].tolist() == [[0] * 5] * 2
    assert (labels[1:] == -1).all()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda X: native.all_dbscans(X, np.zeros(256), MIN_PTS, 1),
            ValueError,
            r"256 radii\. Pass at most 255",
        ),
        (lambda X: native.all_dbscans(X, np.zeros(2), MIN_PTS - 2, 1), ValueError, "at least 1, got 0"),
        (lambda X: native.all_dbscans(X, np.zeros(2, "f4"), MIN_PTS, 1), TypeError, "eps .* float64, got"),
        (lambda X: native.all_dbscans(X, np.zeros(2), MIN_PTS, 0), ValueError, "n_threads must be"),
        (lambda X: native.distance_range(X, 0), ValueError, "n_threads must be at least 1"),
        (lambda X: native.distance_range(X[0], 1), ValueError, "X must have 2 dimensions"),
    ],
)
def test_bad_arguments_raise_errors(call, error, words):
    with pytest.raises(error, match=words):
        call(np.zeros((4, 2)))
