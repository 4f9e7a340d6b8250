"""Summarise rows that do not fit into memory: a few thousand groups, each with a row that stands for it.

The rows are read twice. The first pass learns the scaling and draws a uniform sample, whose k-means gives
the centres. The second assigns each row to its nearest centre. A learner then asks about the medoids of the
groups, and every row gets the cluster of its group (`linkwise.large.label_files`).

Learners are not told the sizes of the groups: with them, KIN's ARI on blobs of 20 classes is nearly the same.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwise.errors import DataError
from linkwise.large.chunks import Chunk, Source, open_stream
from linkwise.large.group_totals import collect_groups, find_centers
from linkwise.large.label_files import LabelForm, write_parts
from linkwise.large.nearest import nearest_centers
from linkwise.large.passes import Scale, Scaling, survey_rows
from linkwise.large.reach import place_rows
from linkwise.parallel import BACKENDS, Backend, Engine
from linkwise.types import Progress
from linkwise.validation import check_rows, resolve_seed

SAMPLE = 50  # rows of the sample for each group
SCALES = ("standard", "none")


@dataclass(frozen=True, eq=False)
class Summary:
    """Groups that stand for many rows.

    A group is the rows that are nearest to one centre. `summarize` makes a summary.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    columns : tuple of str or None
        Names of the columns, if the rows have named columns.
    scaling : Scaling
        How the columns are scaled.
    centers : ndarray of shape (n_groups, n_columns)
        Centres of the groups, in scaled units.
    sizes : ndarray of shape (n_groups,)
        Number of rows of each group.
    spread : ndarray of shape (n_groups,)
        Mean squared distance of the rows of a group from its centre, in scaled units.
    limits : ndarray of shape (n_groups,)
        How far from its centre a row fits a group, in scaled units (see `fits`).
    X : ndarray of shape (n_groups, n_columns)
        Medoids in scaled units, for learners. The medoid of a group is its row nearest to its centre.
    medoids : ndarray of shape (n_groups, n_columns)
        Medoids as they are in the data.
    medoid_rows : ndarray of shape (n_groups,)
        Numbers of the medoids, counted from 0 at the beginning of the data.
    medoid_ids : list or None
        Ids of the medoids, if rows have ids.
    border_rows : ndarray of shape (n_groups, 3)
        Numbers of the rows farthest from their centre, the farthest first; -1 if a group has fewer rows.
    id_column : str or None
        The column of ids.
    """

    n_rows: int
    columns: tuple[str, ...] | None
    scaling: Scaling = field(repr=False)
    centers: NDArray[np.float64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    spread: NDArray[np.float64] = field(repr=False)
    limits: NDArray[np.float64] = field(repr=False)
    X: NDArray[np.float64] = field(repr=False)
    medoids: NDArray[np.float64] = field(repr=False)
    medoid_rows: NDArray[np.int64] = field(repr=False)
    medoid_ids: list[Any] | None = field(repr=False)
    border_rows: NDArray[np.int64] = field(repr=False)
    id_column: str | None

    def assign(self, rows: ArrayLike) -> NDArray[np.int64]:
        """Find the group of each row.

        Parameters
        ----------
        rows : array-like of shape (n, n_columns)
            Rows as they are in the data, not scaled.

        Returns
        -------
        ndarray of shape (n,)
            Group of each row.

        Raises
        ------
        DataError
            The rows have another number of columns, or values that cannot be clustered.
        """
        scaled = self._scale(rows)
        return nearest_centers(scaled, self.centers)[0]

    def fits(self, rows: ArrayLike) -> NDArray[np.bool_]:
        """Find which rows fit a group, and are not new kinds of rows.

        A row fits a group if it lies at most 1.5 times as far from its centre as 99 of 100 of the rows that
        were summarised. The limit of a group is at least the median limit of all.

        Parameters
        ----------
        rows : array-like of shape (n, n_columns)
            Rows as they are in the data, not scaled.

        Returns
        -------
        ndarray of shape (n,)
            Whether each row fits a group.

        Raises
        ------
        DataError
            As for `assign`.

        Examples
        --------
        >>> import linkwise as lw
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(10_000, centers=3, random_state=0)
        >>> summary = lw.summarize(X, n_groups=50)
        >>> summary.fits([X[0], X[0] + 100]).tolist()
        [True, False]
        """
        return place_rows(self._scale(rows), self.centers, self.limits).fits

    def _scale(self, rows: ArrayLike) -> NDArray[np.float32]:
        """Check rows, and scale them."""
        table = check_rows(rows)
        if table.shape[1] != self.centers.shape[1]:
            raise DataError(
                f"The rows have {table.shape[1]} columns, but the summary has {self.centers.shape[1]}. Pass"
                " rows with the columns that were summarised, in the same order."
            )
        return self.scaling.apply(table)

    def write_labels(
        self,
        rows: Source,
        labels: ArrayLike,
        folder: str | os.PathLike[str],
        *,
        backend: Backend = "serial",
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> list[Path]:
        """Write the cluster of each row to Parquet files of about a million rows.

        Each file is complete or absent. If writing stops, call this again: it writes the parts that are
        absent or damaged.

        Parameters
        ----------
        rows : array, path, sequence of paths, dask collection, or callable
            The rows that were summarised, as for `summarize`.
        labels : array-like of shape (n_groups,)
            Cluster of each group, such as ``labels_`` of a learner fitted to `X`.
        folder : path
            Folder of the files; it is created if it is absent. It must be empty, or hold parts of the same
            labels.
        backend : {"serial", "loky", "dask"}, default="serial"
            Who reads rows and writes parts, as for `summarize`. The workers of dask need the folder at the
            same path.
        n_jobs : int, optional
            Number of processes of "loky".
        progress : callable, optional
            ``progress(done, total)`` is called after each part.

        Returns
        -------
        list of Path
            The files, with the columns ``cluster`` and the ids, or ``row`` (the number of the row, counted
            from 0) if rows have no ids.

        Raises
        ------
        DataError
            The rows differ from those that were summarised; the folder holds other files or other labels; or
            a file cannot be read or written, and the error names it.
        ValueError
            There is not one whole number for each group.
        """
        clusters = np.asarray(labels)
        if clusters.shape != self.sizes.shape or clusters.dtype.kind not in "iu":
            raise ValueError(
                f"labels have dtype {clusters.dtype} and shape {clusters.shape}. Pass one whole number for"
                f" each of the {len(self.sizes)} groups, such as labels_ of a learner fitted to summary.X."
            )
        of_group = clusters.astype(np.int32)
        stream = open_stream(rows, columns=self.columns, id_column=self.id_column)
        form = LabelForm(self._hash(of_group), self.n_rows, self.id_column or "row")
        sizes = np.bincount(of_group - of_group.min(), self.sizes).astype(np.int64)
        expected = {int(at + of_group.min()): int(size) for at, size in enumerate(sizes) if size}
        find = partial(_find_clusters, self, of_group)
        return write_parts(stream, find, form, expected, folder, progress, Engine(backend, n_jobs))

    def _hash(self, labels: NDArray[np.int32]) -> str:
        """Hash what decides the cluster of each row."""
        found = blake2b(digest_size=16)
        for array in (self.scaling.offset, self.scaling.scale, self.centers, labels):
            found.update(array.tobytes())
        found.update(repr((self.columns, self.id_column)).encode())
        return found.hexdigest()


def _find_clusters(summary: Summary, of_group: NDArray[np.int32], block: Chunk) -> NDArray[np.int32]:
    return of_group[summary.assign(block.rows)]


def summarize(
    rows: Source,
    n_groups: int = 1000,
    *,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    scale: Scale = "standard",
    random_state: int | np.random.RandomState | None = 0,
    backend: Backend = "serial",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Summarise rows that need not fit into memory by groups, in two passes.

    Parameters
    ----------
    rows : array, path, sequence of paths, dask collection, or callable
        A 2-D array (a memory map, too). A .npy, .parquet, .csv or .tsv file, a folder of them, a pattern such
        as ``"events/*.parquet"``, or several paths; files of a folder or pattern are read in the order of
        their names. A dask array or DataFrame, whose partitions are computed one after the other and pass
        through this process. Or a function without parameters that returns an iterator of arrays, or of
        tables such as Arrow batches, each time anew.
    n_groups : int, default=1000
        Number of groups. There are fewer if the rows have fewer distinct values. `KIN` asks about each group
        up to 2000 of them.
    columns : sequence of str, optional
        Columns of tables to use, which must be numbers. All by default.
    id_column : str, optional
        Column of tables with ids of the rows.
    scale : {"standard", "none"}, default="standard"
        Scale the columns to mean 0 and deviation 1, or leave them as they are.
    random_state : int, RandomState or None, default=0
        Seed of the sample and of k-means.
    backend : {"serial", "loky", "dask"}, default="serial"
        Read the rows in this process; in processes of this machine (joblib's loky); or on the workers of the
        current ``dask.distributed.Client``, which need the files at the same paths. Rows that a function
        returns are only read in this process.
    n_jobs : int, optional
        Number of processes of "loky"; by default as many as there are cores.
    progress : callable, optional
        ``progress(done, total)`` is called after each block of rows; `total` is 0 during the first pass, as
        the number of blocks is not known yet.

    Returns
    -------
    Summary
        The groups. Neither the chunks in which rows are read nor the backend nor the number of threads change
        a bit of it.

    Raises
    ------
    DataError
        A file cannot be read, and the error names it; a value is missing or infinite, and the error names
        its row; or there are no rows.
    TypeError
        `rows` cannot be read twice.
    ValueError
        `n_groups` is below 1, `scale` or `backend` is unknown, or workers cannot read the rows.

    Notes
    -----
    The second pass takes most of the time: it computes the distance of every row to every centre. Memory
    does not depend on the number of rows. A group is found only if the sample (50 rows for each group) has
    rows of it, so a cluster with less than about one row in `n_groups` may have no group of its own.

    Examples
    --------
    >>> import linkwise as lw
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(100_000, centers=5, random_state=0)
    >>> summary = lw.summarize(X, n_groups=200)
    >>> int(summary.sizes.sum())
    100000
    >>> oracle = lw.TruthOracle(y[summary.medoid_rows])
    >>> model = lw.KIN(random_state=0).fit(summary.X, oracle=oracle, budget=20)
    >>> labels = model.labels_[summary.assign(X)]
    >>> len(labels)
    100000
    """
    if isinstance(n_groups, bool) or not isinstance(n_groups, (int, np.integer)) or n_groups < 1:
        raise ValueError(f"n_groups must be a whole number of at least 1, got {n_groups!r}.")
    if scale not in SCALES:
        raise ValueError(f"scale must be 'standard' or 'none', not {scale!r}.")
    if backend not in BACKENDS:
        raise ValueError(f"backend must be 'serial', 'loky' or 'dask', not {backend!r}.")
    stream, seed = open_stream(rows, columns=columns, id_column=id_column), resolve_seed(random_state)
    n_done = n_blocks = 0

    def step() -> None:
        nonlocal n_done
        n_done += 1
        if progress is not None:
            progress(n_done, n_blocks)

    engine = Engine(backend, n_jobs)
    survey = survey_rows(stream, SAMPLE * int(n_groups), seed, scale, step, engine)
    centers = find_centers(survey.sample, int(n_groups), (seed, 1))
    n_blocks = 2 * n_done
    groups = collect_groups(stream, survey.scaling, centers, step, engine)
    check_same_rows(int(groups.sizes.sum()), survey.n_rows)
    used = np.flatnonzero(groups.sizes)
    return Summary(
        n_rows=survey.n_rows,
        columns=stream.columns(),
        scaling=survey.scaling,
        centers=np.ascontiguousarray(centers.points[used]),
        sizes=groups.sizes[used],
        spread=groups.squares[used] / groups.sizes[used],
        limits=groups.limits(centers)[used],
        X=survey.scaling.apply(groups.rows[used]).astype(np.float64),
        medoids=groups.rows[used],
        medoid_rows=groups.medoid[used],
        medoid_ids=None if groups.ids is None else [groups.ids[group] for group in used.tolist()],
        border_rows=groups.border[used],
        id_column=id_column,
    )


def check_same_rows(n_rows: int, expected: int) -> None:
    """Raise if a later pass finds another number of rows than the first."""
    if n_rows != expected:
        raise DataError(
            f"The data have changed: there were {expected} rows in the first pass, and now {n_rows}."
            " Begin again, and let nothing write to them meanwhile. A function must return all chunks anew"
            " each time it is called."
        )
