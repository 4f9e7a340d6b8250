"""Fit a clusterer to rows that do not fit into memory: first to a sample, then to all rows, pass by pass.

The sample has all rows that constraints name. If it has all rows of the data, the result is that of ``fit``.
Otherwise the centres of the sample are the start, and each iteration of the clusterer is one pass over the
rows. A tree grows from the root, and the sample gives the edges of its bins. COBS chooses a clustering of the
sample, whose rule assigns all rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from linkwise.cluster.kmeans.mpckmeans import MPCKMeans
from linkwise.cluster.kmeans.pckmeans import PCKMeans
from linkwise.cluster.trees.clusilc import ClusILC
from linkwise.large.center_passes import Assignment
from linkwise.large.chunks import Source, open_stream
from linkwise.large.item_summary import SCALES, check_same_rows
from linkwise.large.label_files import LabelForm, write_parts
from linkwise.large.named_rows import RowPairs, find_named_stream_rows
from linkwise.large.passes import Scale, Scaling, survey_rows
from linkwise.large.sample_rule import SampledClusterer, SampleRule, spread_sample
from linkwise.large.stream_models import (
    Model,
    check_stream_model,
    fit_sample,
    read_run,
    refine_model,
    store_run,
)
from linkwise.large.stream_runs import RowSource, compact_run
from linkwise.large.tree_models import TreeAssignment, fit_tree
from linkwise.parallel import BACKENDS, Backend, Engine
from linkwise.types import Labels, Progress
from linkwise.validation import check_rows, resolve_seed, warn_of_identical

SAMPLE = 20_000  # rows


@dataclass(frozen=True, eq=False)
class RowClusters:
    """Clusters of many rows.

    `cluster_rows` makes them.

    Attributes
    ----------
    model : estimator
        The fitted clusterer, with all attributes but ``labels_`` and ``constraints_``. It knows rows in
        scaled units.
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
    _rule: Assignment | TreeAssignment | SampleRule = field(repr=False)

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
        found.update(repr((self.columns, self.id_column)).encode())
        return found.hexdigest()


