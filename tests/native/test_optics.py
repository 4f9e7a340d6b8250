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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "d", "mutual"),
    [
        (3000, 2, True),
        (2000, 200, False),
        *(
            pytest.param(*case, marks=pytest.mark.slow(nightly=True))
            for case in ((3000, 2, False), (2000, 200, True))
        ),
    ],
)
def test_any_number_of_threads_gives_the_same(n, d, mutual):
    X = np.random.default_rng(0).integers(0, 9, (n, d)).astype(np.float64)
    cores = [native.core_squares(X, 4, threads) for threads in (1, 3)]
    np.testing.assert_array_equal(*cores)
    one, other = (native.density_walk(X, cores[0], 7, threads, mutual=mutual) for threads in (1, 3))
    for this, that in zip(one, other, strict=True):
        np.testing.assert_array_equal(this, that)


@given(rows(), st.integers(1, 8), st.booleans(), st.booleans(), st.integers(1, 3))
def test_the_walk_by_searches_is_the_twins(X, k, mutual, sort, threads):
    """Sorted rows have their copies beside each other, and then these are looked at once."""
    k = min(k, len(X))
    X = X[np.lexsort(X.T[::-1])] if sort else X
    core, walk = native.walk_from_densest(X, k, threads, mutual=mutual, share=np.inf)
    wanted = twin.core_squares(X, k)
    np.testing.assert_array_equal(core, wanted)
    for found, column in zip(walk, twin.density_walk(X, wanted, int(wanted.argmin()), mutual), strict=True):
        np.testing.assert_array_equal(found, column)


def grid(n, d, values):
    return np.random.default_rng(3).integers(0, values, (n, d)).astype(np.float64)


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(4).normal(size=(3000, 3)),
        np.random.default_rng(5).normal(size=(1500, 12)).astype(np.float32),
        grid(3000, 2, 40),  # copies, and ties within and beyond core distances
        grid(2000, 3, 100) * [1, 2, 3],
        np.linspace(0, 1, 700)[:, None],
    ],
    ids=["few columns", "many columns", "dense grid", "sparse grid", "line"],
)
def test_searches_and_all_distances_give_one_walk(X, mutual):
    X = np.ascontiguousarray(X[np.lexsort(X.T[::-1])])
    assert optics.library.span_walk(X, 4, mutual, np.inf, 1) is not None
    by_search = native.walk_from_densest(X, 4, 3, mutual=mutual, share=np.inf)
    by_all = native.walk_from_densest(X, 4, 2, mutual=mutual, share=0.0)
    np.testing.assert_array_equal(by_search.core, by_all.core)
    for found, wanted in zip(by_search.walk, by_all.walk, strict=True):
        np.testing.assert_array_equal(found, wanted)


def make_equidistant(n):
    """A row with n others at one distance, which are farther from each other."""
    return np.vstack([np.zeros((1, n)), np.eye(n)])


@pytest.mark.parametrize(
    ("X", "k"), [(make_equidistant(600), 4), (np.zeros((600, 1)) + np.arange(600)[:, None], 65)]
)
def test_where_hundreds_tie_or_count_all_distances_are_computed(X, k):
    core, walk = native.walk_from_densest(X, k, 1, mutual=True, share=np.inf)
    np.testing.assert_array_equal(core, native.core_squares(X, k, 1))
    wanted = native.density_walk(X, core, int(core.argmin()), 1, mutual=True)
    for found, column in zip(walk, wanted, strict=True):
        np.testing.assert_array_equal(found, column)


def test_too_many_ties_end_the_searches():
    assert optics.library.span_walk(make_equidistant(600), 4, False, np.inf, 1) is None
    assert optics.library.span_walk(make_equidistant(40), 4, False, np.inf, 1) is not None


def test_where_searches_look_at_much_they_end():
    X = np.random.default_rng(6).normal(size=(2000, 60))
    assert optics.library.span_walk(X, 4, False, optics.SHARE, 1) is None
    assert optics.library.span_walk(X[:, :2].copy(), 4, False, optics.SHARE, 1) is not None


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
            lambda: native.core_squares(X, 7, 1),
            ValueError,
            r"k must be 1 to 6, got 7",
        ),
        (lambda: native.core_squares(X, 0, 1), ValueError, "k must be at least 1, got 0"),
        (lambda: native.core_squares(X, 1, 0), ValueError, "n_threads must be at least 1, got 0"),
        (
            lambda: optics.walk_from_densest(X, 7, 1, mutual=True),
            ValueError,
            r"k must be 1 to 6, got 7",
        ),
        (
            lambda: optics.walk_from_densest(X, 0, 1, mutual=True),
            ValueError,
            "k must be at least 1, got 0",
        ),
        (lambda: native.core_squares(X.tolist(), 1, 1), TypeError, "X must be a NumPy array"),
        (
            lambda: optics.density_walk(X, np.zeros(5), 0, 1, mutual=True),
            ValueError,
            r"core .* \(6\), got",
        ),
        (
            lambda: optics.density_walk(X, np.zeros(6), 6, 1, mutual=True),
            ValueError,
            "start must be 0 to 5, got 6",
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
