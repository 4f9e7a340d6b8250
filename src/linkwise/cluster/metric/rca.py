"""RCA: reduce the weight of directions in which must-linked rows differ.

Bar-Hillel, Hertz, Shental and Weinshall (2003), "Learning distance functions using equivalence relations".
Rows joined by must-links (a chunklet, here a component) belong to one class, so their differences do not
separate classes. Their covariance about the means of their components is whitened.

Kept: the covariance within components, ``C = sum (x - mean)(x - mean)' / rows in components``, and the map
``C^(-1/2)``.
Changed, and why:

- C is drawn to the plain metric by a prior worth `shrinkage` rows for each feature. Fifty random pairs hold
  some twenty must-links: by chance, the covariance of so few rows has directions of almost no spread, and
  whitening would make these the widest.
- With ``shrinkage=0`` a thousandth of its mean eigenvalue is added to a singular C.
- Cannot-links and weights have no effect.

Cost: O(rows in components d² + d³).
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from linkwise.cluster.metric.base import MetricLearner
from linkwise.cluster.metric.differences import Array, feature_spreads, find_common_unit
from linkwise.cluster.metric.roots import inverse_matrix_root
from linkwise.constraints.constraints import Constraints
from linkwise.errors import ConstraintWarning

_SINGULAR = 1e-10  # least eigenvalue in shares of the greatest
_ADDED = 1e-3


class RCA(MetricLearner):
    """The map under which must-linked rows vary equally in all directions.

    Parameters
    ----------
    shrinkage : float, default=1.0
        Strength of the prior that draws the metric to the plain one, in rows for each feature. 0 is the
        method of the paper, which needs many more must-links than features.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The map that `transform` applies, symmetric.

    Warns
    -----
    ConstraintWarning
        There are only cannot-links, which this method cannot use.

    References
    ----------
    Bar-Hillel, Hertz, Shental and Weinshall (2003), Learning distance functions using equivalence relations.
    ICML.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwise as lw
    >>> X = np.array([[0.0, 0.0], [0.1, 5.0], [1.0, 2.0], [1.1, 8.0]])
    >>> c = lw.Constraints(4, must_link=[(0, 1), (2, 3)])
    >>> lw.RCA().fit_transform(X, constraints=c).round(2)
    array([[0.  , 0.  ],
           [0.04, 1.94],
           [0.78, 0.77],
           [0.82, 3.09]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "shrinkage": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, shrinkage: float = 1.0) -> None:
        self.shrinkage = shrinkage

    def _fit(self, X: NDArray[Any], constraints: Constraints) -> Array:
        if len(constraints.must_link) == 0:
            if len(constraints.cannot_link):
                warnings.warn(
                    f"RCA learns from must-links, but there are none ({constraints.n_constraints} "
                    "constraints in all). The rows stay as they are. Pass must-links, or use ITML.",
                    ConstraintWarning,
                    stacklevel=3,
                )
            return np.ones(X.shape[1])
        unit = find_common_unit(X)
        scatter, n_rows = within_scatter(X, constraints.component, unit)
        plain = float((feature_spreads(X) / unit) @ (feature_spreads(X) / unit)) / X.shape[1]
        return inverse_matrix_root(_shrink(scatter, n_rows, self.shrinkage * X.shape[1], plain or 1.0)) / unit


def _shrink(scatter: Array, n_rows: int, prior_rows: float, plain: float) -> Array:
    """Draw a covariance to `plain` variance in all directions, by a prior worth `prior_rows` rows."""
    d = len(scatter)
    covariance: Array = (scatter + prior_rows * plain * np.eye(d)) / (n_rows + prior_rows)
    value = np.linalg.eigvalsh(covariance)
    if value[0] <= _SINGULAR * value[-1]:
        covariance[np.diag_indices(d)] += _ADDED * float(value.mean()) or plain
    return covariance


def within_scatter(X: NDArray[Any], component: NDArray[np.int64], unit: float = 1.0) -> tuple[Array, int]:
    """Compute the scatter within components, and the number of rows in components of two or more."""
    joined = np.flatnonzero(np.bincount(component)[component] > 1)
    group = np.unique(component[joined], return_inverse=True)[1].ravel()
    rows = X[joined].astype(np.float64) / unit
    means = np.zeros((int(group.max(initial=-1)) + 1, X.shape[1]))
    np.add.at(means, group, rows)
    means /= np.bincount(group)[:, None]
    rows -= means[group]
    scatter: Array = rows.T @ rows
    return scatter, len(joined)
