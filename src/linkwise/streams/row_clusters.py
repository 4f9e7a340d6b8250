"""Fit a clusterer to rows that do not fit into memory: first to a sample, then to all rows, pass by pass.

The sample has all rows that constraints name. If it has all rows of the data, the result is that of ``fit``.
Otherwise the centres of the sample are the start, and each iteration of the clusterer is one pass over the
rows.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from linkwise.asking.learner import Labels, Progress
from linkwise.cluster.kmeans.pckmeans import PCKMeans
from linkwise.constraints.constraints import Constraints
from linkwise.errors import ConstraintWarning
from linkwise.parallel import BACKENDS, Backend, Engine
from linkwise.streams.center_passes import Assignment
from linkwise.streams.chunks import Source, open_stream
from linkwise.streams.item_summary import SCALES, check_same_rows
from linkwise.streams.label_files import LabelForm, write_parts
from linkwise.streams.named_rows import NamedStreamRows, RowPairs, find_named_stream_rows
from linkwise.streams.passes import Scale, Scaling, Survey, survey_rows
from linkwise.streams.soft_passes import RowSource, StreamRun, refine_pckmeans
from linkwise.validation import check_rows, resolve_seed, warn_of_identical

SAMPLE = 20_000  # rows


@dataclass(frozen=True, eq=False)
class RowClusters:
    """Clusters of many rows.

    `cluster_rows` makes them.

    Attributes
    ----------
    model : estimator
        The fitted clusterer, with all attributes but ``labels_``. It knows rows in scaled units.
    n_rows : int
        Number of rows.
    n_sampled : int
        Number of rows of the sample.
    columns : tuple of str or None
        Names of the columns, if the rows have named columns.
    scaling : Scaling
        How the columns are scaled.
    sizes : ndarray of shape (n_clusters,)
        Number of rows of each cluster.
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

        Rows that constraints name have the clusters in `constrained_labels`. Each file is complete or absent.
        If writing stops, call this again: it continues with the first part that is absent.

        Parameters
        ----------
        rows : array, path, sequence of paths, or callable
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
        rule = Assignment(
            self.scaling, self.model.cluster_centers_, self.constrained_rows, self.constrained_labels
        )
        form = LabelForm(self._hash(), self.n_rows, self.id_column or "row")
        expected = {cluster: size for cluster, size in enumerate(self.sizes.tolist()) if size}
        engine = Engine(backend, n_jobs)
        return write_parts(stream, rule.find_labels, form, expected, folder, progress, engine)

    def _hash(self) -> str:
        """Hash what decides the cluster of each row."""
        found = blake2b(digest_size=16)
        places = self.constrained_rows, self.constrained_labels
        for array in (self.scaling.offset, self.scaling.scale, self.model.cluster_centers_, *places):
            found.update(array.tobytes())
        found.update(repr((self.columns, self.id_column)).encode())
        return found.hexdigest()


