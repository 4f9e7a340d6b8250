"""S_Dbw: the definition, what changes nothing, odd clusterings, and its kernels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs

import linkwise as lw
from linkwise import native
from linkwise.native import squared_distances
from reference import s_dbw as reference

OPTIONS = [(s, f) for s in ("mean", "icdm2001") for f in ("mean", "printed")]
each_option = pytest.mark.parametrize(("stdev", "factor"), OPTIONS)


@st.composite
def clusterings(draw):
    """A few rows in clusters of any size, some of them noise, some of them equal."""
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.normal(size=(n, d)) * rng.choice([0.1, 1.0, 10.0], d)
    X = X[rng.integers(0, n, n)] if draw(st.booleans()) else X
    labels = rng.integers(-1, draw(st.integers(1, 6)), n)
    labels[0] = 0
    return X, labels, rng


# ---------------------------------------------------------------- the definition
@each_option
@given(clusterings())
def test_it_is_what_the_paper_defines(stdev, factor, problem):
    X, labels, _ = problem
    found = lw.s_dbw_score(X, labels, stdev=stdev, factor=factor)
    assert found == pytest.approx(reference.s_dbw(X, labels, stdev, factor), rel=1e-9)


@each_option
def test_rows_exactly_on_the_radius_count(stdev, factor):
    X = np.array([[0, 0], [2, 0], [0, 2], [2, 2], [8, 0], [10, 0], [8, 2], [10, 2], [5, 1]], float)
    labels = [0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert lw.s_dbw_score(X, labels, stdev=stdev, factor=factor) == pytest.approx(
        reference.s_dbw(X, labels, stdev, factor)
    )


def test_by_hand():
    """Variances of 1 within, 26 of all: no row lies half-way. With a row at 6, one lies there."""
    assert lw.s_dbw_score([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1]) == pytest.approx(1 / 26)
    sigma, whole = np.array([1.0, np.var([10.0, 12.0, 6.0])]), np.var([0.0, 2.0, 10.0, 12.0, 6.0])
    score = lw.s_dbw_score([[0.0], [2.0], [10.0], [12.0], [6.0]], [0, 0, 1, 1, 1])
    assert score == pytest.approx(sigma.mean() / whole + 1 / 2)  # 2 of its rows lie within 1.7 of each mean


def test_no_row_near_the_means_counts_nothing_half_way():
    """Two pairs far wider than the rest: their middles are empty, yet rows lie half-way between these."""
    X, labels = np.array([[0.0], [10.0], [5.0], [15.0], [100.0], [100.0]]), np.array([0, 0, 1, 1, 2, 2])
    score = lw.s_dbw_score(X, labels, stdev="icdm2001")
    assert score == pytest.approx(reference.s_dbw(X, labels, "icdm2001"))
    assert score == pytest.approx(np.mean([25, 25, 0]) / X.var())


@pytest.mark.parametrize(
    ("k", "default", "printed"), [(2, 0.213, 0.162), (3, 0.406, 0.126), (4, 0.366, 0.131)]
)
def test_iris_has_the_known_value(k, default, printed):
    """Figures that another program gave for the k-means clusterings of scikit-learn's iris."""
    X = load_iris().data
    labels = KMeans(k, n_init=10, random_state=0).fit(X).labels_
    assert lw.s_dbw_score(X, labels) == pytest.approx(default, abs=0.005)
    assert lw.s_dbw_score(X, labels, stdev="icdm2001", factor="printed") == pytest.approx(printed, abs=0.005)


def test_good_clusters_score_lower_than_bad_ones():
    X, y = make_blobs(200, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    drawn = np.random.default_rng(0).permutation(y)
    joined = np.minimum(y, 1)
    assert lw.s_dbw_score(X, y) < lw.s_dbw_score(X, joined) < lw.s_dbw_score(X, drawn)


# ---------------------------------------------------------------- what changes nothing
@pytest.mark.slow
@each_option
@given(clusterings(), st.floats(1e-3, 1e3), st.floats(-10, 10))
def test_neither_unit_place_order_nor_names_matter(stdev, factor, problem, unit, shift):
    X, labels, rng = problem
    options = {"stdev": stdev, "factor": factor}
    score = lw.s_dbw_score(X, labels, **options)
    columns, rows = rng.permutation(X.shape[1]), rng.permutation(len(X))
    named = np.where(labels < 0, -1, rng.permutation(10)[labels] + 3)
    for other, names in ((X * unit, labels), (X + shift, labels), (X[:, columns], labels), (X, named)):
        assert lw.s_dbw_score(other, names, **options) == pytest.approx(score, rel=1e-9, abs=1e-12)
    assert lw.s_dbw_score(X[rows], labels[rows], **options) == pytest.approx(score, rel=1e-9, abs=1e-12)


def test_identical_rows_beside_noise_do_not_scatter():
    X = np.array([[-1.34749859, -6.13741883], *[[-4.44157801, -21.37172526]] * 3])
    assert lw.s_dbw_score(X, [-1, 0, 0, 0]) == 0


def test_a_rotation_matters():
    """The length of a vector of variances is no invariant of rotations."""
    X, y = make_blobs(100, centers=[[0, 0], [9, 0]], random_state=0)
    turn = np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2)
    assert abs(lw.s_dbw_score(X @ turn, y) / lw.s_dbw_score(X, y) - 1) > 0.01


