"""The clusterer that a learner refits as answers come in, by name or as it is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from linkwise import methods
from linkwise.cluster.nearest_row import NearestRow
from linkwise.constraints.constraints import Constraints
from linkwise.types import Labels

N_INIT = 2  # starts of a clusterer that is given by name: it is refitted at every question
FULL_METRIC = 100  # features up to which MPCKMeans learns a full matrix


def make_clusterer(estimator: object, k: int, n_features: int, seed: int) -> Any:
    """A new clusterer of k clusters, seeded: by a name of `clusterers_by_name`, or a copy of an estimator."""
    if estimator is None or isinstance(estimator, str):
        kind = clusterers_by_name().get(str(estimator or "mpckmeans").lower())
        if kind is None:
            raise ValueError(
                f"estimator={estimator!r} is unknown. Pass the name of a clusterer"
                f" ({', '.join(clusterers_by_name())}), or an estimator with n_clusters and"
                " fit(X, constraints=)."
            )
        found = kind(n_clusters=k)
        usual = {"n_init": N_INIT, "metric": "full" if n_features <= FULL_METRIC else "diagonal"}
        found.set_params(**{name: value for name, value in usual.items() if name in found.get_params()})
    else:
        _check(estimator)
        found = clone(estimator).set_params(n_clusters=k)
    if found.get_params().get("random_state", 0) is None:
        found.set_params(random_state=seed)
    return found


def _check(estimator: Any) -> None:
    if isinstance(estimator, type) or not (hasattr(estimator, "get_params") and hasattr(estimator, "fit")):
        raise TypeError(
            f"estimator={estimator!r} is not an estimator. Pass one, or a name such as 'pckmeans'."
        )
    if "n_clusters" not in estimator.get_params() or "constraints" not in signature(estimator.fit).parameters:
        raise TypeError(
            f"estimator={estimator!r} lacks n_clusters or fit(X, constraints=). "
            "Use for example PCKMeans() or MPCKMeans()."
        )


@cache
def clusterers_by_name() -> dict[str, type]:
    """The clusterers of linkwise that can be refitted, by their names in lower case."""
    # a tree must know which columns hold codes
    named = [m for m in methods.CLUSTERERS.values() if m.is_refitted and not m.with_codes]
    return {m.class_name.lower(): m.load() for m in named}


class ClustererRule(NamedTuple):
    """The rule for new rows: what a fitted clusterer predicts, under other labels."""

    clusterer: Any
    names: NDArray[Any]
    """(m,) clusters that it predicts for fitted rows, ascending."""
    labels: Labels
    """(m,) the label of each."""
    otherwise: int
    """The label of clusters that it predicts for no fitted row."""

    def find(self, X: NDArray[Any]) -> Labels:
        """Return the label of each row."""
        given = np.asarray(self.clusterer.predict(X))
        place = np.searchsorted(self.names, given).clip(max=len(self.names) - 1)
        return np.where(self.names[place] == given, self.labels[place], self.otherwise).astype(np.int32)


def find_rule(clusterer: Any, X: NDArray[Any], labels: Labels) -> ClustererRule | NearestRow:
    """Find the rule by which a fitted clusterer and labels 0, 1, ... of its rows place new rows.

    It is the nearest row if the clusterer has no ``predict``.
    """
    if not hasattr(clusterer, "predict"):
        return NearestRow.remember(X, labels)
    names, number = np.unique(clusterer.predict(X), return_inverse=True)
    votes = np.zeros((len(names), int(labels.max()) + 1), dtype=np.int64)
    np.add.at(votes, (number.ravel(), labels), 1)
    most = votes.argmax(axis=1).astype(np.int32)
    return ClustererRule(clusterer, names, most, int(votes.sum(axis=0).argmax()))


def can_be_sampled(clusterer: Any) -> bool:
    """Whether it predicts rows well enough to be fitted to a sample of very many rows."""
    return hasattr(clusterer, "predict") and getattr(clusterer, "is_sampled", True)


def is_fitted_to_all(clusterer: Any, n_rows: int, max_rows: int) -> bool:
    """Whether `fit_labels` fits it to all rows and not to a sample."""
    return n_rows <= max_rows or not can_be_sampled(clusterer)


def fit_labels(
    clusterer: Any,
    X: NDArray[Any],
    constraints: Constraints,
    order: NDArray[np.int64],
    max_rows: int,
    prepared: Mapping[str, object] | None = None,
) -> NDArray[Any]:
    """Labels of all rows; of more than `max_rows` a sample is clustered, and the others are predicted.

    Rows come into the sample in this `order`, but those that constraints name come first. `prepared` is
    the result of `prepare_fits` for `X`; a fit to a sample does without.
    """
    if is_fitted_to_all(clusterer, len(X), max_rows):
        return np.asarray(clusterer.fit(X, constraints=constraints, **(prepared or {})).labels_)
    named = np.unique(np.concatenate([constraints.must_link.ravel(), constraints.cannot_link.ravel()]))
    rows = np.union1d(named, order[:max_rows])
    clusterer.fit(X[rows], constraints=constraints[rows])
    labels = np.asarray(clusterer.predict(X))
    labels[rows] = clusterer.labels_
    return labels
