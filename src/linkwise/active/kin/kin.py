"""KIN: kernel inference over neighbourhoods, for an unknown number of clusters.

A neighbourhood is a set of items that answers have put together. A kernel that is made before any answer
(`linkwise.active.kin.kernels`) and changes as answers teach it (`linkwise.active.kin.forest_kernel`) says
how likely each item belongs to each neighbourhood, or to none of them (`linkwise.active.kin.model`). Three
kinds of questions follow, all of them worth their answer by that estimate:

- two neighbourhoods that may be one, as long as one of their items is likely enough to belong to the other,
- the item whose place explains most of what is uncertain, against the likeliest neighbourhood,
- and against further ones, while they are likely enough.

What is new beside learners that place each row among all neighbourhoods (Basu, Banerjee and Mooney 2004;
Xiong, Azimi and Fern 2014): relations that are unlikely are left open, and an item founds a neighbourhood
as soon as the likely ones are ruled out. That saves most questions, and no number of clusters is needed.
What is asked about is chosen as in Gaussian process regression: by how much an item lessens the variance
of those that are uncertain (Cohn, Ghahramani and Jordan 1996).

Where somebody is unsure another pair is tried, and then the relation stays open. When nothing else is
left the open relations are asked about, too, so that in the end all is known.

Cost: see `kernel_views` for what comes before the first question, O(n²) a question for n items.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from linkwise import native, parallel
from linkwise.active.base import ActiveLearner
from linkwise.active.kin.advice import about, certainty, certainty_unasked, outlook
from linkwise.active.kin.borders import cells_of
from linkwise.active.kin.kernels import Items, base_clustering, in_units, items_of, mean_kernel, views_of
from linkwise.active.kin.state import Field, Pair, Prepared
from linkwise.asking.learner import Asking, Labels, Problem, Progress, Question
from linkwise.constraints.evidence import Answer, Evidence
from linkwise.validation import checked_rows

LIKELY = 0.15  # probability from which a relation is worth a question
TINY = 1e-9

Asked = Generator[Question, Answer, None]


class KIN(ActiveLearner):
    """Active clustering by kernel inference over neighbourhoods, number of clusters unknown.

    Parameters
    ----------
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_, n_clusters_, n_questions_, history_, reason_, constraints_, violations_
        As for `COBRAS`.
    proba_ : ndarray of shape (n_rows,)
        How sure the cluster of each row is: 1 where answers tell, 0 where nothing is known of any row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import linkwise as lw
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lw.KIN(random_state=0).fit(X, oracle=lw.TruthOracle(y), budget=30)
    >>> model.n_questions_
    30
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"random_state": ["random_state"]}

    def __init__(self, *, random_state: int | np.random.RandomState | None = None) -> None:
        self.random_state = random_state

    def prepare(self, X: NDArray[Any], seed: int, *, progress: Progress | None = None) -> Prepared:
        """Items, the kernel, and the clustering without answers."""
        made = 0

        def step() -> None:
            nonlocal made
            made += 1
            if progress is not None:
                progress(made, 5)

        items = items_of(X, seed)
        rows = in_units(X[items.first])
        step()
        base = base_clustering(rows, items.size, seed)
        step()
        kernel = mean_kernel(views_of(rows), seed, step)
        return Prepared(items, rows, kernel, base, cells_of(items), seed)

    def start(self, problem: Problem) -> Field:
        """Return the items with what is known of them."""
        return Field(problem)

    def ask(self, field: Field) -> Asking:
        """Ask which neighbourhoods are one, then place an item; in the end nothing is left open."""
        field.learn()
        while True:
            yield from _compare(field, LIKELY)
            item = field.choose()
            if item is None:
                break
            yield from _place(field, item)
            field.learn()
        yield from _compare(field, 0.0)
        field.asked = None
        return field.labels()

    def describe(self, field: Field) -> list[str]:
        """How many clusters have been met, how sure all is, and what the next answer is worth."""
        field = field.copy()
        met, n_rows = field.known().n_homes, len(field.items.of)
        if met == 0 or field.n_facts == 0:
            return []
        unsure = float((1 - certainty(field)).sum())
        clusters = "1 cluster has" if met == 1 else f"{met} clusters have"
        rows = f"about {about(unsure, 'row')} of {n_rows}"
        if round(unsure) == 0:
            rows = f"hardly any of {n_rows} rows"
        return [f"{clusters} been met; {rows} may be in a wrong one.", *outlook(field, unsure)]

    def _unasked(self, X: NDArray[Any], evidence: Evidence, seed: int) -> Labels:
        prepared, labels = self.prepare(X, seed), super()._unasked(X, evidence, seed)
        self.proba_ = certainty_unasked(prepared, evidence, labels)
        self._keep_rows(X, prepared.items)
        return labels

    def _keep_more(self, X: NDArray[Any], field: Field) -> None:
        """Keep how sure the clusters are, and the rows that new ones are compared with."""
        self.proba_ = certainty(field.copy())
        self._keep_rows(X, field.items)

    def _keep_rows(self, X: NDArray[Any], items: Items) -> None:
        self._stands_for = items.first
        self._rows = np.ascontiguousarray(X[items.first], dtype=np.float64)

    def predict(self, X: ArrayLike) -> Labels:
        """The cluster of new rows: that of the nearest row that was there.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
            Of many rows that were there, those count that stand for the others.
        """
        check_is_fitted(self, "labels_")
        rows = checked_rows(X, self, reset=False)
        nearest = native.nearest_points(rows, self._rows, parallel.n_threads())[0]
        found: Labels = self.labels_[self._stands_for[nearest]]
        return found


