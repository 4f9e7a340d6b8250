"""NPU: the row whose neighbourhood is most uncertain, for each question that it is expected to cost.

Xiong, Azimi and Fern (2014), "Active learning of constraints for semi-supervised clustering". At each
step the rows are clustered by what is known, and a forest of random trees learns the clusters. Two rows are
as alike as the share of the trees in which they fall into one leaf. A row is in a neighbourhood with a
probability proportional to its mean likeness to the rows there. The row is asked about for which the
entropy H of these probabilities is largest, divided by the expected number of questions: the sum of i p_(i),
probabilities in descending order. In this order its neighbourhoods are asked about.

Kept: the criterion, with 50 trees, each of which learns from a bootstrap sample. Changed, and why:

- The trees are extremely randomised (Geurts, Ernst and Wehenkel 2006): of some random splits they take the
  best one, where the trees of a random forest search every threshold. A forest takes some milliseconds.
- A forest is grown again only after the clusters have changed.
- Where as many neighbourhoods are known as there are clusters, the last one is not asked about, and not
  counted either.
- Among rows that are equally uncertain (with one neighbourhood: all) the one is taken that is farthest from
  all placed ones: a row of a cluster that has not been met is worth most then.
- Likeness is computed between candidates and rows in neighbourhoods, never among all rows. Of very many rows
  a sample is learned from, and a sample are candidates.
- Features are brought to [0, 1], so that no range of a feature overflows; splits do not depend on it.
- Rows that answers name are moved where these put them, before the forest learns the clusters.

Each of these that changes what is asked has a parameter, and `NPU.paper` sets them all. What the paper leaves
open is settled as by default there: of equally probable neighbourhoods the nearest is asked about first, and
its row that is nearest is shown.

Cost: a forest for each row that is placed, if that changes a cluster: O(t n √d) times the depth for t trees,
n rows and d features. n is at most 5000 and the rows in neighbourhoods. For the rest see
`linkwise.learn.known_k.explore_consolidate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise import native, parallel
from linkwise.cluster.kmeans.mpckmeans import MPCKMeans
from linkwise.learn.known_k.base import KnownClusters, KnownKState, digest, spread
from linkwise.learn.learner import Asking
from linkwise.learn.neighbourhoods import Neighbourhoods
from linkwise.rng import rng_at

MAX_LEARNED = 5000  # rows that a forest learns from
MAX_CANDIDATES = 5000  # rows whose uncertainty is computed
MOST_MEMBERS = 500  # rows of a neighbourhood to which others are compared
MOST_FORESTS = 4  # that are kept, for undo and for looking ahead

Table = NDArray[np.float64]
Leaves = NDArray[np.int32]
Rows = NDArray[np.int64]


class NPU(KnownClusters):
    """Active clustering into k clusters that asks about the row with most uncertainty per question.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters; at most the number of distinct rows is used.
    estimator : str, estimator or None, default=None
        As for `ExploreConsolidate`.
    n_trees : int, default=50
        Number of trees of the random forest.
    trees : {"random splits", "best splits"}, default="random splits"
        Whether a tree tries one random threshold of some features, or all thresholds of these, as the trees
        of a random forest do.
    ties : {"farthest", "random"}, default="farthest"
        Which of equally uncertain rows is asked about: the one farthest from all placed rows, or any.
    last_is_implied : bool, default=True
        Whether a row that is apart from all clusters but one, of `n_clusters`, is placed in that one
        without a question.
    enforce : bool, default=True
        Whether rows with answers are moved where the answers put them. With False the labels are those of the
        clusterer, which may contradict answers.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_, n_clusters_, n_questions_, history_, reason_, constraints_, violations_, suspects_, estimator_
        As for `ExploreConsolidate`.

    References
    ----------
    Xiong, Azimi and Fern (2014), Active learning of constraints for semi-supervised clustering. IEEE
    Transactions on Knowledge and Data Engineering 26.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import minmax_scale
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lw.NPU(3, random_state=0).fit(minmax_scale(X), oracle=lw.TruthOracle(y), budget=20)
    >>> model.n_questions_
    20
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KnownClusters._parameter_constraints,
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "trees": [StrOptions({"random splits", "best splits"})],
        "ties": [StrOptions({"farthest", "random"})],
        "last_is_implied": ["boolean"],
        "enforce": ["boolean"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        estimator: Any = None,
        n_trees: int = 50,
        trees: Literal["random splits", "best splits"] = "random splits",
        ties: Literal["farthest", "random"] = "farthest",
        last_is_implied: bool = True,
        enforce: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_clusters, estimator=estimator, random_state=random_state)
        self.n_trees = n_trees
        self.trees = trees
        self.ties = ties
        self.last_is_implied = last_is_implied
        self.enforce = enforce

    @classmethod
    def paper(cls, n_clusters: int = 8, **parameters: Any) -> Self:
        """Create the method as printed (Xiong et al. 2014, Algorithms 1 and 2).

        A random forest learns the labels of the clusterer as they are. A row is asked about until an answer
        is yes, or all neighbourhoods have been named. Of equally uncertain rows a random one is taken, since
        the paper does not say which. The clusterer is `MPCKMeans.paper`, the method of its experiments.

        Parameters
        ----------
        n_clusters : int, default=8
            Number of clusters.
        **parameters : Any
            Parameters of `NPU` that replace those of the preset.

        Returns
        -------
        NPU
            The method, not fitted.
        """
        printed: dict[str, Any] = {
            "trees": "best splits",
            "ties": "random",
            "last_is_implied": False,
            "enforce": False,
        }
        if "estimator" not in parameters:
            printed["estimator"] = MPCKMeans.paper()
        return cls(n_clusters, **{**printed, **parameters})

    def ask(self, state: KnownKState) -> Asking:
        """Algorithm 1 of the paper."""
        rows = scale_to_unit_range(state.X)
        while len(state.eligible_points()):
            leaves = self._grow(state, rows)
            yield from state.place_point(
                most_uncertain(state, leaves, self.ties),
                "Where the first row belongs is most uncertain; this may be its cluster.",
                partial(rank_by_probability, state, leaves),
            )
        return state.labels()

    def _grow(self, state: KnownKState, rows: Table) -> Forest:
        """The forest that learns the present clusters."""
        points, labels = self._learned(state)
        kind = SearchedForest if self.trees == "best splits" else Forest
        return state.problem.memo.get(
            "forests",
            digest(points, labels, rows),
            lambda: kind(rows, points, labels, self.n_trees, state.problem.seed),
            max_values=MOST_FORESTS,
        )

    def _learned(self, state: KnownKState) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The points that the forest learns from, and their clusters."""
        placed = np.flatnonzero(state.neighbourhoods().place >= 0)
        points = np.union1d(state.order[:MAX_LEARNED], spread(placed, MAX_LEARNED))
        return points, state.labels()[state.rows[points]]


def most_uncertain(state: KnownKState, leaves: Forest, ties: str = "farthest") -> int:
    """The candidate of largest normalized uncertainty; among equals the farthest from what is placed.

    With ties="random" it is the first of the equals in the random order of the run.
    """
    points = state.eligible_points()
    if len(points) > MAX_CANDIDATES:
        points = state.order[np.isin(state.order, points)][:MAX_CANDIDATES]
    now = state.neighbourhoods()
    p = probabilities(now, leaves, points)
    known = len(now.members) == state.most
    score = normalized_uncertainty(p, last_is_implied=known).round(12)
    later = np.argsort(state.order) if ties == "random" else -state.distances_to_placed()
    return int(points[np.lexsort((later[points], -score))[0]])


def rank_by_probability(state: KnownKState, leaves: Forest, point: int) -> NDArray[np.int64]:
    """Neighbourhoods, the most probable first; among equals the nearest."""
    p = probabilities(state.neighbourhoods(point), leaves, np.array([point]))[0]
    nearest = state.rank_by_distance(point)
    ranked: NDArray[np.int64] = nearest[np.argsort(-p[nearest].round(12), kind="stable")]
    return ranked


def probabilities(now: Neighbourhoods, leaves: Forest, points: NDArray[np.int64]) -> Table:
    """For each point the probability that it is in each neighbourhood, as far as that is open."""
    alike = leaves.compare(points, [spread(m, MOST_MEMBERS) for m in now.members])
    spoken_of = now.group[points] >= 0
    alike[spoken_of] *= ~now.against[now.group[points[spoken_of]]]
    return shares(alike)


# ---------------------------------------------------------------- the paper's quantities
def likeness(leaves: Leaves, rows: Rows, hoods: Sequence[Rows]) -> Table:
    """Mean share of the trees in which rows fall into the same leaf as the members of each neighbourhood.

    `rows` and `hoods` are positions in `leaves`; the result is of shape (n_rows, n_neighbourhoods).
    """
    sizes = [len(hood) for hood in hoods]
    group = np.repeat(np.arange(len(hoods)), sizes)
    mates = native.count_leaf_mates(leaves, rows, np.concatenate(hoods), group, len(hoods))
    found: Table = mates / (np.array(sizes) * leaves.shape[1])
    return found


def shares(alike: Table) -> Table:
    """Rows of a table divided by their sums; equal shares where all is zero."""
    total = alike.sum(axis=1, keepdims=True)
    even = np.full_like(alike, 1 / alike.shape[1])
    found: Table = np.divide(alike, total, out=even, where=total > 0)
    return found


def normalized_uncertainty(p: Table, *, last_is_implied: bool) -> Table:
    """Entropy over the expected number of questions: bits for each question.

    The chances `p`, of shape (n_rows, n_neighbourhoods), add up to 1. With `last_is_implied` the last
    neighbourhood need not be asked about.
    """
    entropy = -(p * np.log2(p, where=p > 0, out=np.zeros_like(p))).sum(axis=1)
    n_asked = np.arange(1, p.shape[1] + 1)
    if last_is_implied:
        n_asked = np.minimum(n_asked, max(p.shape[1] - 1, 1))
    uncertainty: Table = entropy / (-np.sort(-p, axis=1) @ n_asked)
    return uncertainty


# ---------------------------------------------------------------- the forest
def scale_to_unit_range(X: NDArray[Any]) -> Table:
    """Every feature that varies from 0 to 1; a column of zeros where none does."""
    low, high = X.min(axis=0), X.max(axis=0)
    varies = high > low
    if not varies.any():
        return np.zeros((len(X), 1))
    low, high = low[varies], high[varies]
    return np.ascontiguousarray((X[:, varies] - low) / (high - low), dtype=np.float64)


class Forest:
    """Random trees that have learned the labels of some points: the leaf of points in each tree.

    The trees are a function of the arguments; no tree is kept, and points that nobody asked about before
    fall through trees that are grown again. Each tree learns from a sample of `points`, as many, drawn
    with replacement.
    """

    def __init__(
        self, rows: Table, points: NDArray[np.int64], labels: NDArray[np.int32], n_trees: int, seed: int
    ) -> None:
        self._rows, self._learned = rows, points
        self._classes = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        self._n_trees, self._seed = n_trees, seed
        self._place = np.full(len(rows), -1, dtype=np.int64)
        self._leaves = self._find_leaves(np.unique(points))

    def __call__(self, points: Rows) -> Leaves:
        """The leaf of each of some points in each tree."""
        place = self._find_places(points)
        return self._leaves[place]

    def compare(self, points: Rows, hoods: Sequence[Rows]) -> Table:
        """The likeness of some points to each of several sets of points."""
        ends = np.cumsum([len(points), *map(len, hoods)])
        rows, *members = np.split(self._find_places(np.concatenate([points, *hoods])), ends[:-1])
        return likeness(self._leaves, rows, members)

    def _find_places(self, points: Rows) -> Rows:
        """Where the leaves of points stand; the trees are grown again if one is new to them."""
        place = self._place[points]
        if (place < 0).any():
            self._leaves = self._find_leaves(np.union1d(np.flatnonzero(self._place >= 0), points))
            place = self._place[points]
        return place

    def _find_leaves(self, points: Rows) -> Leaves:
        self._place[points] = np.arange(len(points))
        learned, rng = self._place[self._learned], rng_at(self._seed)
        weights = np.empty((self._n_trees, len(learned)), dtype=np.int32)
        seeds = np.empty(self._n_trees, dtype=np.uint64)
        for tree in range(self._n_trees):
            drawn = rng.integers(len(learned), size=len(learned))
            weights[tree] = np.bincount(drawn, minlength=len(learned))
            seeds[tree] = rng.integers(2**63)
        n_threads = parallel.n_threads()
        return native.weighted_trees(self._rows[points], learned, self._classes, weights, seeds, n_threads)


class SearchedForest(Forest):
    """A random forest (Breiman 2001): each split is the best of all thresholds of √d random features."""

    def _find_leaves(self, points: Rows) -> Leaves:
        from sklearn.ensemble import RandomForestClassifier  # slow to load

        self._place[points] = np.arange(len(points))
        forest = RandomForestClassifier(self._n_trees, random_state=self._seed % 2**32)
        forest.fit(self._rows[self._learned], self._classes)
        return np.ascontiguousarray(forest.apply(self._rows[points]), dtype=np.int32)
