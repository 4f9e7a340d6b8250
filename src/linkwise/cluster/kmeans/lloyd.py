"""k-means with good starts.

Up to 10 000 rows, the result is the best of ten k-means++ starts, as in earlier versions of scikit-learn.
Above that, ten runs would dominate the cost, so one start is refined instead: k-means on a sample of 10 000
rows chooses the best of a few starts, and Lloyd's iteration on all rows then needs only a few passes (Bradley
and Fayyad 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwise import native, parallel
from linkwise.cluster.points import draw_starts, mean_variance

_SAMPLE = 10_000  # rows on which many starts are cheap
_REFINED_STARTS = 4  # starts on the sample, where there are more rows than that


class KMeansResult(NamedTuple):
    """A k-means clustering."""

    labels: NDArray[np.int32]
    """(n,) cluster of each row, 0..k-1; no cluster is empty."""
    centers: NDArray[np.float64]
    """(k, d) means of the clusters (up to `tol`)."""
    inertia: float
    """Sum of squared distances of the rows to their centres."""
    n_iter: int
    """Iterations over all rows of the run that was kept."""


def k_means(
    X: NDArray[Any],
    k: int,
    seed: int | Sequence[int],
    *,
    n_init: int | Literal["auto"] = "auto",
    max_iter: int = 300,
    tol: float = 1e-4,
    n_threads: int | None = None,
) -> KMeansResult:
    """Cluster rows by k-means; fewer than `k` clusters if `X` has fewer distinct rows. Return the best run.

    The seed is entropy for `numpy.random.SeedSequence`; the result is the same for any number of threads.
    "auto" is 10 starts up to 10 000 rows and 1 above. A run stops when the squared shift of the centres
    is at most `tol` times the mean variance of the features (above 10 000 rows that of the sample).

    Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding. Bradley and Fayyad
    (1998), Refining initial points for k-means clustering.
    """
    X = _as_rows(X)
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    if n_init == "auto":
        n_init = 10 if len(X) <= _SAMPLE else 1
    elif n_init < 1:
        raise ValueError(f"n_init must be at least 1 or 'auto', got {n_init}")
    threads = parallel.n_threads() if n_threads is None else n_threads
    k = min(k, len(X))
    entropy = np.random.SeedSequence(seed)
    if len(X) <= _SAMPLE:
        stop = (max_iter, tol * mean_variance(X), threads)
        return _compact(_best_run(X, k, entropy, n_init, stop))
    runs = [_refine_run(X, k, child, max_iter, tol, threads) for child in entropy.spawn(n_init)]
    return _compact(min(runs, key=lambda run: run.inertia))


def k_means_runs(
    X: NDArray[Any],
    k: int,
    seed: int | Sequence[int],
    n_runs: int,
    *,
    max_iter: int = 300,
    tol: float = 1e-4,
    n_threads: int | None = None,
    weight: NDArray[np.int64] | None = None,
) -> native.LloydRuns:
    """Cluster rows by k-means from several k-means++ starts and keep every run, otherwise as `k_means`.

    All rows are used, however many there are; `weight` counts each. There are fewer than `k` centres if
    `X` has fewer distinct rows.
    """
    X = _as_rows(X)
    for name, value in (("k", k), ("n_runs", n_runs)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    threads = parallel.n_threads() if n_threads is None else n_threads
    stop = (max_iter, tol * mean_variance(X, weight), threads)
    return _run_all(X, min(k, len(X)), np.random.SeedSequence(seed), n_runs, stop, weight)


def _as_rows(X: NDArray[Any]) -> NDArray[Any]:
    X = np.asarray(X)
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if X.ndim != 2 or X.size == 0:
        raise ValueError(f"X must be a matrix with at least one row and one column, got shape {X.shape}")
    return np.ascontiguousarray(X)


def _best_run(
    X: NDArray[Any], k: int, entropy: np.random.SeedSequence, n_init: int, stop: tuple[int, float, int]
) -> KMeansResult:
    runs = _run_all(X, k, entropy, n_init, stop)
    return _select_run(runs, int(runs.inertia.argmin()))


def _run_all(
    X: NDArray[Any],
    k: int,
    entropy: np.random.SeedSequence,
    n_runs: int,
    stop: tuple[int, float, int],
    weight: NDArray[np.int64] | None = None,
) -> native.LloydRuns:
    return native.lloyd(
        X, draw_starts(X, k, entropy, n_runs, weight=weight, n_threads=stop[-1]), *stop, weight
    )


def _select_run(runs: native.LloydRuns, i: int) -> KMeansResult:
    # copies, so that the runs that lost are freed
    labels, centers = runs.labels[i].copy(), runs.centers[i].copy()
    return KMeansResult(labels, centers, float(runs.inertia[i]), int(runs.n_iter[i]))


def _refine_run(
    X: NDArray[Any], k: int, entropy: np.random.SeedSequence, max_iter: int, tol: float, threads: int
) -> KMeansResult:
    size = min(len(X), max(_SAMPLE, 20 * k))
    rows = np.random.default_rng(entropy).choice(len(X), size, replace=False, shuffle=False)
    sample = X[np.sort(rows)]
    stop = (max_iter, tol * mean_variance(sample), threads)
    start = _best_run(sample, k, entropy, _REFINED_STARTS, stop).centers
    if len(start) == 2:
        labels, centers, inertia, n_iter = native.two_means(X, start, *stop)
        return KMeansResult(labels.astype(np.int32), centers, inertia, n_iter)
    return _select_run(native.lloyd(X, start[None], *stop), 0)


def _compact(result: KMeansResult) -> KMeansResult:
    """Leave out empty clusters."""
    used = np.bincount(result.labels, minlength=len(result.centers)) > 0
    if used.all():
        return result
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return result._replace(labels=number[result.labels], centers=result.centers[used])
