"""ExploreConsolidate: first a row of every cluster, then rows at random.

Basu, Banerjee and Mooney (2004), "Active semi-supervision for pairwise constrained clustering".
Explore finds a neighbourhood for each of the k clusters: the row that is farthest from all rows in
neighbourhoods is compared with one row of each, until it belongs to one or is a neighbourhood itself.
Consolidate takes rows at random and places them in the same way, the neighbourhood with the nearest
mean first; with k neighbourhoods known, that takes at most k - 1 questions, and the last one follows.

Kept: both steps. Settled where the paper is silent, or changed:

- What is known at the start (pairs that were imported) makes neighbourhoods at once; rows known to
  belong together, but not where, are asked about before single rows.
- Of a neighbourhood the row is shown that is nearest to the other one: easier to judge.
- What follows from k serves the clustering, but is no answer: nobody said it, so it is not in
  `constraints_`. Where answers show that there are more than k clusters, nothing follows any more, and the
  clusterer makes as many.
- After "unsure" the row is left; the clusterer decides.

Cost: O(n d) for each row that is placed, and a fit of the clusterer for each answer (by default two starts;
above 20 000 rows it is fitted to a sample and what constraints name, and the others are predicted).
"""

from __future__ import annotations

from linkwise.active.known_k.base import KnownClusters, KnownKState
from linkwise.asking.learner import Asking


class ExploreConsolidate(KnownClusters):
    """Active clustering into k clusters: a row of each cluster, then rows at random.

    Parameters
    ----------
    n_clusters : int
        At most the number of distinct rows is used.
    estimator : str, estimator or None
        What clusters by the answers: a clusterer of linkwise that takes a number of clusters, by its name in
        lower case ("pckmeans", "mpckmeans"), or an estimator with ``n_clusters`` and
        ``fit(X, constraints=)``, of which copies are fitted. None: "mpckmeans". By name it makes two
        starts, and MPCKMeans learns a full metric up to 100 features, a diagonal one above.
    random_state : int, RandomState or None
        Seed of all random draws.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        The clusterer's; rows that were answered about are put where the answers say.
    n_clusters_ : int
    n_questions_ : int
    history_ : sequence of ndarray
        ``history_[q - 1]``: labels after q questions.
    reason_ : str
        Why it ended: "budget", "exhausted" (every row is placed, or somebody was unsure of it), "stopped", or
        "no oracle" (the labels are then what the clusterer makes of the constraints).
    constraints_ : Constraints
        Everything that was given or answered.
    violations_ : int
        Number of those constraints that `labels_` break.
    estimator_ : estimator
        The clusterer as fitted to everything that is known (of more than 20 000 rows to a sample).

    References
    ----------
    Basu, Banerjee and Mooney (2004), Active semi-supervision for pairwise constrained clustering. SDM.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import minmax_scale
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lw.ExploreConsolidate(3, random_state=0)
    >>> model.fit(minmax_scale(X), oracle=lw.TruthOracle(y), budget=20).n_questions_
    20
    """

    def ask(self, state: KnownKState) -> Asking:
        """Ask by Explore, then by Consolidate."""
        while len(state.eligible_points()):
            if len(state.neighbourhoods().members) < state.k:
                yield from state.place_point(
                    state.farthest_point(), "Row A may be in a cluster that no answer has reached yet."
                )
            else:
                yield from state.place_point(
                    state.random_point(), "Row B is in the cluster that is nearest to row A."
                )
        return state.labels()
