"""A pool: the distinct clusterings of the same rows, and the algorithms that found them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
import sklearn
from numpy.typing import ArrayLike, NDArray

from linkwise import parallel
from linkwise.constraints.constraints import Constraints
from linkwise.constraints.sampling import draw_pairs
from linkwise.errors import DataError
from linkwise.parallel import Backend
from linkwise.rng import rng_at
from linkwise.select import pool_files
from linkwise.select.base_rows import BaseRows, find_base_rows, restrict_to_base_rows
from linkwise.select.clusterings import (
    MOST_WEIGHED,
    PRESETS,
    Extra,
    Noise,
    PoolClustering,
    PoolTask,
    PoolWork,
    Preset,
    assign_noise,
    plan_tasks,
    run_task,
)
from linkwise.types import Labels, Progress
from linkwise.wording import count_noun

MAX_ROWS = 5000  # distinct rows that are clustered; of more a sample
BLOCK = 4096  # pairs that are compared with all clusterings at once
COMPARED_PAIRS = 20_000  # pairs by which two clusterings are compared


class Candidate(NamedTuple):
    """One clustering of the pool with its algorithm."""

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
        The base row that each row follows: an identical one, or the nearest if only a sample was clustered.
    base_rows : ndarray of shape (n_base,)
        Positions of the base rows, ascending; no two of them are identical.
    weight : ndarray of shape (n_base,)
        Number of rows that each base row represents.
    candidates : tuple of Candidate
        All clusterings, in the order in which they were computed.
    n_failed : int
        Number of clusterings that an algorithm could not compute.
    noise : {"cluster", "singletons", "nearest"}
        How the noise of DBSCAN was treated, see `COBS`.
    sampled : bool
        Whether only a sample of the rows was clustered.
    """

    labels: NDArray[np.int16]
    base: NDArray[np.int32]
    base_rows: NDArray[np.int64]
    weight: NDArray[np.int64]
    candidates: tuple[Candidate, ...]
    n_failed: int
    noise: Noise
    sampled: bool

    def __post_init__(self) -> None:
        for array in (self.labels, self.base, self.base_rows, self.weight):
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.base)

    @cached_property
    def multiplicity(self) -> NDArray[np.int64]:
        """Number of candidates of each distinct clustering, shape (n_clusterings,)."""
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
        """Return the labels of all rows in one of the distinct clusterings.

        Parameters
        ----------
        number : int
            The number of the clustering, from 0.

        Returns
        -------
        ndarray of shape (n_rows,)
            The labels, as integers; -1 is noise.
        """
        labels: Labels = self.labels[number].astype(np.int32)[self.base]
        return labels

    def together(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each clustering joins each pair of rows, shape (n_pairs, n_clusterings).

        Parameters
        ----------
        pairs : ndarray of shape (n_pairs, 2)
            Positions of rows.

        Returns
        -------
        ndarray of shape (n_pairs, n_clusterings) and bool
            True where the clustering puts both rows into one cluster.
        """
        first, second = self.base[pairs[:, 0]], self.base[pairs[:, 1]]
        return np.ascontiguousarray((self.labels[:, first] == self.labels[:, second]).T)

    def count_joined(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the pairs that each clustering joins, shape (n_clusterings,).

        Parameters
        ----------
        pairs : ndarray of shape (n_pairs, 2)
            Positions of rows.

        Returns
        -------
        ndarray of shape (n_clusterings,) and int64
            The counts.
        """
        count = np.zeros(len(self), dtype=np.int64)
        for at in range(0, len(pairs), BLOCK):
            count += self.together(pairs[at : at + BLOCK]).sum(axis=0)
        return count

    @cached_property
    def agreement(self) -> NDArray[np.float64]:
        """Compute the adjusted Rand index of every two distinct clusterings.

        It uses at most 20 000 pairs of base rows, and is 1 if two clusterings treat all of them alike.
        """
        n = self.labels.shape[1]
        pairs = draw_pairs(n, min(COMPARED_PAIRS, n * (n - 1) // 2), rng_at(n))
        same = (self.labels[:, pairs[:, 0]] == self.labels[:, pairs[:, 1]]).astype(np.float32)
        both = (same @ same.T).astype(np.float64)
        one = same.sum(axis=1, dtype=np.float64)
        expected = one[:, None] * one / max(len(pairs), 1)
        most = (one[:, None] + one) / 2
        undecided = most == expected
        return np.where(undecided, 1.0, (both - expected) / np.where(undecided, 1.0, most - expected))

    # ------------------------------------------------------------ as a file
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the pool as one file (NumPy's npz, without pickles), atomically.

        Parameters
        ----------
        path : path
            The new file.
        """
        pool_files.write_arrays(
            path,
            labels=self.labels,
            base=self.base,
            base_rows=self.base_rows,
            weight=self.weight,
            n_failed=np.int64(self.n_failed),
            noise=np.array(self.noise),
            sampled=np.bool_(self.sampled),
            clustering=np.array([c.clustering for c in self.candidates], dtype=np.int64),
            maker=np.array([pool_files.encode_maker(c.algorithm, c.parameters) for c in self.candidates]),
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pool:
        """Read what `save` wrote.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        Pool
            The pool.

        Raises
        ------
        DataError
            The file is not a pool of this version of linkwise.
        """
        kept = pool_files.read_arrays(path)
        try:
            makers = [json.loads(words) for words in kept["maker"].tolist()]
            candidates = tuple(
                Candidate(algorithm, parameters, number)
                for (algorithm, parameters), number in zip(makers, kept["clustering"].tolist(), strict=True)
            )
            arrays = (kept["labels"], kept["base"], kept["base_rows"], kept["weight"])
            noise: Any = str(kept["noise"])
            return cls(*arrays, candidates, int(kept["n_failed"]), noise, bool(kept["sampled"]))
        except (KeyError, ValueError) as error:
            raise DataError(f"{os.fspath(path)} is not a pool ({error}). Build it again.") from None


def build_pool(
    X: ArrayLike,
    preset: str | Preset = "paper",
    seed: int = 0,
    *,
    noise: Noise = "cluster",
    extra: Extra = (),
    constraints: Constraints | None = None,
    max_rows: int = MAX_ROWS,
    progress: Progress | None = None,
    n_threads: int | None = None,
    backend: Backend = "serial",
    cache: str | os.PathLike[str] | None = None,
) -> Pool:
    """Build a pool: cluster the same rows in many ways.

    Identical rows are clustered once, weighted by their number.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Rows of finite numbers. Features are not rescaled here; in the paper all are scaled to [0, 1] first
        (``sklearn.preprocessing.minmax_scale``).
    preset : "paper", "quick" or Preset, default="paper"
        "paper": the 931 clusterings of Van Craenendonck and Blockeel (2017); "quick": 246 of that kind.
    seed : int, default=0
        Seed of all random draws.
    noise : {"cluster", "singletons", "nearest"}, default="cluster"
        What to do with noise: make it one cluster, make each row a cluster, or assign it to the cluster of
        the nearest row.
    extra : sequence of (clusterer, grid), default=()
        Further scikit-learn clusterers, with the values of their parameters.
    constraints : Constraints, optional
        Constraints between the rows of X. Only those of `extra` whose fit takes constraints use them,
        restricted to the clustered rows.
    max_rows : int, default=5000
        With more distinct rows, a sample of this size is clustered; the other rows follow its nearest row.
    progress : callable, optional
        Called as ``progress(done, planned)``, in clusterings, after each part of the work. An exception that
        it raises ends the work.
    n_threads : int, optional
        Number of threads of the backend "serial"; workers of the others use one each.
    backend : {"serial", "loky", "dask"}, default="serial"
        Where to compute the clusterings: in this process, in processes of this machine, or on the workers of
        the current ``dask.distributed.Client``. The pool is the same.
    cache : path, optional
        Folder for pools, by data, settings and versions of the libraries. It also holds the finished parts of
        interrupted work, which are then reused.

    Returns
    -------
    Pool
        The distinct clusterings.

    Raises
    ------
    ValueError
        If a setting is unknown, or the pool would be empty.
    """
    rows = np.ascontiguousarray(X, dtype=np.float64)
    settings = resolve_preset(preset)
    if noise not in ("cluster", "singletons", "nearest"):
        raise ValueError(f"noise is unknown: {noise!r}. Pass 'cluster', 'singletons' or 'nearest'.")
    if not 1 <= max_rows <= np.iinfo(np.int16).max:
        raise ValueError(f"max_rows is out of range: {max_rows}. Pass 1 to {np.iinfo(np.int16).max}.")
    threads = parallel.n_threads() if n_threads is None else n_threads
    name = _cache_key(rows, settings, seed, noise, extra, max_rows, _describe_constraints(constraints))
    key = None if cache is None else Path(cache) / name
    kept = None if key is None else key.with_suffix(".npz")
    if kept is not None and kept.exists():
        with suppress(DataError):  # a damaged file is made anew
            return Pool.load(kept)
    base = find_base_rows(rows, max_rows, seed, threads)
    points = rows[base.rows]
    told = None if constraints is None else restrict_to_base_rows(constraints, base.of, len(points))
    work, tasks = plan_tasks(points, base.weight, settings, seed, threads, extra, told)
    made = _run_tasks(work, tasks, backend, progress, key)
    pool = _collect_distinct(points, made, base, noise)
    if key is not None and kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        pool.save(kept)
        shutil.rmtree(key, ignore_errors=True)
    return pool


def resolve_preset(preset: str | Preset) -> Preset:
    """Return a preset, or the preset of this name."""
    if isinstance(preset, Preset):
        return preset
    if preset not in PRESETS:
        raise ValueError(
            f"preset is unknown: {preset!r}. Pass one of {', '.join(map(repr, PRESETS))}, or a Preset."
        )
    return PRESETS[preset]


def _describe_constraints(constraints: Constraints | None) -> str | None:
    """Compute a short name of constraints and their weights."""
    if constraints is None:
        return None
    digest = hashlib.sha256()
    for part in (constraints.must_link, constraints.cannot_link):
        digest.update(repr(part.shape).encode() + part.tobytes())
    digest.update(constraints.must_link_weight.tobytes() + constraints.cannot_link_weight.tobytes())
    return digest.hexdigest()


def _cache_key(X: NDArray[Any], *settings: object) -> str:
    """Compute the name of a pool in the cache; estimators differ by their repr."""
    versions = (
        pool_files.FORMAT,
        version("linkwise"),
        np.__version__,
        scipy.__version__,
        sklearn.__version__,
    )
    digest = hashlib.sha256(repr((X.shape, settings, versions)).encode())
    digest.update(X.data)
    return digest.hexdigest()[:32]


def _run_tasks(
    work: PoolWork,
    tasks: list[PoolTask],
    backend: Backend,
    progress: Progress | None,
    parts: Path | None,
) -> list[PoolClustering]:
    """Run all tasks; return their results in order, and store finished parts in a folder if there is one."""
    found = {} if parts is None else _read_finished(parts, len(tasks))
    left = [at for at in range(len(tasks)) if at not in found]
    in_all = sum(task.size for task in tasks)
    count = sum(tasks[at].size for at in found)
    shared = work._replace(n_threads=1)
    if backend == "serial":  # new memory for each graph would take longer than to fill it
        m = len(work.X)
        shared = work._replace(room=np.empty((m, m)) if m <= MOST_WEIGHED else None)
    with closing(parallel.map_tasks(run_task, shared, [tasks[at] for at in left], backend)) as results:
        for number, made in results:
            at = left[number]
            found[at] = made
            if parts is not None:
                pool_files.write_clusterings(parts / f"{at}.npz", made)
            count += tasks[at].size
            if progress is not None:
                progress(count, in_all)
    return [one for at in range(len(tasks)) for one in found[at]]


def _read_finished(parts: Path, n_tasks: int) -> dict[int, list[PoolClustering]]:
    found: dict[int, list[PoolClustering]] = {}
    for at in range(n_tasks):
        with suppress(FileNotFoundError, DataError):  # what is missing or damaged is made anew
            found[at] = pool_files.read_clusterings(parts / f"{at}.npz")
    return found


def _collect_distinct(
    X: NDArray[np.float64], made: list[PoolClustering], base: BaseRows, noise: Noise
) -> Pool:
    """Collect the distinct clusterings."""
    distinct: dict[bytes, int] = {}
    candidates: list[Candidate] = []
    for algorithm, parameters, labels in made:
        if labels is not None:
            key = assign_noise(X, labels, noise).astype(np.int16).tobytes()
            candidates.append(Candidate(algorithm, parameters, distinct.setdefault(key, len(distinct))))
    if not candidates:
        raise ValueError(
            f"The preset yields no clustering of {count_noun(len(X), 'row')}. Set clusters and"
            " n_runs above 0."
        )
    labels = np.frombuffer(b"".join(distinct), dtype=np.int16).reshape(len(distinct), -1).copy()
    n_failed = len(made) - len(candidates)
    return Pool(labels, base.of, base.rows, base.weight, tuple(candidates), n_failed, noise, base.sampled)