@given(clusterings())
def test_known_distances_change_nothing(problem):
    X, labels, _ = problem
    means = np.array([X[labels == c].mean(axis=0) for c in np.unique(labels[labels >= 0])])
    known = squared_distances(np.ascontiguousarray(X), means, 1)
    assert lw.s_dbw_score(X, labels, squares=known) == pytest.approx(lw.s_dbw_score(X, labels))


# ---------------------------------------------------------------- odd clusterings
def test_one_cluster_is_as_wide_as_the_data():
    X = load_iris().data
    assert lw.s_dbw_score(X, np.zeros(150)) == pytest.approx(1.0)


def test_noise_is_ignored():
    X, y = load_iris(return_X_y=True)
    noisy = np.where(np.arange(150) % 4 == 0, -1, y)
    assert lw.s_dbw_score(X, noisy) == lw.s_dbw_score(X[noisy >= 0], noisy[noisy >= 0])
    assert lw.s_dbw_score(X, np.full(150, -1)) == np.inf


def test_single_rows_are_clusters_without_variance():
    assert lw.s_dbw_score(np.eye(3), [0, 1, 2]) == 0.0
    assert lw.s_dbw_score([[0.0], [1.0], [9.0]], [0, 0, 1]) == pytest.approx(
        reference.s_dbw([[0.0], [1.0], [9.0]], [0, 0, 1])
    )


def test_rows_that_are_all_identical():
    assert lw.s_dbw_score(np.full((6, 2), 0.1), np.zeros(6)) == 0.0
    assert lw.s_dbw_score(np.full((6, 2), 0.1), [0, 0, 0, 1, 1, 1]) == 1.0  # as dense half-way as anywhere


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([[1.0]], [0, 1]), {}, r"labels have shape \(2,\)\. Pass one label for each of 1 rows"),
        (([[np.nan]], [0]), {}, "NaN"),
        (([[1.0]], [0]), {"stdev": "median"}, r"stdev is unknown: 'median'\. Pass 'mean' or 'icdm2001'"),
        (([[1.0]], [0]), {"factor": "half"}, r"factor is unknown: 'half'\. Pass 'mean' or 'printed'"),
        (([[1.0]], [np.nan]), {}, r"labels hold nan for row 0\. Set a cluster for every row"),
        (([[1.0], [2.0]], [0, None]), {}, r"labels hold None for row 1"),
        (([[1.0]], [0]), {"squares": np.array([[np.nan]])}, "squares hold NaN"),
        (([[1.0]], [0]), {"squares": np.array([[-1.0]])}, "squares hold NaN, infinity or numbers below 0"),
        (([[1.0]], [0]), {"squares": np.zeros((1, 2))}, r"squares have shape \(1, 2\)\. Pass \(1, 1\)"),
    ],
)
def test_bad_arguments_raise_errors(arguments, options, words):
    with pytest.raises(ValueError, match=words):
        lw.s_dbw_score(*arguments, **options)


# ---------------------------------------------------------------- the kernel
@st.composite
def clusters(draw):
    """Rows on a grid, so that some lie on a sphere, and points in the place of means."""
    k, d = draw(st.integers(1, 5)), draw(st.integers(1, 40))
    n = draw(st.integers(k, 70))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = (rng.integers(-8, 9, (n, d)) / 2).astype(draw(st.sampled_from([np.float32, np.float64])))
    labels = np.r_[np.arange(k), rng.integers(-1, k, n - k)].astype(np.int32)
    return X, rng.permutation(labels), rng.integers(-8, 9, (k, d)) / 2


@given(clusters(), st.booleans())
def test_the_kernel_equals_its_twin(problem, pooled):
    X, labels, means = problem
    twin = reference.scatter_and_density(X, labels, means, pooled)
    for squares in (None, squared_distances(X, means, 1)):
        found = native.s_dbw(X, labels, means, squares, pooled=pooled, n_threads=2)
        assert found == pytest.approx(twin, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_bits_for_any_number_of_threads(dtype):
    rng = np.random.default_rng(0)
    X, means = rng.normal(size=(200_000, 12)).astype(dtype), rng.normal(size=(7, 12))
    labels = rng.integers(-1, 7, len(X)).astype(np.int32)
    one, three = (native.s_dbw(X, labels, means, None, pooled=False, n_threads=t) for t in (1, 3))
    assert one == three
    assert min(one) > 0


ROWS, LABELS, MEANS = np.zeros((3, 2)), np.arange(3, dtype=np.int32), np.zeros((3, 2))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((ROWS.astype(int), LABELS, MEANS, None, 1), TypeError, "X must be .* float32 or float64"),
        ((ROWS, LABELS[:2], MEANS, None, 1), ValueError, r"labels must have shape \(3\), got \(2,\)"),
        ((ROWS, LABELS.astype(int), MEANS, None, 1), TypeError, "labels .* int32"),
        ((ROWS, LABELS + 4, MEANS, None, 1), ValueError, "labels holds 4 to 6"),
        ((ROWS, LABELS - 1, MEANS, None, 1), ValueError, "a cluster without a row"),
        ((ROWS, LABELS, MEANS[:, :1].copy(), None, 1), ValueError, r"means .* \(≥1, 2\)"),
        ((ROWS, LABELS, MEANS, None, 0), ValueError, "n_threads must be at least 1"),
        ((ROWS, LABELS, MEANS, np.zeros((3, 4)), 1), ValueError, r"squares must have shape \(3, 3\)"),
    ],
)
def test_native_code_rejects_bad_arguments(arguments, error, words):
    *arrays, threads = arguments
    with pytest.raises(error, match=words):
        native.s_dbw(*arrays, pooled=False, n_threads=threads)