def _compare(field: Field, least: float) -> Asked:
    """Ask about neighbourhoods that may be one, the likeliest first, while they are likely enough."""
    while (pair := _likeliest_pair(field, least)) is not None:
        yield Question(
            *field.spend(pair), field.labels(), "They are the closest rows of two clusters that may be one."
        )


def _likeliest_pair(field: Field, least: float) -> Pair | None:
    """The closest items of the two neighbourhoods that are likeliest one, given those they differ from."""
    known, apart = field.known(), field.apart()
    if known.n_homes < 2 or (apart | np.eye(known.n_homes, dtype=bool)).all():
        return None
    alike = field.alike()
    ruled_out = np.where(apart, alike, 0).sum(axis=1, keepdims=True)
    chance = alike / np.maximum(1 - ruled_out, 1e-6)
    chance[apart] = -1
    np.fill_diagonal(chance, -1)
    chance = chance.round(9)  # what is 0 but for rounding is 0
    worth = np.flatnonzero(chance.ravel() >= least)
    for at in worth[np.argsort(-chance.ravel()[worth], kind="stable")].tolist():
        a, b = divmod(at, known.n_homes)
        one, other = (known.items[known.home == home] for home in (a, b))
        pair = field.pair(one, other, field.closeness(a, b))
        if pair is not None:
            return pair
    return None


def _place(field: Field, item: int) -> Asked:
    """Ask where an item belongs: in the likeliest neighbourhood, then in others that are likely enough."""
    field.placing = item
    cover, left_open, doubtful = None, set(), False
    while not field.is_known(item) and (known := field.known()).n_homes:
        at, said = field.place_of(item), field.verdicts(item)
        founders = known.items[known.founders()].tolist()
        rest = [
            c for c in range(known.n_homes) if said[c] in (None, "unsure") and founders[c] not in left_open
        ]
        if not rest:
            break
        best = max(rest, key=lambda c: round(float(at.home[c]), 9))
        if cover is not None and at.home[best] / max(at.home[rest].sum() + at.new, TINY) < LIKELY:
            break
        members = np.flatnonzero(known.home == best)
        pair = field.pair(np.array([item]), known.items[members], at.alike[None, members])
        if pair is None:
            left_open.add(founders[best])
            continue
        cover = at.cover if cover is None else cover
        answer = yield Question(
            *field.spend(pair),
            field.labels(),
            "Where the first row belongs tells most about the others; this may be its cluster.",
        )
        doubtful |= answer == "unsure"
    field.put(item, cover, doubtful=doubtful and not field.is_known(item))
    field.placing = -1
