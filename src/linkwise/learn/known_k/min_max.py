"""MinMax: Explore and Consolidate, the row that is least like all placed rows first.

Mallapragada, Jin and Jain (2008), "Active query selection for semi-supervised clustering". As
`linkwise.learn.known_k.explore_consolidate`, but Consolidate does not draw at random: it takes the row whose
largest similarity to the rows in neighbourhoods is smallest.

The similarity of the paper is a Gaussian of the distance, its width the 20th percentile of all distances.
Whatever its width it falls with the distance, so that row is the one farthest from its nearest placed row.
No width is computed, and Consolidate goes on where Explore stopped. For what is settled where the papers
are silent, and for the cost, see `linkwise.learn.known_k.explore_consolidate`.
"""

from __future__ import annotations

from linkwise.learn.known_k.base import KnownClusters, KnownKState
from linkwise.learn.learner import Asking


class MinMax(KnownClusters):
    """Active clustering into k clusters that asks about the row least similar to all rows placed so far.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters; at most the number of distinct rows is used.
    estimator : str, estimator or None, default=None
        As for `ExploreConsolidate`.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_, n_clusters_, n_questions_, history_, reason_, constraints_, violations_, suspects_, estimator_
        As for `ExploreConsolidate`.

    References
    ----------
    Mallapragada, Jin and Jain (2008), Active query selection for semi-supervised clustering. ICPR.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import minmax_scale
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lw.MinMax(3, random_state=0).fit(minmax_scale(X), oracle=lw.TruthOracle(y), budget=20)
    >>> model.n_questions_
    20
    """

    def ask(self, state: KnownKState) -> Asking:
        """Explore and Consolidate, by one rule."""
        while len(state.eligible_points()):
            yield from state.place_point(
                state.farthest_point(), "The first row is least like all rows whose cluster is known."
            )
        return state.labels()
