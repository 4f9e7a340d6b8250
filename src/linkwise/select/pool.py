"""A pool: many clusterings of the same rows, each kept once, and who made it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.neighbors import NearestNeighbors

from linkwise import parallel
from linkwise.errors import DataError
from linkwise.learner import Labels, rng_at
from linkwise.pairs import random_pairs
from linkwise.select.clusterings import PRESETS, Grid, Noise, Preset, clusterings, without_noise

FORMAT = 1
MAX_ROWS = 5000  # rows that are clustered; the others follow the nearest of them
COMPARED_PAIRS = 20_000  # pairs by which two clusterings are compared


class Candidate(NamedTuple):
    """One clustering of the pool as it was made."""

    algorithm: str
    parameters: dict[str, Any]
    clustering: int
    """Index into `Pool.labels`; several candidates may share one."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Many clusterings of the same rows.

    Attributes
    ----------
    labels : ndarray of shape (n_clusterings, n_base), int16
        Distinct clusterings of the base rows, clusters numbered by their first rows.
    base : ndarray of shape (n_rows,)
        The base row that each row follows: itself, or the nearest where only a sample was clustered.
    base_rows : ndarray of shape (n_base,)
        Which rows are base rows, ascending.
    candidates : tuple of Candidate
        Everything that was made, in order.
    n_failed : int
        Clusterings that an algorithm could not make.
    """

    labels: NDArray[np.int16]
    base: NDArray[np.int32]
    base_rows: NDArray[np.int64]
    candidates: tuple[Candidate, ...]
    n_failed: int

    def __post_init__(self) -> None:
        for array in (self.labels, self.base, self.base_rows):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.base)

    @cached_property
    def multiplicity(self) -> NDArray[np.int64]:
        """How many candidates share each distinct clustering, shape (n_clusterings,)."""
        return np.bincount([c.clustering for c in self.candidates], minlength=len(self))

    @cached_property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters of each distinct clustering, shape (n_clusterings,)."""
        most: NDArray[np.int64] = self.labels.max(axis=1).astype(np.int64)
        return most + 1

    @cached_property
    def makers(self) -> tuple[Candidate, ...]:
        """The first candidate of each distinct clustering."""
        first: dict[int, Candidate] = {}
        for candidate in self.candidates:
            first.setdefault(candidate.clustering, candidate)
        return tuple(first[c] for c in range(len(self)))

    def clustering(self, number: int) -> Labels:
        """Labels of all rows in one of the distinct clusterings."""
        labels: Labels = self.labels[number].astype(np.int32)[self.base]
        return labels

    def together(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each clustering puts each pair of rows together, shape (n_pairs, n_clusterings)."""
        first, second = self.base[pairs[:, 0]], self.base[pairs[:, 1]]
        return np.ascontiguousarray((self.labels[:, first] == self.labels[:, second]).T)

    @cached_property
    def agreement(self) -> NDArray[np.float64]:
        """Adjusted Rand index of every two distinct clusterings, over at most 20 000 pairs of base rows.

        Two clusterings that put all these pairs alike, together or apart, agree to 1.
        """
        n = self.labels.shape[1]
        pairs = random_pairs(n, min(COMPARED_PAIRS, n * (n - 1) // 2), rng_at(n))
        same = (self.labels[:, pairs[:, 0]] == self.labels[:, pairs[:, 1]]).astype(np.float32)
        both = (same @ same.T).astype(np.float64)
        one = same.sum(axis=1, dtype=np.float64)
        expected = one[:, None] * one / max(len(pairs), 1)
        most = (one[:, None] + one) / 2
        undecided = most == expected
        return np.where(undecided, 1.0, (both - expected) / np.where(undecided, 1.0, most - expected))

    # ------------------------------------------------------------ as a file
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pool as one file (NumPy's npz, without pickles), whole or not at all."""
        path = Path(path)
        beside = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            with beside.open("wb") as file:
                np.savez_compressed(
                    file,
                    format=np.int64(FORMAT),
                    labels=self.labels,
                    base=self.base,
                    base_rows=self.base_rows,
                    n_failed=np.int64(self.n_failed),
                    clustering=np.array([c.clustering for c in self.candidates], dtype=np.int64),
                    maker=np.array([_in_json(c) for c in self.candidates]),
                )
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pool:
        """Read what `save` wrote.

        Raises
        ------
        DataError
            The file is no pool of this version of linkwise.
        """
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as kept:
                if int(kept["format"]) != FORMAT:
                    raise DataError(f"{os.fspath(path)} is a pool of format {kept['format']}; build it anew")
                made = zip(kept["maker"].tolist(), kept["clustering"].tolist(), strict=True)
                candidates = tuple(
                    Candidate(algorithm, parameters, clustering)
                    for (algorithm, parameters), clustering in ((json.loads(m), c) for m, c in made)
                )
                arrays = (kept["labels"], kept["base"], kept["base_rows"])
                return cls(*arrays, candidates, int(kept["n_failed"]))
        except DataError:
            raise
        except FileNotFoundError:
            raise
        except Exception as error:  # whatever a broken archive leads to
            raise DataError(f"{os.fspath(path)} is no pool ({error}); build it anew") from None


def _in_json(candidate: Candidate) -> str:
    """Algorithm and parameters; what JSON cannot hold is kept as it prints."""
    return json.dumps(
        [candidate.algorithm, candidate.parameters],
        default=lambda value: value.item() if isinstance(value, np.generic) else repr(value),
    )


def build_pool(
    X: ArrayLike,
    preset: str | Preset = "paper",
    seed: int = 0,
    *,
    noise: Noise = "cluster",
    extra: Sequence[tuple[ClusterMixin, Grid | list[Grid]]] = (),
    max_rows: int = MAX_ROWS,
    progress: Callable[[int, int], object] | None = None,
    n_threads: int | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Pool:
    """Cluster the same rows in many ways.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Finite numbers. Features are not rescaled here; in the paper all are brought to [0, 1] first
        (``sklearn.preprocessing.minmax_scale``).
    preset : "paper", "quick" or Preset
        "paper": the 931 clusterings of Van Craenendonck and Blockeel (2017); "quick": 246 of that kind.
    seed : int
    noise : {"cluster", "singletons", "nearest"}
        What becomes of noise: one cluster together, a cluster each, or what the nearest row is in.
    extra : sequence of (clusterer, grid)
        scikit-learn clusterers that are tried too, with the values of their parameters.
    max_rows : int
        Of more rows a sample of this size is clustered; the others follow the nearest row of it.
    progress : callable, optional
        ``progress(made, planned)`` after each batch. What it raises ends the work.
    n_threads : int, optional
    cache : path, optional
        Folder where pools are kept, by data, settings and versions of the libraries.

    Returns
    -------
    Pool
    """
    rows = np.ascontiguousarray(X, dtype=np.float64)
    settings = _preset(preset)
    if noise not in ("cluster", "singletons", "nearest"):
        raise ValueError(f"noise={noise!r}; give 'cluster', 'singletons' or 'nearest'")
    if not 1 <= max_rows <= np.iinfo(np.int16).max:
        raise ValueError(f"max_rows={max_rows}; give 1 to {np.iinfo(np.int16).max}")
    kept = (
        None if cache is None else Path(cache) / f"{_key(rows, settings, seed, noise, extra, max_rows)}.npz"
    )
    if kept is not None and kept.exists():
        return Pool.load(kept)
    threads = parallel.n_threads() if n_threads is None else n_threads
    base_rows, base = _base(rows, max_rows, seed)
    pool = _collect(rows[base_rows], base_rows, base, settings, seed, noise, extra, progress, threads)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        pool.save(kept)
    return pool


def _preset(preset: str | Preset) -> Preset:
    if isinstance(preset, Preset):
        return preset
    if preset not in PRESETS:
        raise ValueError(f"preset={preset!r}; give one of {', '.join(map(repr, PRESETS))}, or a Preset")
    return PRESETS[preset]


def _key(X: NDArray[Any], *settings: object) -> str:
    """Name of a pool in the cache; estimators are told apart by what they print."""
    versions = (FORMAT, version("linkwise"), np.__version__, scipy.__version__, sklearn.__version__)
    digest = hashlib.sha256(repr((X.shape, settings, versions)).encode())
    digest.update(X.data)
    return digest.hexdigest()[:32]


def _base(X: NDArray[Any], max_rows: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The rows that are clustered, and which of them every row follows."""
    if len(X) <= max_rows:
        return np.arange(len(X)), np.arange(len(X), dtype=np.int32)
    rows = np.sort(rng_at(seed).choice(len(X), max_rows, replace=False))
    nearest = NearestNeighbors(n_neighbors=1).fit(X[rows]).kneighbors(X, return_distance=False)[:, 0]
    nearest[rows] = np.arange(max_rows)
    return rows, nearest.astype(np.int32)


def _collect(
    X: NDArray[Any],
    base_rows: NDArray[np.int64],
    base: NDArray[np.int32],
    preset: Preset,
    seed: int,
    noise: Noise,
    extra: Sequence[tuple[ClusterMixin, Grid | list[Grid]]],
    progress: Callable[[int, int], object] | None,
    n_threads: int,
) -> Pool:
    distinct: dict[bytes, int] = {}
    candidates: list[Candidate] = []
    made = n_failed = 0
    for batch in clusterings(X, preset, seed, n_threads, extra):
        for algorithm, parameters, labels in batch:
            if labels is None:
                n_failed += 1
                continue
            key = without_noise(X, labels, noise).astype(np.int16).tobytes()
            number = distinct.setdefault(key, len(distinct))
            candidates.append(Candidate(algorithm, parameters, number))
        made += len(batch)
        if progress is not None:
            progress(made, max(made, preset.size))
    if not candidates:
        raise ValueError(
            f"the preset makes no clustering of these {len(X)} row(s); give it clusters and n_runs above 0"
        )
    labels = np.frombuffer(b"".join(distinct), dtype=np.int16).reshape(len(distinct), -1).copy()
    return Pool(labels, base, base_rows, tuple(candidates), n_failed)
