"""Fit a clusterer to a sample of rows that do not fit into memory, and let it assign all rows.

The sample has all rows that constraints name. If it has all rows of the data, the result is that of ``fit``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from linkwise.large.chunks import Source, open_stream
from linkwise.large.group_summary import SCALES
from linkwise.large.label_files import LabelForm, write_parts
from linkwise.large.named_rows import RowPairs, find_named_stream_rows
from linkwise.large.passes import Scale, Scaling, survey_rows
from linkwise.large.sample_rule import (
    SampledClusterer,
    SampleRule,
    check_sampled_model,
    fit_sample,
    spread_sample,
)
from linkwise.parallel import BACKENDS, Backend, Engine
from linkwise.types import Labels, Progress
from linkwise.validation import check_rows, resolve_seed, warn_of_identical

SAMPLE = 100_000  # rows


@dataclass(frozen=True, eq=False)
class RowClusters:
    """Clusters of many rows.

    `cluster_rows` makes them.

    Attributes
    ----------
    model : estimator
        The fitted clusterer, with all attributes but ``labels_`` and ``constraints_``. They are about the
        sample, in scaled units.
    n_rows : int
        Number of rows.
    n_sampled : int
        Number of rows of the sample.
    columns : tuple of str or None
        Names of the columns, if the rows have named columns.
    scaling : Scaling
        How the columns are scaled.
    sizes : ndarray of shape (n_clusters,)
        Number of rows of each cluster. The other rows are noise, label -1.
    constrained_rows : ndarray of shape (n_constrained,)
        Numbers of the rows that constraints name, ascending.
    constrained_labels : ndarray of shape (n_constrained,)
        Their clusters.
    id_column : str or None
        The column of ids.
    """

    model: Any
    n_rows: int
    n_sampled: int
    columns: tuple[str, ...] | None
    scaling: Scaling = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    constrained_rows: NDArray[np.int64] = field(repr=False)
    constrained_labels: Labels = field(repr=False)
    id_column: str | None
    _rule: SampleRule = field(repr=False)

    def predict(self, rows: ArrayLike) -> Labels:
        """Find the cluster of new rows.

        Parameters
        ----------
        rows : array-like of shape (n, n_columns)
            Rows as they are in the data, not scaled.

        Returns
        -------
        ndarray of shape (n,)
            Cluster of each row by the rule of the model, without constraints.

        Raises
        ------
        DataError
            The rows have values that cannot be clustered.
        """
        found: Labels = self.model.predict(self.scaling.apply(check_rows(rows)))
        return found

    def write_labels(
        self,
        rows: Source,
        folder: str | os.PathLike[str],
        *,
        backend: Backend = "serial",
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> list[Path]:
        """Write the cluster of each row to Parquet files of about a million rows.

        Rows of the sample have the clusters in which the clusterer put them. Each file is complete or absent.
        If writing stops, call this again: it continues with the first part that is absent.

        Parameters
        ----------
        rows : array, path, sequence of paths, dask collection, or callable
            The rows that were clustered, as for `cluster_rows`.
        folder : path
            Folder of the files; it is created if it is absent. It must be empty, or hold parts of the same
            labels.
        backend : {"serial", "loky", "dask"}, default="serial"
            Who reads rows and writes parts, as for `cluster_rows`. The workers of dask need the folder at the
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
            The rows differ from those that were clustered; the folder holds other files or other labels; or a
            file cannot be read or written, and the error names it.
        """
        stream = open_stream(rows, columns=self.columns, id_column=self.id_column)
        form = LabelForm(self._hash(), self.n_rows, self.id_column or "row")
        expected = {cluster: size for cluster, size in enumerate(self.sizes.tolist()) if size}
        if n_noise := self.n_rows - int(self.sizes.sum()):
            expected[-1] = n_noise
        engine = Engine(backend, n_jobs)
        return write_parts(stream, self._rule.find_labels, form, expected, folder, progress, engine)

    def _hash(self) -> str:
        """Hash what decides the cluster of each row."""
        found = blake2b(digest_size=16)
        for array in self._rule.list_arrays():
            found.update(array.tobytes())
        found.update(self.sizes.tobytes())
        found.update(repr((self.columns, self.id_column)).encode())
        return found.hexdigest()


def cluster_rows(
    model: SampledClusterer,
    rows: Source,
    *,
    must_link: Iterable[Any] = (),
    cannot_link: Iterable[Any] = (),
    must_link_weight: ArrayLike | None = None,
    cannot_link_weight: ArrayLike | None = None,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    scale: Scale = "none",
    n_sample: int = SAMPLE,
    backend: Backend = "serial",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> RowClusters:
    """Fit a clusterer to a sample of rows that need not fit into memory, and assign all of them.

    Parameters
    ----------
    model : clusterer
        The clusterer, which is not changed. Any that takes constraints and has ``predict``, such as
        `PCKMeans`, `MPCKMeans`, `ClusILC` or `COBS`.
    rows : array, path, sequence of paths, dask collection, or callable
        A 2-D array (a memory map, too). A .npy, .parquet, .csv or .tsv file, a folder of them, a pattern such
        as ``"events/*.parquet"``, or several paths; files of a folder or pattern are read in the order of
        their names. A dask array or DataFrame, whose partitions are computed one after the other and pass
        through this process. Or a function without parameters that returns an iterator of arrays, or of
        tables such as Arrow batches, each time anew.
    must_link, cannot_link : sequence of pairs, optional
        Pairs of rows, named by their ids if `id_column` is given, and otherwise by their numbers, counted
        from 0 at the beginning of the data. The `must_link` and `cannot_link` of `Constraints` are such
        pairs, too.
    must_link_weight, cannot_link_weight : array-like of shape (n_pairs,), optional
        Weights above 0, 1 by default.
    columns : sequence of str, optional
        Columns of tables to use, which must be numbers. All by default.
    id_column : str, optional
        Column of tables with ids of the rows.
    scale : {"none", "standard"}, default="none"
        Leave the columns as they are, or scale them to mean 0 and deviation 1.
    n_sample : int, default=100000
        Number of rows of the uniform sample. It is held in memory, with the rows that constraints name.
    backend : {"serial", "loky", "dask"}, default="serial"
        Read the rows in this process; in processes of this machine (joblib's loky); or on the workers of the
        current ``dask.distributed.Client``, which need the files at the same paths. Rows that a function
        returns are only read in this process.
    n_jobs : int, optional
        Number of processes of "loky"; by default as many as there are cores.
    progress : callable, optional
        ``progress(done, planned)`` is called while the sample is clustered, as by ``fit``.

    Returns
    -------
    RowClusters
        The clusters. Neither the chunks in which rows are read nor the backend nor the number of threads
        change a bit of it.

    Raises
    ------
    ConstraintError
        A pair names a row that is absent, or names it twice, or two rows have an id that a pair names.
    InfeasibleConstraintsError
        The constraints contradict each other.
    DataError
        A file cannot be read, and the error names it; a value is missing or infinite, and the error names
        its row; or there are no rows.
    TypeError
        `model` takes no constraints or has no ``predict``, or `rows` cannot be read twice.
    ValueError
        `n_sample` is below 1, `scale` or `backend` is unknown, or workers cannot read the rows.

    Notes
    -----
    The sample has all rows that constraints name, so their constraints count as in ``fit``. Its rows keep
    the clusters that the clusterer gives them, and ``predict`` assigns all others. If the sample has all
    rows, the result is that of ``fit`` on them. A cluster without a row in the sample is not found. Rows are
    rounded to 32 bits, after scaling.

    The rows are read three times: for the sample, for the rows that constraints name, and to count the rows
    of each cluster. Memory does not depend on their number.

    Examples
    --------
    >>> import linkwise as lw
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(100_000, centers=5, random_state=0)
    >>> c = lw.Constraints.sample(y, 50, random_state=0)
    >>> found = lw.cluster_rows(
    ...     lw.PCKMeans(5, random_state=0),
    ...     X,
    ...     must_link=c.must_link,
    ...     cannot_link=c.cannot_link,
    ...     n_sample=20_000,
    ... )
    >>> int(found.sizes.sum()), found.model.cluster_centers_.shape
    (100000, (5, 2))
    """
    check_sampled_model(model)
    if isinstance(n_sample, bool) or not isinstance(n_sample, (int, np.integer)) or n_sample < 1:
        raise ValueError(f"n_sample must be a whole number of at least 1, got {n_sample!r}.")
    if scale not in SCALES:
        raise ValueError(f"scale must be 'standard' or 'none', not {scale!r}.")
    if backend not in BACKENDS:
        raise ValueError(f"backend must be 'serial', 'loky' or 'dask', not {backend!r}.")
    stream = open_stream(rows, columns=columns, id_column=id_column)
    fitted: Any = clone(model)
    seed = 0
    if "random_state" in fitted.get_params():
        seed = resolve_seed(fitted.random_state)
        fitted.set_params(random_state=seed)
    engine = Engine(backend, n_jobs)
    survey = survey_rows(stream, int(n_sample), seed, scale, lambda: None, engine)
    pairs = RowPairs(must_link, cannot_link, must_link_weight, cannot_link_weight)
    named = find_named_stream_rows(stream, pairs, id_column is not None, survey.sample.shape[1], engine)
    scaled = survey.scaling.apply(named.rows)
    warn_of_identical(scaled, named.constraints.cannot_link, lambda row: named.names[row])
    sampled = fit_sample(fitted, survey, named, scaled, progress)
    rule, sizes = spread_sample(fitted, sampled, survey, stream, engine)
    return RowClusters(
        model=fitted,
        n_rows=survey.n_rows,
        n_sampled=len(sampled),
        columns=stream.columns(),
        scaling=survey.scaling,
        sizes=sizes,
        constrained_rows=named.numbers,
        constrained_labels=rule.labels[np.searchsorted(sampled, named.numbers)],
        id_column=id_column,
        _rule=rule,
    )
