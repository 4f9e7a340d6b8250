"""What the kernels refuse, and in which words."""

import numpy as np
import pytest

from linkwise import native, parallel

X = np.zeros((6, 2))
START = np.zeros((2, 2))
SEEDS = np.zeros(1, np.uint64)
LABELS = np.zeros(6, np.int32)


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        ([[0.0]], TypeError, r"X must be a NumPy array of float32 or float64, got list\. Convert it with"),
        (np.zeros((6, 2), int), TypeError, r"got an array of int64\. Convert it with np.ascontiguousarray"),
        (np.zeros((6, 2), ">f8"), TypeError, "got an array of >f8"),
        (np.zeros(6), ValueError, r"X must have 2 dimensions, got shape \(6,\)"),
        (np.zeros((0, 2)), ValueError, r"got \(0, 2\)"),
        (np.zeros((6, 0)), ValueError, r"got \(6, 0\)"),
        (np.zeros((6, 2), order="F"), ValueError, r"X must be C-contiguous\. Copy it with"),
        (np.zeros((12, 2))[::2], ValueError, "X must be C-contiguous"),
    ],
)
def test_rows(rows, error, words):
    for call in (
        lambda: native.lloyd(rows, START[None], 1, 0.0, 1),
        lambda: native.nearest_points(rows, START, 1),
        lambda: native.two_means(rows, START, 1, 0.0, 1),
        lambda: native.kmeans_plusplus(rows, 2, SEEDS, 1, 1),
        lambda: native.nearest_rows(rows, LABELS, START, None, 1),
    ):
        with pytest.raises(error, match=words):
            call()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: native.lloyd(X, START, 1, 0.0, 1),
            ValueError,
            r"starts must have 3 dimensions, got shape \(2, 2\)",
        ),
        (lambda: native.lloyd(X, np.zeros((1, 2, 3)), 1, 0.0, 1), ValueError, r"2\), got \(1, 2, 3\)"),
        (lambda: native.lloyd(X, np.zeros((1, 2, 2), "f4"), 1, 0.0, 1), TypeError, "starts .* float64, got"),
        (
            lambda: native.lloyd(X, START[None], 1, 0.0, 1, np.ones(len(X) + 1, int)),
            ValueError,
            "weight must have shape",
        ),
        (lambda: native.lloyd(X, START[None], 1, 0.0, 1, np.ones(len(X))), TypeError, "weight .* of int64"),
        (lambda: native.lloyd(X, START[None], 0, 0.0, 1), ValueError, "max_iter must be at least 1, got 0"),
        (lambda: native.lloyd(X, START[None], 1, 0.0, 0), ValueError, "n_threads must be at least 1, got 0"),
        (lambda: native.farthest_pairs(X, np.ones((1, 3))), ValueError, r"scales must have shape \(≥1, 2\)"),
        (
            lambda: native.two_means(X, np.zeros((3, 2)), 1, 0.0, 1),
            ValueError,
            r"start must .* \(2, 2\), got",
        ),
        (lambda: native.kmeans_plusplus(X, 0, SEEDS, 1, 1), ValueError, "k must be at least 1, got 0"),
        (lambda: native.kmeans_plusplus(X, 2, SEEDS, 0, 1), ValueError, "n_candidates must be at least 1"),
        (
            lambda: native.kmeans_plusplus(X, 2, np.zeros(1), 1, 1),
            TypeError,
            "seeds .* uint64, got an array",
        ),
        (lambda: native.nearest_rows(X, LABELS[:3], START, None, 1), ValueError, r"labels .* \(6\)"),
        (lambda: native.nearest_rows(X, LABELS.astype("i8"), START, None, 1), TypeError, "labels .* int32"),
        (lambda: native.nearest_rows(X, LABELS, START, LABELS, 1), TypeError, "allowed .* bool, got"),
        (
            lambda: native.nearest_rows(X, LABELS, START.T, None, 1),
            ValueError,
            "centers must be C-contiguous",
        ),
    ],
)
def test_the_other_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_rows_that_are_read_only_are_fine():
    fixed = X.copy()
    fixed.flags.writeable = False
    assert native.two_means(fixed, START, 1, 0.0, 1).inertia == 0


@pytest.mark.parametrize(("variable", "threads"), [("3", 3), (" 2 ", 2), ("4,2", 4)])
def test_the_environment_sets_the_number_of_threads(monkeypatch, variable, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    assert parallel.n_threads() == threads


@pytest.mark.parametrize("variable", [None, "", "0", "-1", "many", "1.5"])
def test_otherwise_all_usable_cores_are_used(monkeypatch, variable):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = parallel.n_threads()
    if variable is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", variable)
    assert parallel.n_threads() == cores >= 1


@pytest.mark.parametrize("row", [-1, 6])
def test_orders_of_a_leaf_name_rows(row):
    order, rank = np.array([[0, 1, row]], np.int32), np.zeros((1, 6), np.int32)
    with pytest.raises(ValueError, match=r"order holds .*\. Pass 0 to 5\."):
        native.leaf_squares(np.zeros((6, 8)), order, rank, np.ones(1, np.uint8), None, LABELS, 1.0, 0.0, 1)
