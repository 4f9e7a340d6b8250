"""Adapt clusterers and validity indices to the framework that tunes weights."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from linkwise.cluster import points
from linkwise.cluster.feature_weights.tuning import Array, ClusterFunction, Clustering, Validity
from linkwise.constraints.constraints import Constraints
from linkwise.types import Labels


def refuse_class(clusterer: object) -> None:
    """Raise if a class is given instead of an estimator."""
    if isinstance(clusterer, type):
        name = clusterer.__name__
        raise TypeError(f"clusterer={name} is a class. Pass an estimator: clusterer={name}().")


def takes_constraints(clusterer: Any) -> bool:
    """Whether ``fit`` has a parameter `constraints`."""
    return bool(has_fit_parameter(clusterer, "constraints"))


def make_clusterer(clusterer: Any, k: int, seed: int) -> Any:
    """Copy a clusterer, with `k` clusters and with `seed` for every random_state that is None.

    In a pipeline the last step gets the number. A number that is None stays None: then something else, such
    as a threshold, decides.
    """
    known, last, prefix = clusterer.get_params(), clusterer, ""
    while hasattr(last, "steps"):
        name, last = last.steps[-1]
        prefix += f"{name}__"
    wanted = {
        name: seed
        for name, value in known.items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    if known.get(f"{prefix}n_clusters") is not None:
        wanted[f"{prefix}n_clusters"] = k
    return clone(clusterer).set_params(**wanted)


def wrap_estimator(
    clusterer: Any, k: int, seed: int, constraints: Constraints | None = None
) -> ClusterFunction:
    """Wrap an estimator as a function that clusters weighted rows, with constraints if given."""
    told = {} if constraints is None else {"constraints": constraints}

    def cluster(rows: Array, starts: Array | None, /) -> Clustering:
        model = make_clusterer(clusterer, k, seed)
        return name_clusters(rows, np.asarray(model.fit_predict(rows, **told)), model)

    return cluster


def name_clusters(rows: Array, given: NDArray[Any], model: Any = None) -> Clustering:
    """Renumber any labels as 0, 1, ...; -1 stays noise."""
    names, number = np.unique(given, return_inverse=True)
    noise = int(names[0] == -1)
    labels = (number.ravel() - noise).astype(np.int32)
    k = len(names) - noise
    empty = np.zeros((k, rows.shape[1]))
    return Clustering(
        labels, points.cluster_means(rows, labels, empty) if k else empty, model, names[noise:], bool(noise)
    )


def predict_clusters(found: Clustering, rows: Array) -> Labels:
    """Assign new rows as the model predicts, or else to the nearest centre."""
    if len(found.centers) == 0:
        return np.full(len(rows), -1, dtype=np.int32)
    nearest = points.nearest_centers(rows, found.centers)[0]
    if not hasattr(found.model, "predict"):
        return nearest
    given = np.asarray(found.model.predict(rows))
    place = np.searchsorted(found.names, given).clip(max=len(found.names) - 1)
    clusters = np.where(found.names[place] == given, place, nearest)  # clusters that had no row so far
    return np.where(given == -1, -1, clusters).astype(np.int32)


def wrap_validity(validity: Callable[[Array, Labels], float]) -> Validity:
    """Wrap a validity index so that a clustering without a value is the worst."""

    def value(rows: Array, found: Clustering) -> float:
        try:
            given: Any = validity(rows, found.labels)
        except ValueError:  # as scikit-learn's indices say that there are too few clusters, or too many
            return -np.inf
        if not isinstance(given, Real):
            raise TypeError(f"validity returned {given!r}. It must return a number, the higher the better.")
        return -np.inf if np.isnan(float(given)) else float(given)

    return value
