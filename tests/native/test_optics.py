"""Walks by density beside their twins, SciPy's spanning tree and scikit-learn's OPTICS."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.cluster import OPTICS

from linkwise import native
from linkwise.native import optics
from reference import kernels as twin


@st.composite
def rows(draw):
    """Some of them on a grid, so that distances tie."""
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(-6, 7, (n, d)) / 4 if draw(st.booleans()) else rng.normal(size=(n, d))
    return X.astype(draw(st.sampled_from(["f4", "f8"])))


@given(rows(), st.integers(1, 8), st.integers(0, 39), st.booleans())
def test_the_kernels_equal_their_twins(X, k, start, mutual):
    k, start = min(k, len(X)), start % len(X)
    core = native.core_squares(X, k, 2)
    np.testing.assert_array_equal(core, twin.core_squares(X, k))
    for found, wanted in zip(
        native.density_walk(X, core, start, 2, mutual=mutual),
        twin.density_walk(X, core, start, mutual),
        strict=True,
    ):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize(("n", "d"), [(3000, 2), (5000, 80)])
def test_any_number_of_threads_gives_the_same(n, d, mutual):
    X = np.random.default_rng(0).integers(0, 9, (n, d)).astype(np.float64)
    cores = [native.core_squares(X, 4, threads) for threads in (1, 3)]
    np.testing.assert_array_equal(*cores)
    one, other = (native.density_walk(X, cores[0], 7, threads, mutual=mutual) for threads in (1, 3))
    for this, that in zip(one, other, strict=True):
        np.testing.assert_array_equal(this, that)


@pytest.mark.parametrize("min_samples", [2, 5, 20])
def test_the_plot_is_scikit_learns(min_samples):
    X = np.random.default_rng(1).normal(size=(120, 3))
    core = native.core_squares(X, min_samples, 1)
    found = native.density_walk(X, core, 0, 1, mutual=False)
    theirs = OPTICS(min_samples=min_samples, algorithm="kd_tree", cluster_method="dbscan").fit(X)
    np.testing.assert_allclose(np.sqrt(core), theirs.core_distances_)
    np.testing.assert_allclose(found.reach, theirs.reachability_[theirs.ordering_])
    apart = np.flatnonzero(found.order != theirs.ordering_)  # rows that are reached at one distance
    np.testing.assert_allclose(found.reach[apart], theirs.reachability_[found.order[apart]])


@pytest.mark.parametrize("min_samples", [1, 4])
def test_the_tree_is_as_short_as_scipys(min_samples):
    X = np.random.default_rng(2).normal(size=(300, 4))
    core = native.core_squares(X, min_samples, 1)
    reach = np.sort(native.density_walk(X, core, 11, 1, mutual=True).reach[1:])[: len(X) - 1]
    mutual = np.maximum(np.maximum.outer(np.sqrt(core), np.sqrt(core)), cdist(X, X))
    tree = minimum_spanning_tree(mutual)
    found = native.density_walk(X, core, 11, 1, mutual=True)
    np.testing.assert_allclose(reach, np.sort(tree.data))
    np.testing.assert_allclose(found.reach[1:], mutual[found.before[1:], found.order[1:]])


X = np.zeros((6, 2))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: optics.core_squares(X, 7, 1),
            ValueError,
            r"k=7, but there are 6 rows\. Give k at most 6",
        ),
        (lambda: optics.core_squares(X, 0, 1), ValueError, "k must be at least 1, got 0"),
        (lambda: optics.core_squares(X, 1, 0), ValueError, "n_threads must be at least 1, got 0"),
        (lambda: optics.core_squares(X.tolist(), 1, 1), TypeError, "X must be a NumPy array"),
        (
            lambda: optics.density_walk(X, np.zeros(5), 0, 1, mutual=True),
            ValueError,
            r"core .* \(6\), got",
        ),
        (
            lambda: optics.density_walk(X, np.zeros(6), 6, 1, mutual=True),
            ValueError,
            "start=6, but the rows are 0 to 5",
        ),
        (
            lambda: optics.density_walk(X, np.zeros(6), 0, 0, mutual=True),
            ValueError,
            "n_threads must be at least 1",
        ),
    ],
)
def test_bad_arguments_raise_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()
