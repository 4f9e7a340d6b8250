"""CVCP: cross-validation for finding clustering parameters.

Pourrajabi, Moulavi, Campello, Zimek, Sander and Goebel (2014). A clustering classifies pairs as "same
cluster" or not. It is fitted with some of the constraints and tested on others.

The folds are independent because the rows are split, not the pairs, after all implied constraints were added.
The test pairs of a fold are those between its own rows; the training constraints are those between rows of
the other folds. A pair across both is not used. So no training constraint is about a row of a test pair, and
none implies a test pair. (If pairs were split, 1 = 2 and 2 = 3 in training would reveal 1 = 3 in the test.)

Settled where the paper leaves it open: the mean of a fold ignores a kind of constraint that the fold lacks; a
fold without test pairs is ignored; all settings use the same folds.

Cost: a fit for each setting and fold, and one with all constraints; or one fit for each setting if the
clusterer takes no constraints.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from linkwise.constraints.constraints import Constraints
from linkwise.errors import ConstraintWarning
from linkwise.rng import rng_at
from linkwise.select.base import ClusteringSearch, Grid, Refit, Score
from linkwise.types import Labels, Progress
from linkwise.validation import resolve_seed


class CVCPSearch(ClusteringSearch):
    """The setting whose clusterings best predict held-out constraints.

    Parameters
    ----------
    estimator : clusterer
        A scikit-learn clusterer. It is copied, never fitted itself.
    param_grid : dict or list of dict
        Values to try for each parameter, as for ``sklearn.model_selection.ParameterGrid``.
    n_folds : int, default=5
        Number of folds of the rows with constraints, at most their number.
    random_state : int, RandomState or None, default=None
        Seed of the folds; with None every fit may differ.
    progress : callable, optional
        Called as ``progress(done, planned)`` after each setting. An exception that it raises ends the search.

    Attributes
    ----------
    labels_, n_clusters_, violations_, best_params_, best_estimator_, results_
        See `NumSatSearch`.
    best_score_ : float
        Mean over the folds of the mean F of must-links and of cannot-links, from 0 to 1. NaN if no fold holds
        a pair; then all settings tie, and the one with fewest clusters is chosen.

    References
    ----------
    Pourrajabi, Moulavi, Campello, Zimek, Sander and Goebel (2014), Model selection for semi-supervised
    clustering. EDBT.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> c = lw.Constraints.sample(y, 60, random_state=0)
    >>> search = lw.CVCPSearch(KMeans(random_state=0), {"n_clusters": range(2, 8)}, random_state=0)
    >>> search.fit(X, constraints=c).best_params_
    {'n_clusters': 3}
    """

    pairs_only: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ClusteringSearch._parameter_constraints,
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Grid,
        *,
        n_folds: int = 5,
        random_state: int | np.random.RandomState | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(estimator, param_grid, progress=progress)
        self.n_folds = n_folds
        self.random_state = random_state

    def _scorer(self, X: NDArray[Any], constraints: Constraints) -> Score:
        folds = list(make_independent_folds(constraints, self.n_folds, resolve_seed(self.random_state)))
        tests = [constraints[held] for _, held in folds]
        if constraints.n_constraints and not any(test.n_constraints for test in tests):
            warnings.warn(
                f"None of {len(folds)} folds holds both ends of a constraint, so the settings cannot"
                " be compared. "
                "Pass more constraints, or a smaller n_folds.",
                ConstraintWarning,
                stacklevel=3,
            )

        def score(_: Labels, refit: Refit) -> float:
            values = [
                f_measure(test, refit(training)[held])
                for (training, held), test in zip(folds, tests, strict=True)
                if test.n_constraints
            ]
            return float(np.mean(values)) if values else float("nan")

        return score


def make_independent_folds(
    constraints: Constraints, n_folds: int, seed: int
) -> Iterator[tuple[Constraints, NDArray[np.int64]]]:
    """Split the rows with constraints into folds; yield training constraints and the rows of the fold.

    The first are all constraints that follow for the rows outside the fold, with the rows of the whole
    data, and ``constraints[held]`` is the test.
    """
    named = np.unique(np.vstack([constraints.must_link, constraints.cannot_link]))
    if len(named) == 0:
        return
    for held in np.array_split(rng_at(seed).permutation(named), min(n_folds, len(named))):
        yield _restrict_to_rows(constraints, np.setdiff1d(np.arange(constraints.n_rows), held)), held


def _restrict_to_rows(constraints: Constraints, rows: NDArray[np.int64]) -> Constraints:
    """Restrict constraints to some rows, without renumbering them."""
    cut = constraints[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstraintWarning)  # said when the whole set was built
        return Constraints(
            constraints.n_rows,
            rows[cut.must_link],
            rows[cut.cannot_link],
            must_link_weight=cut.must_link_weight,
            cannot_link_weight=cut.cannot_link_weight,
            on_conflict=cut.on_conflict,
        )


def f_measure(test: Constraints, labels: Labels) -> float:
    """Compute the mean F of must-links and of cannot-links, over all pairs that follow from the test.

    A kind that the test lacks is ignored. Pairs are counted by components, never listed.
    """
    size = np.bincount(test.component).astype(np.float64)
    ones, cluster = np.ones(len(labels)), np.unique(labels, return_inverse=True)[1]
    table = sp.csr_array((ones, (test.component, cluster)))  # rows of each component in each cluster
    first, second = test.component_cannot_link.T
    must, cannot = (size * (size - 1) / 2).sum(), (size[first] * size[second]).sum()
    joined = (table.data * (table.data - 1) / 2).sum()  # must-links within a cluster
    wrongly = (table[first] * table[second]).sum()  # cannot-links within a cluster
    missed = wrongly + must - joined  # pairs that are put the other way round
    kinds = [(joined, must), (cannot - wrongly, cannot)]
    return float(np.mean([2 * right / (2 * right + missed) for right, given in kinds if given]))