def cluster_rows(
    model: PCKMeans,
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
    """Fit a clusterer to rows that need not fit into memory.

    Parameters
    ----------
    model : PCKMeans
        The clusterer, which is not changed.
    rows : array, path, sequence of paths, or callable
        A 2-D array (a memory map, too). A .npy, .parquet, .csv or .tsv file, a folder of them, a pattern such
        as ``"events/*.parquet"``, or several paths; files of a folder or pattern are read in the order of
        their names. Or a function without parameters that returns an iterator of arrays, or of tables such as
        Arrow batches, each time anew.
    must_link, cannot_link : sequence of pairs
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
    n_sample : int, default=20000
        Number of rows of the uniform sample. It is held in memory, with the rows that constraints name.
    backend : {"serial", "loky", "dask"}, default="serial"
        Read the rows in this process; in processes of this machine (joblib's loky); or on the workers of the
        current ``dask.distributed.Client``, which need the files at the same paths. Rows that a function
        returns are only read in this process.
    n_jobs : int, optional
        Number of processes of "loky"; by default as many as there are cores.
    progress : callable, optional
        ``progress(done, planned)`` is called after each pass over all rows that moves the centres. Most fits
        need fewer passes than planned.

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
        `model` cannot be fitted to chunks, or `rows` cannot be read twice.
    ValueError
        `n_sample` is below 1, `scale` or `backend` is unknown, or workers cannot read the rows.

    Notes
    -----
    Rows are rounded to 32 bits, after scaling. If the sample has all rows, the result is that of ``fit`` on
    them. Otherwise all starts run on the sample, as ``fit`` does, and the best result is the start on all
    rows. The result on all rows is that of ``fit`` with these centres as `init`, apart from rounding in sums.
    It differs from ``fit`` in two ways: if the best centres of the sample lead to another optimum; and if
    plain k-means satisfies more constraints, which is decided on the sample (``fell_back_``).

    A pass reads all rows and computes their distances to all centres. There is one pass for the sample, one
    for the rows that constraints name, one for each iteration, and one for the final labels. Memory does not
    depend on the number of rows.

    Examples
    --------
    >>> import linkwise as lw
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(100_000, centers=5, random_state=0)
    >>> c = lw.Constraints.sample(y, 50, random_state=0)
    >>> found = lw.cluster_rows(
    ...     lw.PCKMeans(5, random_state=0), X, must_link=c.must_link, cannot_link=c.cannot_link
    ... )
    >>> int(found.sizes.sum()), found.model.cluster_centers_.shape
    (100000, (5, 2))
    """
    if not isinstance(model, PCKMeans):
        raise TypeError(
            f"cluster_rows fits PCKMeans, but model is a {type(model).__name__}. Summarise the rows, by"
            " summary = linkwise.summarize(rows), and fit it to summary.X."
        )
    if isinstance(n_sample, bool) or not isinstance(n_sample, (int, np.integer)) or n_sample < 1:
        raise ValueError(f"n_sample must be a whole number of at least 1, got {n_sample!r}.")
    if scale not in SCALES:
        raise ValueError(f"scale must be 'standard' or 'none', not {scale!r}.")
    if backend not in BACKENDS:
        raise ValueError(f"backend must be 'serial', 'loky' or 'dask', not {backend!r}.")
    stream, seed = open_stream(rows, columns=columns, id_column=id_column), resolve_seed(model.random_state)
    engine = Engine(backend, n_jobs)
    survey = survey_rows(stream, int(n_sample), seed, scale, lambda: None, engine)
    pairs = RowPairs(must_link, cannot_link, must_link_weight, cannot_link_weight)
    named = find_named_stream_rows(stream, pairs, id_column is not None, len(survey.mean), engine)
    scaled = survey.scaling.apply(named.rows)
    warn_of_identical(scaled, named.constraints.cannot_link, lambda row: named.names[row])
    fitted, sampled = _fit_sample(clone(model).set_params(random_state=seed), survey, named, scaled)
    if len(sampled) == survey.n_rows:
        run = _read_run(fitted, np.searchsorted(sampled, named.numbers))
    else:
        more = (survey.mean, survey.variance, named.numbers, scaled, named.constraints, engine)
        planned = model.max_iter + 1
        step = _ignore if progress is None else lambda done: progress(done, planned)
        run = refine_pckmeans(RowSource(stream, survey.scaling, *more), fitted, seed, step)
        check_same_rows(int(run.sizes.sum()), survey.n_rows)
    return RowClusters(
        model=_store_run(fitted, run, named.constraints),
        n_rows=survey.n_rows,
        n_sampled=len(sampled),
        columns=stream.columns(),
        scaling=survey.scaling,
        sizes=run.sizes,
        constrained_rows=named.numbers,
        constrained_labels=run.labels,
        id_column=id_column,
    )


def _ignore(_: int) -> None:
    pass


def _fit_sample(
    model: PCKMeans, survey: Survey, named: NamedStreamRows, scaled: NDArray[np.float32]
) -> tuple[PCKMeans, NDArray[np.int64]]:
    """Fit the model to the sample with all rows that constraints name; return it and their numbers."""
    numbers, first = np.unique(np.concatenate([survey.sample_rows, named.numbers]), return_index=True)
    sample = np.ascontiguousarray(np.concatenate([survey.sample, scaled])[first])
    place, c = np.searchsorted(numbers, named.numbers), named.constraints
    constraints = None
    if c.n_constraints:
        constraints = Constraints(
            len(numbers),
            place[c.must_link],
            place[c.cannot_link],
            must_link_weight=c.must_link_weight,
            cannot_link_weight=c.cannot_link_weight,
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstraintWarning)  # it would number rows as in the sample
        model.fit(sample, constraints=constraints)
    return model, numbers


def _read_run(model: PCKMeans, places: NDArray[np.int64]) -> StreamRun:
    """Return the result of a model that was fitted to all rows."""
    return StreamRun(
        model.cluster_centers_,
        model.labels_[places],
        np.bincount(model.labels_, minlength=len(model.cluster_centers_)),
        model.objective_,
        model.n_iter_,
    )


def _store_run(model: PCKMeans, run: StreamRun, constraints: Constraints) -> PCKMeans:
    """Replace the attributes of a model fitted to a sample by those of all rows."""
    del model.labels_
    model.cluster_centers_, model.objective_, model.n_iter_ = run.centers, run.objective, run.n_iter
    model.n_clusters_ = len(run.centers)
    broken = constraints.find_violations(run.labels) if len(run.labels) else ()
    model.violations_ = int(sum(each.sum() for each in broken))
    return model
