"""The nearest of many points, which a tree finds, and of as many that lie where a tree is of no use."""

import numpy as np
import pytest

from linkwise import native


def make_points(shape, n_features, rng):
    if shape == "lattice":  # many points at one distance
        return rng.integers(0, 4, (3000, n_features)).astype(float)
    if shape == "groups":
        return rng.normal(size=(10, n_features))[rng.integers(0, 10, 3000)] * 9 + rng.normal(
            size=(3000, n_features)
        )
    return rng.uniform(size=(3000, n_features))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", [1, 2, 7, 40])
@pytest.mark.parametrize("shape", ["lattice", "groups", "even"])
def test_the_nearest_point_is_the_first_with_the_smallest_of_all_distances(shape, n_features, dtype):
    rng = np.random.default_rng(n_features)
    X = make_points(shape, n_features, rng).astype(dtype)
    points = np.ascontiguousarray(X[rng.choice(len(X), 700)], dtype=np.float64)
    nearest, squares = native.nearest_points(X, points, 1)
    table = native.squared_distances(X, points, 1)
    np.testing.assert_array_equal(nearest, table.argmin(axis=1))
    np.testing.assert_array_equal(squares, table.min(axis=1))
    for again, before in zip(native.nearest_points(X, points, 3), (nearest, squares), strict=True):
        np.testing.assert_array_equal(again, before)


def test_where_every_distance_is_too_large_for_a_number_the_first_point_is_the_nearest():
    X = np.full((1000, 2), 1e200)
    points = np.zeros((300, 2))
    nearest, squares = native.nearest_points(X, points, 1)
    assert not nearest.any()
    assert np.isinf(squares).all()
