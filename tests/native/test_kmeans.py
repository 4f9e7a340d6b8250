"""k-means kernels against their NumPy twins, for any thread count, and against scikit-learn."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine

from linkwise import native
from reference import kernels as twin


@st.composite
def problems(draw, max_rows=40):
    """Rows on a coarse grid (duplicates, ties, constant columns) whose sums are exact in float64."""
    n, d = draw(st.integers(1, max_rows)), draw(st.integers(1, 5))
    width = draw(st.integers(0, 6))
    seed = draw(st.integers(0, 2**32 - 1))
    X = np.random.default_rng(seed).integers(-width, width + 1, (n, d)) / 4
    if draw(st.booleans()):
        X[:, 0] = 1.0
    return X.astype(draw(st.sampled_from([np.float32, np.float64])))


def normal(n, d, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def assert_run_equals_twin(X, start, max_iter, tol, weight=None):
    labels, centers, inertia, n_iter = twin.lloyd(X, start, max_iter, tol, weight)
    runs = native.lloyd(X, start[None], max_iter, tol, 1, weight)
    assert runs.labels[0].tolist() == labels.tolist()
    np.testing.assert_allclose(runs.centers[0], centers, rtol=1e-10, atol=1e-10)
    assert runs.inertia[0] == pytest.approx(inertia, rel=1e-10, abs=1e-12)
    assert runs.n_iter[0] == n_iter


@settings(deadline=None)
@given(problems(), st.data())
def test_lloyd_equals_its_twin(X, data):
    k = data.draw(st.integers(1, 6))
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    if data.draw(st.booleans()):
        start = X[rng.integers(len(X), size=k)].astype(np.float64)  # equal starts: empty clusters
    else:
        start = rng.integers(-8, 9, (k, X.shape[1])) / 4
    max_iter = data.draw(st.sampled_from([1, 2, 300]))
    weight = rng.integers(1, 9, len(X)) if data.draw(st.booleans()) else None
    assert_run_equals_twin(X, start, max_iter, data.draw(st.sampled_from([0.0, 0.3])), weight)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d", "k"), [(5000, 3, 12), (4099, 70, 5), (2048, 33, 2), (2049, 2, 1)])
def test_skipping_rows_changes_nothing(n, d, k, dtype):
    """Structureless rows take many iterations, in which the bounds skip most rows."""
    X = normal(n, d, dtype=dtype)
    assert_run_equals_twin(X, X[:k].astype(np.float64), 300, 0.0)


def test_far_from_the_origin_the_clusters_are_the_same():
    X = np.rint(normal(3000, 4) * 64) / 64
    start = X[:5].copy()
    near, far = (native.lloyd(X + at, start[None] + at, 300, 0.0, 1) for at in (0.0, 2.0**20))
    assert (near.labels == far.labels).all()
    np.testing.assert_allclose(near.inertia, far.inertia, rtol=1e-9)


@settings(deadline=None)
@given(problems(), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]))
def test_two_means_equals_the_twin_of_lloyd(X, seed, tol):
    start = X[np.random.default_rng(seed).integers(len(X), size=2)].astype(np.float64)
    labels, centers, inertia, n_iter = twin.lloyd(X, start, 300, tol)
    found = native.two_means(X, start, 300, tol, 1)
    assert found.labels.dtype == np.uint8
    assert found.labels.tolist() == labels.tolist()
    np.testing.assert_allclose(found.centers, centers, rtol=1e-10, atol=1e-10)
    assert (found.inertia, found.n_iter) == (pytest.approx(inertia, rel=1e-10, abs=1e-12), n_iter)


@settings(deadline=None)
@given(problems(), st.integers(1, 8), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=3), st.data())
def test_plusplus_equals_its_twin_and_never_repeats_a_row(X, k, seeds, data):
    candidates = data.draw(st.integers(1, 4))
    rows = native.kmeans_plusplus(X, k, np.array(seeds, np.uint64), candidates, 1)
    assert rows.tolist() == [twin.kmeans_plusplus(X, k, seed, candidates).tolist() for seed in seeds]
    distinct = min(k, len(np.unique(X, axis=0)))
    for chosen in rows:
        assert len(np.unique(X[chosen[chosen >= 0]], axis=0)) == distinct
        assert (chosen >= 0).tolist() == [True] * distinct + [False] * (k - distinct)


@pytest.mark.parametrize("seed", range(5))
def test_a_weight_is_that_many_copies_of_a_row(seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.integers(-99, 99, (3000, 2)) / 8, rng.integers(1, 7, 3000)
    copies = np.repeat(np.arange(len(X)), weight)
    rows = native.kmeans_plusplus(X, 8, np.arange(4, dtype=np.uint64), 3, 2, weight)
    of_copies = native.kmeans_plusplus(X[copies], 8, np.arange(4, dtype=np.uint64), 3, 2)
    assert rows.tolist() == copies[of_copies].tolist()
    one = native.lloyd(X, X[rows], 300, 0.0, 2, weight)
    many = native.lloyd(X[copies], X[rows], 300, 0.0, 2)
    assert one.labels[:, copies].tolist() == many.labels.tolist()
    np.testing.assert_allclose(one.centers, many.centers, rtol=1e-12)
    np.testing.assert_allclose(one.inertia, many.inertia, rtol=1e-12)


def test_plusplus_over_several_chunks_equals_its_twin():
    X = normal(5000, 3)
    rows = native.kmeans_plusplus(X, 9, np.arange(3, dtype=np.uint64), 4, 2)
    assert rows.tolist() == [twin.kmeans_plusplus(X, 9, seed, 4).tolist() for seed in range(3)]


def test_rows_too_many_to_be_transposed_give_the_same():
    few = np.random.default_rng(0).integers(-99, 99, (5000, 3)) / 8.0
    many = np.hstack([few, np.zeros((5000, 27))])  # more numbers than are transposed at once
    seeds = np.arange(3, dtype=np.uint64)
    rows = native.kmeans_plusplus(few, 9, seeds, 5, 1)
    assert rows.tolist() == native.kmeans_plusplus(many, 9, seeds, 5, 1).tolist()
    runs, of_many = (native.lloyd(X, X[rows], 300, 0.0, 1) for X in (few, many))
    assert (runs.labels == of_many.labels).all()
    assert (runs.n_iter == of_many.n_iter).all()
    one_by_one = [native.lloyd(few, few[start][None], 300, 0.0, 1) for start in rows]
    assert all((one.labels[0] == labels).all() for one, labels in zip(one_by_one, runs.labels, strict=True))
    moved, of_many = (native.exchange(X, runs.labels, 9, 300, 1)[0] for X in (few, many))
    assert (moved == of_many).all()


@settings(deadline=None)
@given(problems(), st.integers(1, 5), st.integers(0, 2**32 - 1), st.booleans())
def test_nearest_rows_equal_their_twin(X, k, seed, masked):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, k, len(X)).astype(np.int32)
    centers = rng.integers(-8, 9, (k, X.shape[1])) / 4
    allowed = rng.random(len(X)) < 0.5 if masked else None
    rows = native.nearest_rows(X, labels, centers, allowed, 1)
    assert rows.tolist() == twin.nearest_rows(X, labels, centers, allowed).tolist()


def test_of_equally_near_rows_in_several_chunks_the_first_is_returned():
    X = np.tile(np.arange(8.0)[:, None], (1000, 1))
    labels = np.zeros(len(X), np.int32)
    assert native.nearest_rows(X, labels, np.array([[3.5]]), None, 2).tolist() == [3]
    assert native.nearest_rows(X, labels, np.array([[4.0]]), np.arange(len(X)) > 4100, 2).tolist() == [4108]


@settings(deadline=None)
@given(problems(), st.integers(1, 150), st.integers(0, 2**32 - 1))
def test_nearest_points_equal_their_twin(X, k, seed):
    points = np.random.default_rng(seed).integers(-8, 9, (k, X.shape[1])) / 4
    nearest, squares = native.nearest_points(X, points, 1)
    expected = twin.squared_distances(X, points)
    assert nearest.tolist() == expected.argmin(axis=1).tolist()
    assert squares.tolist() == expected.min(axis=1).tolist()


def test_a_row_is_at_0_from_itself():
    X = normal(3000, 70) * 1e8
    nearest, squares = native.nearest_points(X, X, 2)
    assert (nearest == np.arange(3000)).all()
    assert (squares == 0).all()


def everything(X, threads):
    """All arrays that the kernels make of `X`; small and large enough to be shared among threads."""
    rows = native.kmeans_plusplus(X, 6, np.arange(4, dtype=np.uint64), 3, threads)
    starts = X[rows].astype(np.float64)
    runs = native.lloyd(X, starts, 5, 0.0, threads)
    two = native.two_means(X, starts[0, :2].copy(), 5, 0.0, threads)
    near = native.nearest_points(X, starts[0], threads)
    return rows, *runs, *two, *near, native.nearest_rows(X, runs.labels[0], runs.centers[0], None, threads)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "dtype"),
    [  # no threads, a thread a start, threads share the rows
        *((n, dtype) for n in (300, 5000) for dtype in (np.float32, np.float64)),
        (300_000, np.float32),
        pytest.param(300_000, np.float64, marks=pytest.mark.slow(nightly=True)),
    ],
)
def test_any_number_of_threads_gives_the_same_bits(n, dtype):
    X = normal(n, 7, dtype=dtype)
    one = everything(X, 1)
    for threads in (2, 5):
        for a, b in zip(one, everything(X, threads), strict=True):
            np.testing.assert_array_equal(a, b)


def test_calls_from_several_threads_do_not_disturb_each_other():
    X = normal(60_000, 7)
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda threads: everything(X, threads), (1, 2, 3)))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("seed", range(4))
def test_from_the_same_start_scikit_learn_gets_the_same_clusters(load, k, seed):
    X = np.ascontiguousarray(load().data)
    rng = np.random.default_rng(seed)
    start = X[rng.choice(len(X), k, replace=False)]
    start += rng.normal(scale=1e-3 * X.std(), size=start.shape)  # no ties, which rounding would break
    theirs = KMeans(k, init=start, n_init=1).fit(X)
    runs = native.lloyd(X, start[None], 300, 1e-4 * X.var(axis=0).mean(), 1)
    assert runs.labels[0].tolist() == theirs.labels_.tolist()
    assert runs.inertia[0] == pytest.approx(theirs.inertia_, rel=1e-6)
    assert runs.n_iter[0] == theirs.n_iter_


def test_an_empty_cluster_gets_the_farthest_row_as_in_scikit_learn():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [30.0]])
    start = np.array([[0.5], [9.0], [1000.0]])
    theirs = KMeans(3, init=start, n_init=1).fit(X)
    runs = native.lloyd(X, start[None], 300, 0.0, 1)
    assert runs.labels[0].tolist() == theirs.labels_.tolist() == [0, 0, 0, 1, 1, 2]
    np.testing.assert_allclose(runs.centers[0], theirs.cluster_centers_)


def test_clusters_without_distinct_rows_stay_empty_and_finite():
    X = np.repeat([[0.0, 1.0], [3.0, 4.0]], 5, axis=0)
    runs = native.lloyd(X, np.zeros((1, 4, 2)), 300, 0.0, 2)
    assert np.unique(runs.labels).size == 2
    assert runs.inertia[0] == 0
    assert np.isfinite(runs.centers).all()


@pytest.mark.parametrize(
    ("scale", "dtype"),
    [
        (1.0, np.float32),
        (1e-90, np.float64),
        *(
            pytest.param(*case, marks=pytest.mark.slow(nightly=True))
            for case in ((1.0, np.float64), (1e90, np.float64), (1e-90, np.float32), (1e90, np.float32))
        ),
    ],
)
def test_products_in_float32_leave_the_choice_as_it_is(scale, dtype):
    """Rows of many features are screened first. Columns of zeros beside a few change no distance."""
    if dtype is np.float32:
        scale = scale ** (1 / 3)
    rng = np.random.default_rng(4)
    lengths = rng.choice([1e-9, 1e-3, 1.0, 1.0, 1.0], size=(2500, 1))
    few = (rng.normal(size=(2500, 12)) * lengths * scale).astype(dtype)
    few[7] = few[8]
    few[1000:1400] = few[:400] * dtype(1 + 1e-6)
    many = np.hstack([few, np.zeros((2500, 52), dtype)])
    seeds, weight = np.arange(3, dtype=np.uint64), rng.integers(1, 5, 2500)
    for weights in (None, weight):
        rows = native.kmeans_plusplus(few, 60, seeds, 6, 1, weights)
        assert rows.tolist() == native.kmeans_plusplus(many, 60, seeds, 6, 2, weights).tolist()
    given = few[:3].astype(np.float64), many[:3].astype(np.float64)
    apart = [
        native.kmeans_plusplus(X, 50, seeds, 6, 1, None, g) for X, g in zip((few, many), given, strict=True)
    ]
    assert apart[0].tolist() == apart[1].tolist()


def test_rows_that_are_not_finite_are_not_screened():
    X = np.random.default_rng(0).normal(size=(5000, 40))
    X[3, 5] = np.inf
    with np.errstate(invalid="ignore"):
        rows = native.kmeans_plusplus(X, 5, np.arange(1, dtype=np.uint64), 3, 1)
    assert rows.shape == (1, 5)
