"""Places of rows in the plane, for plots: by their principal components, or by their neighbours.

The second is t-SNE of scikit-learn, in which clusters pull. Rows of one cluster are moved nearer by as much
as both are certain to be in it. So rows that answers put together lie together, and a row that is uncertain
lies where its values put it. The map begins at other places, such as principal components, and is turned so
that it resembles them.

Above 2000 rows those are mapped that have answers, and some at random. Each other row lies beside the mapped
row that is nearest by its values. Cost: O(m²) for m mapped rows; 2000 take some seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from linkwise import native, parallel
from linkwise.types import Labels

MOST_MAPPED = 2000  # rows
LEAST_ROWS = 10
PERPLEXITY = 30.0  # about how many neighbours each row has
PULL = 0.5  # share of their distance by which two rows that are certain to be together come nearer
_START = 1e-4  # deviation of the first places: t-SNE needs them close together
_BESIDE = 0.005  # of the map: how far a row that is not mapped lies from its nearest row


def map_by_neighbours(
    X: NDArray[Any],
    labels: Labels,
    confidence: NDArray[np.float64],
    start: NDArray[Any],
    *,
    named: Sequence[int] = (),
    seed: int = 0,
) -> NDArray[np.float64]:
    """Place rows so that those lie near each other that are alike, or are together by answers.

    There are at least `LEAST_ROWS` rows. `confidence` is the probability that each is in its cluster;
    clusters of probability 0 do not pull. The places begin at `start`. Rows in `named` have answers, and
    are mapped whatever the number of rows. The result is the same for any number of threads.
    """
    rng = np.random.default_rng(seed)
    mapped = choose_mapped(len(X), named, rng)
    rows = np.ascontiguousarray(X[mapped], dtype=np.float64)
    distances = measure_pulled(rows, labels[mapped], confidence[mapped])
    begin = np.asarray(start[mapped], dtype=np.float64)
    found = _turn_towards(_embed(distances, begin, seed), begin)
    if len(mapped) == len(X):
        return found
    nearest, _ = native.nearest_points(np.ascontiguousarray(X), rows, parallel.n_threads())
    places = found[nearest]
    others = np.ones(len(X), dtype=bool)
    others[mapped] = False
    places[others] += rng.normal(scale=_BESIDE * np.ptp(found), size=(int(others.sum()), 2))
    places[mapped] = found
    return places


def choose_mapped(n_rows: int, named: Sequence[int], rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose the rows to map: those with answers, as far as there is room, and others at random."""
    if n_rows <= MOST_MAPPED:
        return np.arange(n_rows)
    first = np.unique(np.asarray(named, dtype=np.int64))
    if len(first) > MOST_MAPPED // 2:
        first = rng.choice(first, MOST_MAPPED // 2, replace=False)
    others = np.setdiff1d(rng.choice(n_rows, MOST_MAPPED, replace=False), first)
    return np.sort(np.r_[first, rng.permutation(others)[: MOST_MAPPED - len(first)]])


def measure_pulled(
    X: NDArray[np.float64], labels: Labels, confidence: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Measure distances in units of their mean, less those of rows that are together."""
    rows = X - X.mean(axis=0)
    rows /= float(np.abs(rows).max()) or 1.0  # squares might leave the range of a float otherwise
    distances = np.sqrt(native.squared_distances(rows, rows, parallel.n_threads()))
    distances /= float(distances.mean()) or 1.0
    is_together = labels[:, None] == labels
    distances -= PULL * distances * is_together * np.outer(confidence, confidence)
    np.fill_diagonal(distances, 0.0)
    return distances


def _embed(distances: NDArray[np.float64], start: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Run t-SNE on one thread, because its sums depend on the number of threads."""
    from sklearn.manifold import TSNE

    spread = float(start.std(axis=0).max())
    begin = start * (_START / spread) if spread > 0 else start
    if not spread:  # all rows are in one place
        begin = np.random.default_rng(seed).normal(scale=_START, size=start.shape)
    model = TSNE(
        metric="precomputed",
        init=begin.astype(np.float32),
        perplexity=min(PERPLEXITY, (len(start) - 1) / 3),
        random_state=seed,
        n_jobs=1,
    )
    with threadpool_limits(limits=1, user_api="openmp"):
        return np.asarray(model.fit_transform(distances), dtype=np.float64)


def _turn_towards(places: NDArray[np.float64], start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn or mirror places so that they resemble others."""
    around, wanted = places - places.mean(axis=0), start - start.mean(axis=0)
    left, _, right = np.linalg.svd(around.T @ wanted)
    turned: NDArray[np.float64] = around @ (left @ right)
    return turned


FIT_ROWS = 100_000  # with more rows, the axes are fitted to a sample of this size
MOST_EXACT = 1000  # columns; with more, axes are approximate


class Projection(NamedTuple):
    """Rows on their first two principal components, and the share of the variance along each.

    The second coordinate is 0 where the rows have one component.
    """

    places: NDArray[np.float64]
    shares: tuple[float, float]


def project_on_components(X: NDArray[Any]) -> Projection:
    """Find the first two principal components; above 100 000 rows the axes are those of a sample."""
    rows = X
    if len(X) > FIT_ROWS:
        rows = X[np.random.default_rng(0).choice(len(X), FIT_ROWS, replace=False)]
    n_axes = min(2, *rows.shape)
    places = np.zeros((len(X), 2))
    if not np.ptp(rows, axis=0).any():
        places[:, :n_axes] = X[:, :n_axes]
        return Projection(places, (0.0, 0.0))
    axes, shares = (_find_axes if rows.shape[1] <= MOST_EXACT else _approximate_axes)(rows, n_axes)
    places[:, :n_axes] = (X - rows.mean(axis=0)) @ axes.T
    first, second = [*shares.tolist(), 0.0][:2]
    return Projection(places, (first, second))


def _find_axes(rows: NDArray[Any], n_axes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The first axes, each with its largest number above 0, and the shares of the variance along them."""
    around = rows - rows.mean(axis=0, dtype=np.float64)
    around /= float(np.abs(around).max())  # squares might leave the range of a float otherwise
    variance, axes = np.linalg.eigh(around.T @ around)
    axes, shares = axes.T[: -n_axes - 1 : -1], variance[: -n_axes - 1 : -1].clip(0) / variance.clip(0).sum()
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    return axes * np.sign(largest), shares


def _approximate_axes(rows: NDArray[Any], n_axes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same by random projections, for many columns."""
    from sklearn.decomposition import PCA  # slow to load

    found = PCA(n_axes, random_state=0).fit(rows)
    return found.components_, found.explained_variance_ratio_
