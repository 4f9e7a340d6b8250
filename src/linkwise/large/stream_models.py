"""The clusterers that continue on all rows of a stream what they found on a sample."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkwise.cluster.kmeans.mpckmeans import MPCKMeans, read_metrics, store_metrics
from linkwise.cluster.kmeans.pckmeans import PCKMeans
from linkwise.cluster.trees.clusilc import ClusILC
from linkwise.constraints.constraints import Constraints
from linkwise.errors import ConstraintWarning
from linkwise.large.metric_passes import StreamStart, refine_mpckmeans
from linkwise.large.named_rows import NamedStreamRows
from linkwise.large.passes import Survey
from linkwise.large.soft_passes import refine_pckmeans
from linkwise.large.stream_runs import RowSource, StreamRun
from linkwise.types import Progress

CenterModel = PCKMeans | MPCKMeans
Model = CenterModel | ClusILC
Fitted = TypeVar("Fitted", bound=Any)


def check_stream_model(model: object) -> None:
    """Raise if a model cannot be fitted to chunks."""
    advice = "summarise the rows, by summary = linkwise.summarize(rows), and fit it to summary.X."
    if not getattr(model, "reads_chunks", False):
        raise TypeError(
            f"cluster_rows fits PCKMeans, MPCKMeans, ClusILC and COBS, but model is a {type(model).__name__}."
            f" Pass one of them, or {advice}"
        )
    if isinstance(model, MPCKMeans) and model.metric != "diagonal":
        raise ValueError(
            f"cluster_rows fits MPCKMeans with diagonal metrics, but metric={model.metric!r}. Set"
            f" metric='diagonal', or {advice}"
        )
    if isinstance(model, MPCKMeans) and model.farthest != "extreme":
        raise ValueError(
            f"farthest={model.farthest!r} compares all pairs of rows, which are not in memory. Set"
            f" farthest='extreme', or {advice}"
        )

    if isinstance(model, ClusILC):
        _check_tree(model)


def _check_tree(model: ClusILC) -> None:
    if len(model.nominal):
        raise ValueError(
            "cluster_rows fits ClusILC to columns of numbers, but nominal names columns of categories. Pass a"
            " column of 0 and 1 for each category, and nominal=()."
        )
    is_bounded = model.n_clusters is not None and model.label_rule == "evidence"
    if not is_bounded and model.max_leaves is None and model.max_depth is None:
        raise ValueError(
            "Nothing bounds the tree, so it would have a leaf for every few rows. Set max_leaves, or"
            " n_clusters with label_rule='evidence'."
        )


def refine_model(
    source: RowSource, model: CenterModel, places: NDArray[np.int64], seed: int, step: Callable[[int], object]
) -> StreamRun:
    """Continue a model on all rows; `places` are those of the rows with constraints in the sample."""
    if isinstance(model, PCKMeans):
        return refine_pckmeans(source, model, seed, step)
    start = StreamStart(model.cluster_centers_, read_metrics(model), model.labels_[places])
    return refine_mpckmeans(source, model, start, seed, step)


def fit_sample(
    model: Fitted,
    survey: Survey,
    named: NamedStreamRows,
    scaled: NDArray[np.float32],
    progress: Progress | None = None,
) -> tuple[Fitted, NDArray[np.int64]]:
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
        if progress is None:
            model.fit(sample, constraints=constraints)
        else:
            model.fit(sample, constraints=constraints, progress=progress)
    return model, numbers


def read_run(model: CenterModel, places: NDArray[np.int64]) -> StreamRun:
    """Return the result of a model that was fitted to all rows."""
    return StreamRun(
        model.cluster_centers_,
        model.labels_[places],
        np.bincount(model.labels_, minlength=len(model.cluster_centers_)),
        model.objective_ if isinstance(model, PCKMeans) else 0.0,
        model.n_iter_,
        None if isinstance(model, PCKMeans) else read_metrics(model),
    )


def store_run(model: CenterModel, run: StreamRun, constraints: Constraints) -> CenterModel:
    """Replace the attributes of a model fitted to a sample by those of all rows."""
    del model.labels_
    model.cluster_centers_, model.n_iter_ = run.centers, run.n_iter
    if isinstance(model, PCKMeans):
        model.objective_ = run.objective
    elif run.metrics is not None:
        store_metrics(model, run.metrics)
    model.n_clusters_ = len(run.centers)
    broken = constraints.find_violations(run.labels) if len(run.labels) else ()
    model.violations_ = int(sum(each.sum() for each in broken))
    return model