def cluster_rows(
    model: Model | SampledClusterer,
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
    model : PCKMeans, MPCKMeans, ClusILC or COBS
        The clusterer, which is not changed. `MPCKMeans` needs ``metric="diagonal"``, and
        ``farthest="extreme"``. `ClusILC` needs a bound on the tree, which is `max_leaves`, `max_depth`, or
        `n_clusters` with ``label_rule="evidence"``, and takes no `nominal` columns.
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
    n_sample : int, default=20000
        Number of rows of the uniform sample. It is held in memory, with the rows that constraints name.
    backend : {"serial", "loky", "dask"}, default="serial"
        Read the rows in this process; in processes of this machine (joblib's loky); or on the workers of the
        current ``dask.distributed.Client``, which need the files at the same paths. Rows that a function
        returns are only read in this process.
    n_jobs : int, optional
        Number of processes of "loky"; by default as many as there are cores.
    progress : callable, optional
        ``progress(done, planned)`` is called after each pass over all rows that moves the centres, or that
        reads leaves of the tree. Most fits need fewer passes than planned. For a tree, planned is
        `max_leaves`, or the current number of passes. With `COBS` it is called after each clustering of the
        pool.

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
        `n_sample` is below 1, `scale` or `backend` is unknown, `model` needs all rows at once, or workers
        cannot read the rows.

    Notes
    -----
    Rows are rounded to 32 bits, after scaling. If the sample has all rows, the result is that of ``fit`` on
    them. Otherwise all starts run on the sample, as ``fit`` does, and the best result is the start on all
    rows. For `PCKMeans` the result on all rows is that of ``fit`` with these centres as `init`, apart from
    rounding in sums. `MPCKMeans` continues from the metrics and the labels of the sample, too. The result
    differs from that of ``fit`` on all rows in two ways: if the best start of the sample leads to another
    optimum; and if plain k-means satisfies more constraints, which is decided on the sample (``fell_back_``).

    The tree of `ClusILC` is an approximation of that of ``fit`` on all rows: a column has at most 255 places
    for a threshold, which are quantiles of the sample, and one more at each value of a row that constraints
    name. All else is that of ``fit``: the order of the splits, the labels of leaves, and the heuristic, which
    counts all rows and all constraints, implied ones included. So the tree is the same if all values are
    among these places. The sample is drawn with seed 0, since a tree draws nothing. Each pass reads the sides
    of the next split, and of other splits that may follow. There are at most as many of these passes as
    leaves; beams need more. Rows are put into bins of sums, of which a leaf has (places * columns²).

    `COBS` is an approximation if the sample does not have all rows: the pool is made of the sample, and so is
    the choice, with all rows that constraints name. Rows of the sample keep their clusters, and ``rule_`` of
    the model assigns all others in one pass. ``model.approximation_`` says so.

    A pass reads all rows and computes their distances to all centres. There is one pass for the sample, one
    for the rows that constraints name, one for each iteration, and one for the final labels; with
    `MPCKMeans` one for the rows with extreme values. Memory does not depend on the number of rows.

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
    check_stream_model(model)
    if isinstance(n_sample, bool) or not isinstance(n_sample, (int, np.integer)) or n_sample < 1:
        raise ValueError(f"n_sample must be a whole number of at least 1, got {n_sample!r}.")
    if scale not in SCALES:
        raise ValueError(f"scale must be 'standard' or 'none', not {scale!r}.")
    if backend not in BACKENDS:
        raise ValueError(f"backend must be 'serial', 'loky' or 'dask', not {backend!r}.")
    stream = open_stream(rows, columns=columns, id_column=id_column)
    seed = 0 if isinstance(model, ClusILC) else resolve_seed(model.random_state)
    engine = Engine(backend, n_jobs)
    survey = survey_rows(stream, int(n_sample), seed, scale, lambda: None, engine)
    pairs = RowPairs(must_link, cannot_link, must_link_weight, cannot_link_weight)
    named = find_named_stream_rows(stream, pairs, id_column is not None, len(survey.mean), engine)
    scaled = survey.scaling.apply(named.rows)
    warn_of_identical(scaled, named.constraints.cannot_link, lambda row: named.names[row])
    parts = (survey.mean, survey.variance, named.numbers, scaled, named.constraints, engine)
    source = RowSource(stream, survey.scaling, *parts, survey.n_rows)
    make = partial(
        RowClusters,
        n_rows=survey.n_rows,
        columns=stream.columns(),
        scaling=survey.scaling,
        constrained_rows=named.numbers,
        id_column=id_column,
    )
    if isinstance(model, ClusILC):
        grown = fit_tree(model, source, survey, named, progress)
        return make(
            model=grown.model,
            n_sampled=grown.n_sampled,
            sizes=grown.sizes,
            constrained_labels=grown.labels,
            _rule=TreeAssignment(survey.scaling, grown.model.tree_),
        )
    own = clone(model).set_params(random_state=seed)
    if not isinstance(own, (PCKMeans, MPCKMeans)):
        spread, sampled = fit_sample(own, survey, named, scaled, progress)
        rule, sizes = spread_sample(spread, sampled, survey, stream, engine)
        return make(
            model=spread,
            n_sampled=len(sampled),
            sizes=sizes,
            constrained_labels=rule.labels[np.searchsorted(sampled, named.numbers)],
            _rule=rule,
        )
    fitted, sampled = fit_sample(own, survey, named, scaled)
    if len(sampled) == survey.n_rows:
        run = read_run(fitted, np.searchsorted(sampled, named.numbers))
    else:
        planned = own.max_iter + 1
        step = _ignore if progress is None else lambda done: progress(done, planned)
        run = compact_run(refine_model(source, fitted, np.searchsorted(sampled, named.numbers), seed, step))
        check_same_rows(int(run.sizes.sum()), survey.n_rows)
    return make(
        model=store_run(fitted, run, named.constraints),
        n_sampled=len(sampled),
        sizes=run.sizes,
        constrained_labels=run.labels,
        _rule=Assignment(survey.scaling, run.centers, named.numbers, run.labels, run.metrics),
    )


def _ignore(_: int) -> None:
    pass
