"""COBRA: constraint-based repeated aggregation.

Van Craenendonck, Dumančić and Blockeel (2017), "COBRA: A Fast and Simple Method for Active
Clustering with Pairwise Constraints". K-means over-clusters the data into super-instances; then the
closest clusters whose relation is not known yet are compared by a question, and merged on "yes",
until all relations are known.

Changed: an answer counts for all that follows from it, and the closest pair of representatives of
two clusters is shown; rows with answers are moved where their label contradicts an answer.
`COBRA.paper` keeps the letter but for the first two points, which have no parameter.

Cost: one k-means, then O(s²) a question for s super-instances.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from linkwise.learn.cobras.split_tree import SuperInstanceLearner
from linkwise.learn.learner import Asking, Problem
from linkwise.learn.super_instances import Partition, Splitter, SuperInstanceState, merge
from linkwise.types import Progress


class COBRA(SuperInstanceLearner):
    """Active clustering by a fixed number of super-instances, number of clusters unknown.

    Parameters
    ----------
    n_super_instances : int, default=25
        Number of super-instances; at most the number of distinct rows is used.
    n_init : int or "auto", default="auto"
        Number of starts of the k-means that makes the super-instances. "auto" is 10 up to 10 000 rows; above,
        it is 1, which is refined on a sample.
    askable_means : bool, default=False
        Whether the mean of a super-instance is that of the rows that may be shown, instead of all its rows.
        Its representative is the row nearest to this mean, the medoid under squared distances.
    enforce : bool, default=True
        Whether rows with answers change their cluster if the label of their super-instance contradicts an
        answer.
    random_state : int, RandomState or None, default=None
        Seed of all random draws; with None every fit may differ.

    Attributes
    ----------
    labels_, n_clusters_, n_questions_, history_, reason_, constraints_, violations_, suspects_
        As for `COBRAS`.
    super_instances_, representatives_, tree_, merges_
        As for `COBRAS`; all parts come from one split.

    Notes
    -----
    `predict` assigns a new row to the super-instance with the nearest mean.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> lw.COBRA(10, random_state=0).fit(X, oracle=lw.TruthOracle(y)).reason_
    'exhausted'
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_super_instances": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "askable_means": ["boolean"],
        "enforce": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_super_instances: int = 25,
        *,
        n_init: int | Literal["auto"] = "auto",
        askable_means: bool = False,
        enforce: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_super_instances = n_super_instances
        self.n_init = n_init
        self.askable_means = askable_means
        self.enforce = enforce
        self.random_state = random_state

    @classmethod
    def paper(cls, n_super_instances: int = 25, **parameters: Any) -> Self:
        """Create the method as printed: medoids of training rows, and clusters of whole super-instances.

        Parameters
        ----------
        n_super_instances : int, default=25
            Number of super-instances.
        **parameters : Any
            Parameters of `COBRA` that replace those of the preset.

        Returns
        -------
        COBRA
            The learner, not fitted.
        """
        printed: dict[str, Any] = {"n_init": 10, "askable_means": True, "enforce": False}
        return cls(n_super_instances, **{**printed, **parameters})

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> None:
        """Do nothing: all work depends on the rows that may be shown, or on answers."""

    def start(self, problem: Problem) -> SuperInstanceState:
        """Over-cluster the rows into super-instances."""
        splitter = Splitter(
            problem.X, problem.seed, self.n_init, problem.askable, problem.memo, self.askable_means
        )
        whole = splitter.whole()
        parts = splitter.split(whole, self.n_super_instances)
        partition = Partition.of(parts, len(problem.X))
        state = SuperInstanceState(
            splitter, partition, problem.evidence, problem.budget, partition.row_representatives()
        )
        if len(parts) > 1:
            state.record_split(whole, parts)
        return state

    def ask(self, state: SuperInstanceState) -> Asking:
        """Merge super-instances by questions."""
        grouping = yield from merge(state, None)
        return grouping.labels(state.partition)

    def representatives(self, state: SuperInstanceState) -> NDArray[np.int64] | None:
        """For each row the representative of its super-instance."""
        return state.representatives
