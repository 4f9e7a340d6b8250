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

from linkwise.learn.known_k.base import KnownClusters, KnownKState
from linkwise.learn.learner import Asking


class ExploreConsolidate(KnownClusters):
    """Active clustering into k clusters that finds a row of each cluster, then asks about random rows.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters; at most the number of distinct rows is used.
    estimator : str, estimator or None, default=None
        The clusterer that uses the answers: a clusterer of linkwise that takes a number of clusters, by its
        name in lower case ("pckmeans", "mpckmeans"), or an estimator with ``n_clusters`` and
        ``fit(X, constraints=)``, of which copies are fitted. None is "mpckmeans". A clusterer that is given
        by name has two starts, and MPCKMeans then learns a full metric up to 100 features, and a diagonal one
        above.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        The labels of the clusterer, except that rows with answers are where the answers put them.
    n_clusters_ : int
        Number of clusters of `labels_`.
    n_questions_ : int
        Number of questions asked, including those answered with "unsure".
    history_ : sequence of ndarray
        ``history_[q - 1]``: labels after q questions.
    reason_ : str
        Why the questions ended: "budget", "exhausted" (every row is placed, or has the answer "unsure"),
        "stopped", or "no oracle" (the labels are then those of the clusterer with the given constraints).
    constraints_ : Constraints
        Everything that was given or answered.
    violations_ : int
        Number of those constraints that `labels_` break.
    suspects_ : list of Suspect
        The answers that are probably wrong, the most probable ones first; empty if `fit` takes all answers
        as right (``error_rate=0``).
    estimator_ : estimator
        The clusterer, fitted to everything that is known; with more than 20 000 rows, to a sample.

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
