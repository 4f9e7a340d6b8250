"""COBRAS: constraint-based repeated aggregation and splitting.

Van Craenendonck, Dumančić, Van Wolputte and Blockeel (2018), "COBRAS: Fast, Iterative, Active
Clustering with Pairwise Constraints". The largest super-instance is split, at a level found by
questions, and its parts are merged with the clusters by questions, until the budget ends or
nothing can be split.

Kept: the two steps, the split level, what is published when. A clustering is replaced when all relations of
the next one are known. The paper excepts the first merging, since there is no clustering before it, and does
not say what is shown instead. Here it is what is merged so far. The authors' program shows the parts of the
first split until the merging ends (``first_merge="parts"``), so one cluster may be in many pieces.
Changed, and why. The first three points have no parameter, so they also hold for `COBRAS.paper` and
`COBRAS.authors`, which otherwise do what the printed algorithm and the authors' program do:

- An answer counts for ever and for all that follows from it (the authors' program forgets answers
  about earlier representatives), so no question is asked whose answer is known.
- Therefore a row that no longer is a representative holds its super-instance apart from what it differs
  from, but joins it to nothing.
- The pair that is shown is the closest pair of representatives of two clusters: easier to judge.

These have parameters:

- A super-instance that holds rows known to be apart is split before larger ones.
- The search for the split level goes down into the larger half in the first iteration, where the
  question is how many clusters there are, and into the smaller half later, where strays are looked
  for (as printed: a random half; in the authors' program: always the smaller one).
- A split never has more than `max_split` parts; but for the first one, whose merging is shown while it
  goes on, it never has more parts than questions are left.
- Means and representatives are those of all rows and of the rows nearest to them; and rows with answers are
  moved where their label contradicts an answer.

Cost: one k-means on ever smaller parts a split; between splits O(s²) for s super-instances.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import islice
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise.constraints.evidence import Evidence
from linkwise.constraints.facts import Answer
from linkwise.learn.cobras.split_tree import SuperInstanceLearner
from linkwise.learn.learner import Asking, Problem, Question
from linkwise.learn.super_instances import (
    MOST_UNSURE,
    WHOLE,
    Partition,
    Splitter,
    SuperInstance,
    SuperInstanceState,
    group,
    merge,
)
from linkwise.rng import rng_at
from linkwise.types import Labels, Progress

_PRINTED: dict[str, Any] = {
    "n_init": 10,
    "max_split": None,
    "impure_first": False,
    "split_within_budget": False,
    "enforce": False,
}


class SplitSearch(NamedTuple):
    """How far the search for the level of one split has come."""

    number: int
    """Position of the super-instance to split."""
    inside: SuperInstance
    """The working copy."""
    depth: int = 0
    """How often the two halves were apart."""
    n_tried: int = 0
    """Pairs of the two halves that nobody could tell apart or together."""


@dataclass(slots=True)
class COBRASState(SuperInstanceState):
    """One run of COBRAS.

    `labels` is the clustering whose relations were all known last, if `is_published`. `solid` are the
    places of super-instances that cannot be split. `search` looks for the level of the next split; it is
    None before, and while parts are merged. `shown` has the labels of questions during merging; None
    means what is merged so far.
    """

    labels: Labels = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    is_published: bool = False
    solid: frozenset[tuple[int, ...]] = frozenset()
    search: SplitSearch | None = None
    is_merging: bool = False
    shown: Labels | None = None


class COBRAS(SuperInstanceLearner):
    """Active clustering by super-instances, number of clusters unknown.

    Parameters
    ----------
    n_init : int or "auto", default="auto"
        Number of starts of each k-means. "auto" is 10 up to 10 000 rows; above, it is 1, which is refined on
        a sample.
    max_split : int or None, default=16
        Largest number of parts of one split; None means no limit.
    descend : {"adaptive", "smallest", "largest", "random"}, default="adaptive"
        The half that is halved next when COBRAS searches for the number of parts: the one with the fewest or
        the most rows, or either at random. "adaptive" takes the largest half in the first iteration, and the
        smallest later.
    impure_first : bool, default=True
        Whether super-instances with rows that are known to be apart are split before larger ones.
    split_within_budget : bool, default=True
        Whether a split has at most as many parts as there are questions left. To merge its parts takes at
        least as many questions, and COBRAS shows no clusters of an unfinished merging. The first split has no
        such limit, because its merging is shown.
    askable_means : bool, default=False
        Whether the mean of a super-instance is that of the rows that may be shown, instead of all its rows.
        Its representative is the row nearest to this mean, the medoid under squared distances.
    enforce : bool, default=True
        Whether rows with answers change their cluster if the label of their super-instance contradicts an
        answer.
    first_merge : {"merged", "parts"}, default="merged"
        Clusters that are shown during the first merging. "merged": what is merged so far; "parts": the parts
        of the first split, joined only by answers from before it.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    n_clusters_ : int
        Number of clusters of `labels_`.
    n_questions_ : int
        Number of questions asked, including those answered with "unsure".
    history_ : sequence of ndarray
        ``history_[q - 1]``: labels after q questions.
    reason_ : str
        Why the questions ended: "budget", "exhausted" (no question is left), "stopped", or "no oracle".
    constraints_ : Constraints
        Everything that was given or answered.
    violations_ : int
        Number of those constraints that `labels_` break.
    suspects_ : list of Suspect
        The answers that are probably wrong, the most probable ones first; empty if `fit` takes all answers
        as right (``error_rate=0``).
    super_instances_ : ndarray of int64, shape (n_rows,), or None
        Super-instance of each row, as the run left them: if the budget ends between a split and its merging,
        `labels_` are those before the split. These four are None after `fit` without an oracle.
    representatives_ : ndarray of int64, shape (n_super_instances,), or None
        Row that represents each super-instance.
    tree_ : SplitTree or None
        How the super-instances were split: ``parent``, ``children``, ``question`` (the number of answers
        before the split) and more. ``tree_.plot()`` draws it.
    merges_ : MergeTree or None
        Which answers joined super-instances: ``children`` as in SciPy, and ``question``.

    Notes
    -----
    `predict` sends a new row down the splits, to the part with the nearest mean.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lw.COBRAS(random_state=0).fit(X, oracle=lw.TruthOracle(y), budget=30)
    >>> model.n_questions_
    30
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_init": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_split": [Interval(Integral, 2, None, closed="left"), None],
        "descend": [StrOptions({"adaptive", "smallest", "largest", "random"})],
        "impure_first": ["boolean"],
        "split_within_budget": ["boolean"],
        "askable_means": ["boolean"],
        "enforce": ["boolean"],
        "first_merge": [StrOptions({"merged", "parts"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_init: int | Literal["auto"] = "auto",
        max_split: int | None = 16,
        descend: Literal["adaptive", "smallest", "largest", "random"] = "adaptive",
        impure_first: bool = True,
        split_within_budget: bool = True,
        askable_means: bool = False,
        enforce: bool = True,
        first_merge: Literal["merged", "parts"] = "merged",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_init = n_init
        self.max_split = max_split
        self.descend = descend
        self.impure_first = impure_first
        self.split_within_budget = split_within_budget
        self.askable_means = askable_means
        self.enforce = enforce
        self.first_merge = first_merge
        self.random_state = random_state

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """Create the method as printed: a random half (Algorithm 2), and no bound on a split.

        Medoids are those of the training rows (Section 4), and a cluster is a union of super-instances:
        no row leaves its super-instance because of an answer.

        Parameters
        ----------
        **parameters : Any
            Parameters of `COBRAS` that replace those of the preset.

        Returns
        -------
        COBRAS
            The learner, not fitted.
        """
        return cls(**{**_PRINTED, "descend": "random", "askable_means": True, **parameters})

    @classmethod
    def authors(cls, **parameters: Any) -> Self:
        """Create the method of the authors' program: the search goes on in the smallest half.

        A representative is the training row that is nearest to the mean of all rows of its super-instance.
        During the first merging the parts of the first split are shown.

        Parameters
        ----------
        **parameters : Any
            Parameters of `COBRAS` that replace those of the preset.

        Returns
        -------
        COBRAS
            The learner, not fitted.
        """
        return cls(**{**_PRINTED, "descend": "smallest", "first_merge": "parts", **parameters})

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> None:
        """Do nothing: all work depends on the rows that may be shown, or on answers."""

    def start(self, problem: Problem) -> COBRASState:
        """Put all rows into one super-instance."""
        splitter = Splitter(
            problem.X, problem.seed, self.n_init, problem.askable, problem.memo, self.askable_means
        )
        whole = Partition.of([splitter.whole()], len(problem.X))
        labels = np.zeros(len(problem.X), dtype=np.int32)
        return COBRASState(splitter, whole, problem.evidence, problem.budget, labels=labels)

    def representatives(self, state: SuperInstanceState) -> NDArray[np.int64] | None:
        """For each row the representative of its super-instance."""
        return state.representatives

    def ask(self, state: COBRASState) -> Asking:
        """Algorithm 1 of the paper; a copy of a run goes on where the run waits for its answer."""
        partition = state.partition
        while state.is_merging or self._choose(state):
            if not state.is_merging:
                k = yield from self._split_level(state)
                if not self._split(state, k):
                    continue
            grouping = yield from merge(state, state.shown)
            state.is_merging, state.is_published = False, True
            state.labels, state.representatives = grouping.labels(partition), partition.row_representatives()
        return state.labels

    def _choose(self, state: COBRASState) -> bool:
        """Choose the super-instance to split, unless one is chosen; False: nothing can be split."""
        if state.search is None:
            number = self._next(state.partition, state.solid, state.evidence)
            if number is None:
                return False
            state.search = SplitSearch(number, state.partition.instances[number])
        return True

    def _split_level(self, state: COBRASState) -> Generator[Question, Answer, int]:
        """Algorithm 2: halve a working copy until the two halves belong together."""
        assert state.search is not None
        search, splitter = state.search, state.splitter
        chosen = state.partition.instances[search.number]
        while len(halves := splitter.split(search.inside, 2)) == 2:
            answer = yield from _same(state, halves)
            if answer != "no":
                break
            search = search._replace(depth=search.depth + 1)
            halves = [h for h in halves if h.n_askable >= 2]
            if not halves:
                break
            inside = self._half(halves, chosen, rng_at(splitter.seed, *search.inside.place))
            state.search = search = search._replace(inside=inside, n_tried=0)
        return int(2 ** max(search.depth, 1))

    def _split(self, state: COBRASState, k: int) -> bool:
        """Split the chosen super-instance into up to k parts; False: it cannot be split."""
        assert state.search is not None
        number, state.search = state.search.number, None
        partition, evidence = state.partition, state.evidence
        chosen = partition.instances[number]
        if state.is_published and state.budget is not None and self.split_within_budget:
            k = min(k, max(2, state.budget - evidence.n_questions))
        parts = state.splitter.split(chosen, min(k, self.max_split or k))
        if len(parts) == 1:
            state.solid |= {chosen.place}
            return False
        partition.replace(number, parts)
        state.record_split(chosen, parts)
        state.is_merging, state.shown = True, state.labels
        if not state.is_published:
            state.representatives = partition.row_representatives()
            parts_first = self.first_merge == "parts"
            state.shown = group(partition, evidence).labels(partition) if parts_first else None
        return True

    def _half(
        self, halves: list[SuperInstance], chosen: SuperInstance, rng: np.random.Generator
    ) -> SuperInstance:
        """The half in which the search for the split level goes on."""
        if self.descend == "random":
            return halves[rng.integers(len(halves))]
        first_iteration = chosen.place == WHOLE
        largest = self.descend == "largest" or (self.descend == "adaptive" and first_iteration)
        return (max if largest else min)(halves, key=lambda half: len(half.rows))

    def _next(
        self, partition: Partition, solid: frozenset[tuple[int, ...]], evidence: Evidence
    ) -> int | None:
        """The super-instance to split: impure ones first, then by number of rows; None: all are solid."""
        impure = partition.impure(evidence) if self.impure_first else set()
        open_ones = [
            (number in impure, len(s.rows), -number)
            for number, s in enumerate(partition.instances)
            if len(s.rows) > 1 and s.n_askable >= 2 and s.place not in solid
        ]
        return -max(open_ones)[2] if open_ones else None


def _same(state: COBRASState, halves: list[SuperInstance]) -> Generator[Question, Answer, Answer]:
    """Whether two halves belong together: their representatives, or rows near them if that is unclear."""
    assert state.search is not None
    search = state.search
    answer: Answer = "unsure"
    pairs = zip(*(_central(state.splitter, h) for h in halves), strict=False)
    for number, (first, second) in enumerate(islice(pairs, search.n_tried, None), search.n_tried):
        known = None if state.open else state.evidence.verdict(first, second)
        if known is None:
            state.search = search._replace(n_tried=number)
            why = "If they belong together, this part of the data needs no finer split."
            state.open = state.open or Question(first, second, state.labels, why)
            answer = yield state.open
            state.open = None
        else:
            answer = known
        if answer != "unsure":
            break
    return answer


def _central(splitter: Splitter, half: SuperInstance) -> Iterator[int]:
    """The representative, then the next askable rows by distance to the mean, no two of them identical."""
    yield half.representative
    rows = half.rows if splitter.askable is None else half.rows[splitter.askable[half.rows]]
    distance = cdist(splitter.X[rows], half.mean[None]).ravel()
    shown = splitter.X[[half.representative]]
    for row in rows[np.argsort(distance, kind="stable")]:
        if len(shown) < MOST_UNSURE and (shown != splitter.X[row]).any(axis=1).all():
            shown = np.vstack([shown, splitter.X[row]])
            yield int(row)
