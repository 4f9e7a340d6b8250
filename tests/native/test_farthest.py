"""The farthest pairs against the distances of all pairs: the first pair of the largest one."""

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from linkwise import native

MADE = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "grid": lambda rng, n, d: rng.integers(0, 3, (n, d)).astype(float),  # many pairs are equally far apart
    "far": lambda rng, n, d: rng.normal(size=(n, d)) * 1e3 + 1e8,
    "same": lambda rng, n, d: np.full((n, d), 0.1),
    "one of each": lambda rng, n, d: rng.normal(size=(n, d))[np.zeros(n, dtype=int)],
    "sphere": lambda rng, n, d: normalize(rng.normal(size=(n, d))),
    "outliers on one side": lambda rng, n, d: np.abs(rng.standard_cauchy((n, d))),
    "tiny": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-160,  # squares are not normal numbers
    "huge": lambda rng, n, d: rng.normal(size=(n, d)) * 1e200,  # squares are infinite
}


def compare_all(X, scale):
    """The first of the farthest pairs by the table of all distances."""
    rows = np.ascontiguousarray(X * scale)
    squares = native.squared_distances(rows, rows, 1)
    return np.unravel_index(squares.argmax(), squares.shape)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("seed", range(12))
def test_they_are_the_first_of_all_pairs(kind, seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([1, 2, 31, 32, 33, 64, 65, 200, 450])), int(rng.integers(1, 40))
    X = MADE[kind](rng, n, d)
    scales = np.concatenate([np.ones((1, d)), np.exp(rng.normal(size=(3, d))), np.zeros((1, d))])
    found = native.farthest_pairs(X, scales)
    assert found.tolist() == [[*map(int, compare_all(X, scale))] for scale in scales]
